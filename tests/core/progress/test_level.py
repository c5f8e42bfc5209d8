"""The tests keep their level; the small version of tests/studies/progress_level.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.progress import ProgressTest
from benchfill.progress.gain import mean_gain
from benchfill.progress.null import TwoTimes, null_of_sum
from benchfill.progress.scan import scan_intervals, windows_of
from support.two_times import (
    Setting,
    interval_p,
    means_instead,
    place_by,
    scan_p,
    selected_limits,
    simulate,
)

TEST = ProgressTest(permutations=99)
LOTS = replace(TEST, randomised_ties=True)
LEVELS = (0.01, 0.05, 0.2, 0.5)


def allowed(level: float, count: int) -> float:
    """Three and a half standard errors above the level."""
    return level + 3.5 * float(np.sqrt(level * (1 - level) / count))


@given(
    totals=st.lists(
        st.integers(1, 4).flatmap(lambda n: st.tuples(st.integers(0, 2 * n), st.just(n))),
        min_size=1,
        max_size=8,
    )
)
def test_given_the_totals_p_is_valid_at_every_level(totals: list[tuple[int, int]]) -> None:
    """P(p <= alpha) <= alpha for all alpha, by summing over all outcomes: no simulation."""
    t, n = (np.array(one, dtype=np.int64) for one in zip(*totals, strict=True))
    null = null_of_sum(TwoTimes(t - np.minimum(t, n), n, np.minimum(t, n), n))
    p = np.cumsum(null.mass[::-1])[::-1]
    for alpha in np.unique(np.clip(p, 0, 1)):
        assert null.mass[p <= alpha + 1e-12].sum() <= alpha + 1e-9


@pytest.mark.parametrize("setting", [Setting(24, 1, 1), Setting(24, 2, 5)], ids=["1", "2, 5"])
def test_levels_of_interval_and_scan_hold(setting: Setting) -> None:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(250):
        z, responses, _ = simulate(setting, rng)
        windows = windows_of(z, responses.variance)
        found.append(
            (
                interval_p(z, responses, (0.3, 0.8)),
                scan_p(windows, responses, TEST, rng),
                interval_p(z, responses, (0.3, 0.8), rng.random()),
                scan_p(windows, responses, LOTS, rng),
            )
        )
    for alpha in LEVELS:
        called = np.mean(np.array(found) <= alpha, axis=0)
        assert (called <= allowed(alpha, 250)).all()
        # ties by lot spend the whole level
        assert (called[2:] >= 2 * alpha - allowed(alpha, 250)).all()


def test_a_scan_of_standardised_sums_sees_what_one_of_means_does_not() -> None:
    setting = Setting(120, 1, 1, gain=0.45, between=(0.4, 0.8))
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(30):
        z, responses, _ = simulate(setting, rng)
        windows = windows_of(z, responses.variance)
        chosen = (windows, means_instead(windows))
        seen.append([scan_p(one, responses, TEST, rng) <= 0.05 for one in chosen])
    standardised, means = np.mean(seen, axis=0)
    assert standardised > 0.8
    assert means < 0.3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.05, 0.2]))
def test_a_significant_scan_is_one_whose_limits_leave_out_zero(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    setting = Setting(20, 3, 3, gain=0.3, between=(0.2, 0.9))
    z, responses, _ = simulate(setting, rng)
    test = ProgressTest(permutations=99, alpha=alpha)
    scan = scan_intervals(responses, windows_of(z, responses.variance), test, rng)
    assert (scan.p <= alpha) == (scan.score > scan.critical)


def test_limits_hold_for_the_interval_that_was_chosen() -> None:
    for setting in (Setting(30, 1, 1), Setting(40, 4, 4, gain=0.3, between=(0.3, 0.8))):
        rng = np.random.default_rng(5)
        limits = [selected_limits(setting, TEST, rng) for _ in range(80)]
        missed = [not one[0] <= one[1] <= one[2] for one in limits if one]
        assert np.mean(missed) <= allowed(0.05, len(missed))


@pytest.mark.parametrize(("items", "n0", "n1"), [(3, 8, 8), (10, 1, 1), (10, 1, 8), (60, 1, 1)])
def test_newcombe_limits_cover_nine_in_ten(items: int, n0: int, n1: int) -> None:
    rng = np.random.default_rng(2)
    logit = rng.normal(0, 2, items)
    p0, p1 = 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit - 0.8))
    covered = []
    for _ in range(250):
        responses = TwoTimes(
            rng.binomial(n0, p0), np.full(items, n0), rng.binomial(n1, p1), np.full(items, n1)
        )
        found = mean_gain(responses, 1.645)
        covered.append(found.low <= (p1 - p0).mean() <= found.high)
    assert np.mean(covered) > 0.9 - 3.5 * np.sqrt(0.09 / 250)


def test_items_placed_by_responses_before_alone_break_the_level() -> None:
    """Why the responses under test are pooled or left out when difficulties are fitted."""

    def share(source: str) -> float:
        return float(np.mean(place_by(source, 6, 150, np.random.default_rng(1)) <= 0.05))

    assert share("before alone") > 0.2
    for source in ("before and after pooled", "other models"):
        assert share(source) <= allowed(0.05, 150)
