"""New items among items whose places are known: held against every other way to place them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.measure import max_gap, top_k_sum
from benchfill.plan.known import equal_parts, plain_midpoints

WIDTHS = st.lists(st.integers(1, 12), min_size=1, max_size=4)


def bench(widths: list[int]) -> np.ndarray:
    z = np.concatenate([[0], np.cumsum(widths)])
    return np.asarray(z / z[-1])


def split(widths: np.ndarray, numbers: tuple[int, ...]) -> np.ndarray:
    return np.concatenate(
        [np.full(number + 1, w / (number + 1)) for w, number in zip(widths, numbers, strict=True)]
    )


@settings(max_examples=50)
@given(widths=WIDTHS, count=st.integers(1, 4), k=st.integers(1, 5))
def test_equal_parts_are_best_of_all_splits(widths: list[int], count: int, k: int) -> None:
    z = bench(widths)
    gaps = np.diff(z)
    best = min(
        np.sort(split(gaps, numbers))[-k:].sum()
        for numbers in product(range(count + 1), repeat=len(gaps))
        if sum(numbers) == count
    )
    places = equal_parts(z, count, k)
    assert len(places) == count
    whole = np.sort(np.concatenate([z, places]))
    assert float(top_k_sum(whole, k)) == pytest.approx(best, abs=1e-9)


@settings(max_examples=50)
@given(widths=WIDTHS, count=st.integers(1, 4), seed=st.integers(0, 9))
def test_no_random_places_beat_equal_parts(widths: list[int], count: int, seed: int) -> None:
    z = bench(widths)
    best = float(max_gap(np.sort(np.concatenate([z, equal_parts(z, count)]))))
    for other in np.random.default_rng(seed).random((8, count)):
        assert float(max_gap(np.sort(np.concatenate([z, other])))) >= best - 1e-9


def test_plain_midpoints_are_those_of_the_widest_gaps() -> None:
    z = np.array([0, 0.5, 0.5, 0.6, 1.0])
    np.testing.assert_allclose(plain_midpoints(z, 1), [0.25])
    np.testing.assert_allclose(plain_midpoints(z, 2), [0.25, 0.8])
    np.testing.assert_allclose(plain_midpoints(z, 3), [0.25, 0.55, 0.8])


def test_beyond_the_gaps_the_widest_spacing_is_bisected_again() -> None:
    np.testing.assert_allclose(plain_midpoints(np.array([0, 1.0]), 3), [0.25, 0.5, 0.75])
    np.testing.assert_allclose(plain_midpoints(np.array([0, 0.2, 1]), 3), [0.1, 0.4, 0.6])
    assert len(plain_midpoints(np.array([0, 0.2, 1]), 1000)) == 1000
