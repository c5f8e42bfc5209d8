"""New items by the mismatch with a target: no other places do better."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import Beta, Empirical, Uniform
from benchfill.measure import own_scale
from benchfill.plan.mismatch import MismatchDraws

if TYPE_CHECKING:
    from benchfill.targets import Target

TARGETS = [Uniform(), Beta(2, 5), Empirical(np.array([0.1, 0.5, 0.5, 0.9]))]


def draws_of(seed: int, shape: tuple[int, int]) -> np.ndarray:
    return own_scale(np.random.default_rng(seed).random(shape))


def distance(z: np.ndarray, landed: np.ndarray, target: Target) -> float:
    whole = np.concatenate([z, np.broadcast_to(landed, (len(z), landed.shape[-1]))], axis=1)
    return float(target.wasserstein(own_scale(whole)).mean())


@pytest.mark.parametrize("target", TARGETS, ids=["uniform", "beta", "list"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_places_on_a_grid_are_better(target: Target, count: int) -> None:
    z = draws_of(count, (3, 7))
    places = MismatchDraws.of(z, np.zeros((3, count)), target).thresholds()
    assert (np.diff(places) >= 0).all()
    best = min(
        distance(z, np.array(others), target)
        for others in combinations_with_replacement(np.linspace(0, 1, 60 // count**2), count)
    )
    assert distance(z, places, target) <= best + 1e-4  # the lattice has 1,000 cells


def test_places_that_land_where_they_are_meant_to_need_no_moves() -> None:
    draws = MismatchDraws.of(draws_of(4, (30, 12)), np.zeros((30, 4)), Uniform())
    np.testing.assert_array_equal(draws.moved(draws.thresholds()), draws.thresholds())


def test_with_errors_of_placement_moving_helps() -> None:
    z = draws_of(5, (60, 12))
    z[:, 3:-1] **= 0.5  # few easy items
    error = np.random.default_rng(1).normal(0, 0.1, (60, 4))
    draws = MismatchDraws.of(z, error, Uniform())
    start = draws.thresholds()
    moved = draws.moved(start)
    inside = [distance(z, np.clip(at + error, 0, 1), Uniform()) for at in (start, moved)]
    assert inside[1] < inside[0]


def test_draws_may_leave_the_frozen_scale() -> None:
    z = np.array([[-0.3, 0.2, 1.4], [0.1, 0.5, 0.9]])
    places = MismatchDraws.of(z, np.zeros((2, 5)), Uniform()).thresholds()
    assert ((places >= 0) & (places <= 1)).all()
