"""What chance alone can do: exact null distributions, against brute force and SciPy."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchfill.progress.null import SMALLEST_P, TwoTimes, null_of_sum, upper_p
from benchfill.progress.tail import even_moments, lattice_tail

ITEM = st.integers(1, 3).flatmap(
    lambda n0: st.integers(1, 3).flatmap(
        lambda n1: st.tuples(st.integers(0, n0), st.just(n0), st.integers(0, n1), st.just(n1))
    )
)


def two_times(items: list[tuple[int, int, int, int]]) -> TwoTimes:
    return TwoTimes(*np.array(items, dtype=np.int64).reshape(-1, 4).T)


@given(st.lists(ITEM, min_size=1, max_size=4))
def test_the_exact_p_equals_going_through_all_orders(
    items: list[tuple[int, int, int, int]],
) -> None:
    """Every way to deal an item's successes to before and after is as likely as any other."""
    least, whole = 0, 0
    observed = sum(item[2] for item in items)
    ways = [
        [
            (y, comb(n1, y) * comb(n0, y0 + y1 - y))
            for y in range(max(0, y0 + y1 - n0), min(n1, y0 + y1) + 1)
        ]
        for y0, n0, y1, n1 in items
    ]
    for outcome in product(*ways):
        weight = int(np.prod([one[1] for one in outcome]))
        whole += weight
        least += weight * (sum(one[0] for one in outcome) >= observed)
    null = null_of_sum(two_times(items))
    assert upper_p(null, observed) == pytest.approx(least / whole)
    assert null.mass.sum() == pytest.approx(1)


@given(st.lists(ITEM, min_size=1, max_size=30))
def test_moments_are_those_of_the_null(items: list[tuple[int, int, int, int]]) -> None:
    responses = two_times(items)
    null = null_of_sum(responses)
    values = null.start + np.arange(len(null.mass))
    mean = float(null.mass @ values)
    assert int(responses.y1.sum()) - mean == pytest.approx(responses.excess.sum(), abs=1e-9)
    assert null.mass @ (values - mean) ** 2 == pytest.approx(responses.variance.sum(), abs=1e-9)


def test_one_rollout_each_is_the_sign_test() -> None:
    """With one rollout only items that changed count, each as likely to have gained as lost."""
    items = [(0, 1, 1, 1)] * 9 + [(1, 1, 0, 1)] * 2 + [(1, 1, 1, 1)] * 50
    p = upper_p(null_of_sum(two_times(items)), 59)
    assert p == pytest.approx(stats.binomtest(9, 11, alternative="greater").pvalue)


def test_one_item_is_fishers_exact_test() -> None:
    p = upper_p(null_of_sum(two_times([(12, 40, 25, 60)])), 25)
    fisher = stats.fisher_exact([[25, 35], [12, 28]], alternative="greater").pvalue
    assert p == pytest.approx(fisher)


def test_many_items_with_many_rollouts_stay_exact_and_cheap() -> None:
    rng = np.random.default_rng(1)
    n = np.full(4000, 100)
    before, after = rng.binomial(n, 0.5), rng.binomial(n, 0.502)
    responses = TwoTimes(before, n, after, n)
    p = upper_p(null_of_sum(responses), int(after.sum()))
    score = (responses.excess.sum() - 0.5) / np.sqrt(responses.variance.sum())
    assert p == pytest.approx(stats.norm.sf(score), rel=1e-3)


def test_p_is_never_zero_and_nothing_that_could_change_means_one() -> None:
    sure = two_times([(0, 1000, 1000, 1000)] * 50)
    assert upper_p(null_of_sum(sure), 50_000) == SMALLEST_P
    same = two_times([(3, 3, 2, 2), (0, 5, 0, 1)])
    assert upper_p(null_of_sum(same), 2) == 1.0
    assert upper_p(null_of_sum(same), 2, u=0.25) == 0.25


@pytest.mark.parametrize("k", [1, 2, 8, 64])
def test_the_tail_for_simulations_is_close_to_the_exact_one(k: int) -> None:
    variance, cumulant = even_moments(k)
    rng = np.random.default_rng(k)
    worst = 0.0
    for items in (5, 12, 60):
        for _ in range(12):
            rates = rng.random(items)
            n = np.full(items, k)
            y0, y1 = rng.binomial(n, rates), rng.binomial(n, np.minimum(rates + 0.15, 1))
            total = y0 + y1
            exact = upper_p(null_of_sum(TwoTimes(y0, n, y1, n)), int(y1.sum()))
            moments = variance[total].sum(), cumulant[total].sum()
            tail = lattice_tail(np.array((y1 - y0).sum() / 2), *(np.array(one) for one in moments))
            if exact < 0.2 and moments[0] > 1:
                worst = max(worst, abs(float(tail) - exact))
    assert 0 < worst < 0.002
