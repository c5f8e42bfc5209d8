"""Draws of difficulties come from their exact conditionals."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.stats import kstest

from benchfill.onepl.collapsed import CollapsedPosterior, Parameters
from benchfill.onepl.draws import difficulty_moments, draw_difficulties
from benchfill.onepl.model import ItemPatterns, guessing_vector
from support.simulated import abilities, respond

S = 4_000


def posterior_of(guess: float, n: object) -> tuple[ItemPatterns, Parameters]:
    rng = np.random.default_rng(5)
    theta = abilities(rng, 6)
    # the first item is all wrong, the last all right: their mass is the prior's tail
    b = np.array([9.0, -1.0, -0.2, 0.0, 1.0, 2.0, -9.0])
    data = respond(rng, theta, b, n)
    return ItemPatterns.of(data, guessing_vector(data, guess)), Parameters(theta, 0.2, 0.3)


@pytest.mark.parametrize("guess", [0.0, 0.25])
@pytest.mark.parametrize("n", [1, 300, np.array([[0], [1], [5], [0], [100], [2]])])
def test_draws_follow_the_distribution_on_a_fine_grid(guess: float, n: object) -> None:
    patterns, at = posterior_of(guess, n)
    b = draw_difficulties(patterns, (at,) * S, np.random.default_rng(1))
    grid = np.arange(-25, 25, 0.004)
    _, mass = CollapsedPosterior(patterns).conditional(at, grid)
    for i, row in enumerate(patterns.row):
        below = np.cumsum(mass[row])

        def cdf(x: np.ndarray, below: np.ndarray = below) -> np.ndarray:
            return np.interp(x, grid + 0.002, below)

        assert kstest(b[:, i], cdf).pvalue > 1e-4
        mean = mass[row] @ grid
        sd = np.sqrt(mass[row] @ (grid - mean) ** 2)
        assert b[:, i].std() == pytest.approx(sd, rel=0.06)


def test_windows_widen_where_a_draw_that_was_not_looked_at_lies_far_off() -> None:
    patterns, at = posterior_of(0.0, 300)
    odd = Parameters(at.theta + np.array([6.0, -6.0, 0, 0, 0, 0]), at.mu_b, at.log_s_b)
    # of 1,500 draws every hundredth is looked at first
    draws = (at, *(odd,) * 90, *(at,) * 1409)
    drawn = draw_difficulties(patterns, draws, np.random.default_rng(1))[1:91]
    grid = np.arange(-25, 25, 0.004)
    _, mass = CollapsedPosterior(patterns).conditional(odd, grid)
    mean = mass @ grid
    sd = np.sqrt((mass * (grid - mean[:, None]) ** 2).sum(1))
    off = (drawn.mean(0) - mean[patterns.row]) / sd[patterns.row]
    assert np.abs(off).max() < 4 / np.sqrt(90)


def test_a_scale_next_to_zero_among_wide_ones_costs_neither_time_nor_precision() -> None:
    patterns, at = posterior_of(0.0, 1)
    # as of few answers, which know s_b hardly at all
    scales = np.tile([-9.0, -4.0, 0.3, 2.3], 200)
    draws = tuple(Parameters(at.theta, 0.2, scale) for scale in scales)
    start = time.process_time()
    b = draw_difficulties(patterns, draws, np.random.default_rng(1))
    mean, sd = difficulty_moments(patterns, draws)
    assert time.process_time() - start < 2.0  # a tenth; on one lattice of b it took 7
    assert b[scales == -9].std() == pytest.approx(np.exp(-9), rel=0.05)
    error = sd[patterns.row] / np.sqrt(len(b))
    assert np.abs((b.mean(0) - mean[patterns.row]) / error).max() < 4
    wide = draws[3]
    grid = CollapsedPosterior(patterns).grid(wide)
    _, mass = CollapsedPosterior(patterns).conditional(wide, grid)
    middle, spread = difficulty_moments(patterns, draws[:1] + (wide,) * 3)
    exact = (3 * mass @ grid + 0.2) / 4
    np.testing.assert_allclose(middle, exact, atol=1e-3 * spread.min())


def test_items_with_equal_data_share_a_posterior_but_not_their_draws() -> None:
    rng = np.random.default_rng(2)
    data = respond(rng, abilities(rng, 4), np.zeros(30), 1)
    patterns = ItemPatterns.of(data, guessing_vector(data, 0.0))
    at = Parameters(np.zeros(4), 0.0, 0.0)
    b = draw_difficulties(patterns, (at,) * 2000, rng)
    twins = np.flatnonzero(patterns.row == patterns.row[0])[:2]
    assert len(twins) == 2
    assert abs(np.corrcoef(b[:, twins[0]], b[:, twins[1]])[0, 1]) < 0.1
    assert np.unique(b).size == b.size


def test_few_draws_and_one_draw_work() -> None:
    patterns, at = posterior_of(0.0, 1)
    assert draw_difficulties(patterns, (at,), np.random.default_rng(1)).shape == (1, 7)
