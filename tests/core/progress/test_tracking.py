"""The whole test of progress: what it says, of whom, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import (
    Fit1PL,
    InputError,
    ProgressTest,
    ResponseMatrix,
    fit_1pl,
    measure_progress,
    placing_models,
    pooled_responses,
    read_responses,
)
from benchfill.progress.gain import mean_gain
from benchfill.progress.null import TwoTimes
from benchfill.progress.pairs import match_models
from benchfill.progress.scan import windows_of
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ITEMS = 60
QUICK = ProgressTest(permutations=199)
B = np.linspace(-2, 2, ITEMS)


@pytest.fixture(scope="module")
def fit() -> Fit1PL:
    rng = np.random.default_rng(1)
    return fit_1pl(respond(rng, abilities(rng), B, 20), engine="map")


def one_model(
    rng: np.random.Generator, gain: float = 0.0, n: int = 8, models: Sequence[str] = ("m",)
) -> ResponseMatrix:
    """Models of ability 0 that gain on the items from b 0 to 1."""
    p = 1 / (1 + np.exp(B)) + gain * ((B > 0) & (B < 1))
    answers = rng.binomial(n, np.minimum(p, 1), (len(models), ITEMS))
    made = matrix_of(answers, n)
    return ResponseMatrix(tuple(models), made.items, made.correct, made.n)


def test_a_planted_gain_is_found_where_it_is(fit: Fit1PL) -> None:
    rng = np.random.default_rng(2)
    found = measure_progress(fit, one_model(rng), one_model(rng, 0.4), QUICK)
    (test,) = found.tests
    assert test.detected
    assert test.p == 1 / 200
    assert test.local is not None
    assert test.scanned is not None
    assert test.scanned.complete
    assert found.permutations == 199
    # b from 0 to 1 is z from .5 to .75
    assert test.local.z_left == pytest.approx(0.5, abs=0.08)
    assert test.local.z_right == pytest.approx(0.75, abs=0.08)
    assert test.local.gain.low < 0.4 < test.local.gain.high
    assert test.local.gain.low > 0
    assert len(test.local.item_ids) == test.local.gain.items
    assert test.overall.gain == pytest.approx(0.1, abs=0.05)
    assert sum(third.gain.items for third in test.thirds if third.gain) == ITEMS
    assert sum(band.gain.items for band in test.bands) == ITEMS


def test_the_same_seed_gives_the_same_and_the_order_of_rows_and_columns_means_nothing(
    fit: Fit1PL,
) -> None:
    rng = np.random.default_rng(3)
    before, after = one_model(rng), one_model(rng, 0.2)
    expected = measure_progress(fit, before, after, QUICK)
    assert measure_progress(fit, before, after, QUICK) == expected
    shuffled = [
        matrix.select(items=[int(i) for i in rng.permutation(ITEMS)]) for matrix in (before, after)
    ]
    assert measure_progress(fit, *shuffled, QUICK) == expected


def test_an_interval_is_tested_exactly(fit: Fit1PL) -> None:
    rng = np.random.default_rng(4)
    before, after = one_model(rng), one_model(rng, 0.4)
    inside, outside = (
        measure_progress(fit, before, after, ProgressTest(interval=interval)).tests[0]
        for interval in ((0.5, 0.75), (0.0, 0.4))
    )
    assert inside.p < 1e-6
    assert outside.p > 0.01
    whole = measure_progress(fit, before, after, ProgressTest(interval=(0.0, 1.0))).tests[0]
    assert whole.p == whole.overall_p
    assert whole.local is not None
    assert whole.local.gain == whole.overall


def test_several_models_are_matched_by_name_and_corrected(fit: Fit1PL) -> None:
    rng = np.random.default_rng(5)
    before = one_model(rng, models=("same", "better", "gone", "also same"))
    after = one_model(rng, models=("also same", "new", "same"))
    gained = one_model(rng, 0.5, models=("better",))
    after = ResponseMatrix(
        (*after.models, "better"),
        after.items,
        np.vstack([after.correct, gained.correct]),
        np.vstack([after.n, gained.n]),
    )
    found = measure_progress(fit, before, after, ProgressTest(interval=(0.5, 0.75)))
    p = {test.before: test.p for test in found.tests}
    assert list(p) == ["same", "better", "also same"]
    assert [test.before for test in found.tests if test.detected] == ["better"]
    holm = {test.before: test.p_holm for test in found.tests}
    assert holm["better"] == pytest.approx(3 * p["better"])
    low, high = sorted((p["same"], p["also same"]))
    assert sorted((holm["same"], holm["also same"])) == pytest.approx(
        [min(2 * low, 1), min(max(2 * low, high), 1)]
    )
    assert found.left_out.models_only_before == ("gone",)
    assert found.left_out.models_only_after == ("new",)


def test_other_items_and_missing_cells_are_left_out_and_named(fit: Fit1PL) -> None:
    rng = np.random.default_rng(6)
    before, after = one_model(rng, n=2), one_model(rng, n=5)
    n = before.n.copy()
    correct = before.correct.copy()
    n[0, 10] = correct[0, 10] = 0
    before = ResponseMatrix(("a",), before.items, correct, n).select(items=range(40))
    after = ResponseMatrix(("b",), (*after.items[:-1], "stranger"), after.correct, after.n)
    both = after.select(items=range(5, 60))
    found = measure_progress(fit, before, both, QUICK)
    assert (found.tests[0].before, found.tests[0].after) == ("a", "b")
    assert found.common_items == 35
    assert (found.tests[0].items, found.tests[0].unanswered) == (34, 1)
    assert found.left_out.items_only_before == tuple(f"i{i}" for i in range(5))
    assert len(found.left_out.items_only_after) == 20
    # the rest of the scale has no item any more
    assert found.max_gap > 0.3
    assert found.blind[0].right_item is None
    known = fit.responses.select(items=range(50))
    part = measure_progress(fit_1pl(known, engine="map"), one_model(rng), one_model(rng), QUICK)
    assert part.left_out.items_without_difficulty == tuple(f"i{i}" for i in range(50, 60))


@pytest.mark.parametrize("test", [QUICK, ProgressTest(interval=(0.2, 0.8))], ids=["scan", "L,R"])
def test_the_same_file_twice_and_all_right_show_nothing(fit: Fit1PL, test: ProgressTest) -> None:
    rng = np.random.default_rng(7)
    same = one_model(rng)
    right = matrix_of(np.full((1, ITEMS), 4), 4)
    for before, after in ((same, same), (right, right), (right, matrix_of(right.correct * 2, 8))):
        (one,) = measure_progress(fit, before, after, test).tests
        assert one.p == 1.0 or before is same
        assert one.p > 0.5
        assert not one.detected
        assert one.overall.gain == 0
        assert one.overall.low <= 0 <= one.overall.high
        assert one.unchanged == (before is after)
        if test.interval is None:
            assert one.local is None


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        ((0.5, 0.5), "from 0.5 to 0.5 is no interval"),
        ((0.7, 0.2), "0 <= L < R <= 1"),
        ((-0.1, 0.5), "0 <= L < R <= 1"),
        ((0.5, 1.5), "0 <= L < R <= 1"),
        ((float("nan"), 0.5), "0 <= L < R <= 1"),
    ],
)
def test_what_is_no_interval_is_refused(interval: tuple[float, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ProgressTest(interval=interval)


def test_levels_and_permutations_that_cannot_work_are_refused() -> None:
    with pytest.raises(InputError, match="level"):
        ProgressTest(alpha=0)
    with pytest.raises(InputError, match="at least 99"):
        ProgressTest(alpha=0.01, permutations=50)
    ProgressTest(alpha=0.01, permutations=99)


def test_an_interval_without_items_names_the_nearest(fit: Fit1PL) -> None:
    rng = np.random.default_rng(8)
    few = [0, 1, 58, 59]
    before, after = (one_model(rng).select(items=few) for _ in range(2))
    with pytest.raises(InputError, match=r"from 0.4 to 0.6 \(nearest: 0.0\d+ and 0.9\d+\)"):
        measure_progress(fit, before, after, ProgressTest(interval=(0.4, 0.6)))
    two = [matrix.select(items=[0, 1]) for matrix in (before, after)]
    with pytest.raises(InputError, match="at least 3 items"):
        measure_progress(fit, *two, QUICK)
    (one,) = measure_progress(fit, *two, ProgressTest(interval=(0.0, 0.001))).tests
    assert one.local is not None
    assert one.local.item_ids == ("i0",)


def test_nothing_in_common_is_said_with_an_example(fit: Fit1PL) -> None:
    rng = np.random.default_rng(9)
    mine = one_model(rng)
    other = ResponseMatrix(("m",), tuple(f"x{i}" for i in range(ITEMS)), mine.correct, mine.n)
    with pytest.raises(InputError, match=r"'i0'.*'x0'"):
        measure_progress(fit, mine, other)
    with pytest.raises(InputError, match="among those with a difficulty"):
        measure_progress(fit, other, other)
    with pytest.raises(InputError, match="no model name stands both"):
        measure_progress(fit, one_model(rng, models=("a", "b")), one_model(rng, models=("c",)))
    empty = matrix_of(np.zeros((1, ITEMS), int), 0)
    with pytest.raises(InputError, match="no model has a rollout"):
        measure_progress(fit, ResponseMatrix(("m",), mine.items, empty.correct, empty.n), mine)


def test_pooled_responses_do_not_change_when_before_and_after_are_swapped() -> None:
    rng = np.random.default_rng(10)
    before, after = (one_model(rng, models=("a", "b")) for _ in range(2))
    more = one_model(rng, models=("b", "a", "c"))
    pooled = pooled_responses(before, after)
    assert np.array_equal(pooled.correct, before.correct + after.correct)
    assert np.array_equal(pooled.n, pooled_responses(after, before).n)
    joined = pooled_responses(before, more)
    assert joined.models == ("a", "b", "c")
    assert np.array_equal(joined.correct[1], before.correct[1] + more.correct[0])
    assert np.array_equal(joined.correct[2], more.correct[2])
    with pytest.raises(InputError, match="--difficulties"):
        pooled_responses(before.select(models=[0]), after.select(models=[1]))


def test_models_under_test_place_no_items_unless_both_states_count_alike() -> None:
    rng = np.random.default_rng(11)
    others = one_model(rng, models=("x", "old", "new"))
    old, new = (one_model(rng, models=(name,)) for name in ("old", "new"))
    assert placing_models(others, match_models(old, new)) == (others, ())
    last = one_model(rng, models=("last",))
    kept, left_out = placing_models(others, match_models(old, last))
    assert (kept.models, left_out) == (("x", "new"), ("old",))
    same = match_models(old, old)
    assert placing_models(others, same)[1] == ("old",)
    with pytest.raises(InputError, match="no model but those under test"):
        placing_models(old, same)


def test_items_of_equal_difficulty_are_never_parted() -> None:
    z = np.repeat([0.0, 0.3, 1.0], [2, 5, 3])
    windows = windows_of(z, np.ones(10))
    assert windows.first.tolist() == [0, 2, 7, 10]
    assert windows.count == 5  # the first two items alone are too few
    assert not windows_of(z, np.zeros(10)).count
    huge = windows_of(np.linspace(0, 1, 50_000), np.ones(50_000))
    assert not huge.complete
    assert huge.count < 100_000


def test_limits_for_paired_proportions_are_newcombes() -> None:
    """Altman et al. (2000), table 6.2, by biostatUZH::confIntPairedProportion's formula."""
    table = [((1, 1), 14), ((1, 0), 5), ((0, 1), 0), ((0, 0), 22)]
    y0, y1 = (np.repeat([pair[k] for pair, _ in table], [c for _, c in table]) for k in (0, 1))
    one = np.ones(41, dtype=np.int64)
    found = mean_gain(TwoTimes(y0, one, y1, one), 1.959964)
    assert (found.gain, found.low, found.high) == pytest.approx(
        (-5 / 41, -0.2262, -0.0112), abs=6e-4
    )


def test_a_real_pair_gains_in_the_middle(shared_data: Path) -> None:
    whole = read_responses(shared_data / "zeroeval_math_l5/matrix.csv")
    before, after = (
        whole.select(models=[whole.models.index(name)])
        for name in ("Qwen2.5-7B-Instruct", "Qwen2.5-32B-Instruct")
    )
    found = measure_progress(fit_1pl(whole, engine="map"), before, after, QUICK)
    (test,) = found.tests
    assert test.detected
    assert test.overall.gain == pytest.approx(0.080, abs=0.001)
    assert test.local is not None
    assert 0.1 < test.local.z_left < test.local.z_right < 0.9
