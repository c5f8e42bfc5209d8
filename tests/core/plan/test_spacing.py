"""New items by the widest spacings: each move exact, the whole no worse than its starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.plan.known import equal_parts, plain_midpoints
from benchfill.plan.spacing import SpacingDraws, place_items


def draws_of(seed: int, shape: tuple[int, int]) -> np.ndarray:
    """Draws on their own scale: both ends are items."""
    z = np.sort(np.random.default_rng(seed).random(shape), axis=1)
    z -= z[:, :1]
    return np.asarray(z / z[:, -1:])


def brute(z: np.ndarray, landed: np.ndarray, k: int) -> float:
    """The mean sum of the k widest spacings, counted without shortcuts."""
    sums = [
        np.sort(np.diff(np.sort(np.concatenate([draw, np.clip(new, 0, 1)]))))[-k:].sum()
        for draw, new in zip(z, landed, strict=True)
    ]
    return float(np.mean(sums))


SEEDS = st.integers(0, 10_000)


@settings(max_examples=30)
@given(seed=SEEDS, items=st.integers(2, 8), count=st.integers(1, 4), k=st.integers(1, 4))
def test_the_reduced_draws_tell_the_same_sum(seed: int, items: int, count: int, k: int) -> None:
    z = draws_of(seed, (3, items))
    rng = np.random.default_rng(seed)
    error = rng.normal(0, 0.1, (3, count))
    places = rng.random(count)
    draws = SpacingDraws.of(z, error, k)
    assert draws.top_sum(places, k) == pytest.approx(brute(z, places + error, k), abs=1e-9)


@settings(max_examples=30)
@given(seed=SEEDS, count=st.integers(1, 3), k=st.integers(1, 3), noisy=st.booleans())
def test_the_best_place_of_one_item_is_best(seed: int, count: int, k: int, noisy: bool) -> None:
    z = draws_of(seed, (3, 6))
    rng = np.random.default_rng(seed)
    error = rng.normal(0, 0.05 * noisy, (3, count))
    places = rng.random(count)
    draws = SpacingDraws.of(z, error, k)
    item = seed % count
    place, gain = draws.best_place(places, item, k)

    def at(z_new: float) -> float:
        moved = places.copy()
        moved[item] = z_new
        return brute(z, moved + error, k)

    assert at(place) <= min(at(other) for other in np.linspace(0, 1, 30)) + 1e-9
    assert at(places[item]) - at(place) == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("k", [1, 5])
def test_without_uncertainty_the_answer_is_the_exact_one(k: int) -> None:
    z = draws_of(3, (1, 25))
    draws = SpacingDraws.of(z, np.zeros((1, 6)), k)
    exact = equal_parts(z[0], 6, k)
    found = place_items(draws, [exact, plain_midpoints(z[0], 6)], k)
    assert draws.top_sum(found, k) == pytest.approx(draws.top_sum(exact, k))


@pytest.mark.parametrize(("count", "k"), [(1, 1), (3, 1), (8, 5)])
def test_the_places_found_are_no_worse_than_any_start(count: int, k: int) -> None:
    z = draws_of(8, (40, 20))
    draws = SpacingDraws.of(z, np.zeros((40, count)), k)
    starts = [plain_midpoints(z.mean(0), count), equal_parts(z[0], count, k)]
    found = place_items(draws, starts, k)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()
    assert draws.top_sum(found, k) <= min(draws.top_sum(start, k) for start in starts)


def test_two_items_have_one_gap() -> None:
    z = np.array([[0.0, 1.0]])
    found = place_items(SpacingDraws.of(z, np.zeros((1, 3)), 5), [np.array([0.1, 0.2, 0.3])], 1)
    np.testing.assert_allclose(found, [0.25, 0.5, 0.75])
