"""Gaps and their verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchfill import DifficultyScale, Fit1PL, FitError, find_gaps, fit_1pl
from benchfill.gaps import covering_widths
from support.banks import Calls, call, make_bank
from support.simulated import abilities, matrix_of, respond

Z = st.floats(-2, 2, allow_nan=False, width=32)


@given(
    z=arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=Z),
    points=st.lists(Z, max_size=4),
)
def test_covering_widths_equal_brute_force(z: np.ndarray, points: list[float]) -> None:
    widths = covering_widths(z, np.array(points, dtype=float))
    assert widths.shape == (len(z), len(points))
    for draw, row in zip(z, widths, strict=True):
        for point, width in zip(points, row, strict=True):
            below = [x for x in draw if x < point]
            above = [x for x in draw if x >= point]
            assert width == (min(above) - max(below) if below and above else np.inf)


def planted(k: int = 64, guessing: float = 0.0) -> tuple[Fit1PL, np.ndarray]:
    rng = np.random.default_rng(11)
    theta = abilities(rng)
    b = np.concatenate([np.linspace(-2, -0.4, 20), np.linspace(0.8, 2, 16)])
    return fit_1pl(respond(rng, theta, b, k, guessing), engine="map", guessing=guessing), b


@pytest.mark.parametrize("guessing", [0.0, 0.25])
def test_a_planted_gap_is_the_widest_and_empty(guessing: float) -> None:
    fit, _ = planted(guessing=guessing)
    gap = find_gaps(fit)[0]
    scale = DifficultyScale.of(fit.b)
    # its borders are the items next to it, up to their noise
    assert int(gap.left_item[1:]) in range(17, 20)
    assert int(gap.right_item[1:]) in range(20, 23)
    assert gap.verdict == "empty"
    assert gap.p_hole > 0.99
    assert gap.occupancy < 3  # the borders' twins
    assert gap.decide is None
    assert gap.depends_on_item is None
    assert not gap.extreme_border
    assert gap.width == pytest.approx(gap.z_right - gap.z_left)
    assert gap.midpoint == pytest.approx((gap.z_left + gap.z_right) / 2)
    assert gap.z_left == pytest.approx(float(scale.to_z(fit.b[int(gap.left_item[1:])])))
    assert 0 < gap.width_q05 < gap.width


def test_gaps_are_sorted_and_stand_between_neighbours() -> None:
    fit, _ = planted()
    gaps = find_gaps(fit, count=100)
    widths = [gap.width for gap in gaps]
    assert widths == sorted(widths, reverse=True)
    assert len(gaps) == len(np.unique(fit.b)) - 1
    assert sum(widths) == pytest.approx(1)
    assert find_gaps(fit, count=3) == gaps[:3]


def test_an_unresolved_gap_says_what_would_decide_it() -> None:
    fit, _ = planted(k=1)
    gap = next(
        gap for gap in find_gaps(fit) if gap.verdict == "unresolved" and not gap.extreme_border
    )
    assert gap.decide is not None
    assert set(gap.decide.items) <= set(fit.responses.items)
    assert set(gap.decide.items[:2]) == {gap.left_item, gap.right_item}
    assert 1 <= len(gap.decide.models) <= 6
    assert gap.decide.rollouts >= 1


def test_a_gap_with_an_all_wrong_border_is_never_empty() -> None:
    rng = np.random.default_rng(4)
    b = np.concatenate([np.linspace(-2, 1, 30), [12.0]])
    fit = fit_1pl(respond(rng, abilities(rng), b, 200), engine="map")
    gap = find_gaps(fit)[0]
    assert gap.right_item == "i30"
    assert gap.extreme_border
    assert gap.verdict == "unresolved"
    assert gap.depends_on_item == "i30"
    assert gap.decide is not None


def test_a_gap_at_an_end_item_says_so() -> None:
    rng = np.random.default_rng(4)
    b = np.concatenate([np.linspace(-2, 1, 30), [3.0]])
    gap = find_gaps(fit_1pl(respond(rng, abilities(rng), b, 200), engine="map"))[0]
    assert (gap.depends_on_item, gap.verdict, gap.extreme_border) == ("i30", "empty", False)


def test_items_that_do_not_differ_have_no_gap() -> None:
    same = fit_1pl(matrix_of([[1, 1, 1], [0, 0, 0]], 1), engine="map")
    with pytest.raises(FitError, match="same difficulty"):
        find_gaps(same)
    one = fit_1pl(matrix_of([[1], [0]], 1), engine="map")
    with pytest.raises(FitError, match="only one item"):
        find_gaps(one)


def test_verdicts_on_simulated_banks_hold() -> None:
    """The small version of tests/studies/verdicts.py; docs/studies.md has the whole table."""
    settings = [("uniform", 30, 8), ("even", 30, 1), ("clumped", 30, 64), ("planted", 30, 64)]
    done: list[Calls] = []
    for number, (kind, items, k) in enumerate(settings):
        rng = np.random.default_rng([1, number])
        done += [call(make_bank(kind, items, rng), k, rng) for _ in range(5)]  # type: ignore[arg-type]
    called = [one.planted_called for one in done if one.planted_called is not None]
    assert np.mean(called) >= 0.9
    empty = [one for calls in done for one in calls.empty]
    assert len(empty) > 25
    # a verdict holds as often as its p_hole says: three standard errors of this small sample
    truly, stated = (np.mean([getattr(one, name) for one in empty]) for name in ("truly", "p_hole"))
    assert truly >= stated - 3 * np.sqrt(stated * (1 - stated) / len(empty))
