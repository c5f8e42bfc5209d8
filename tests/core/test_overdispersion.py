"""How much cells scatter beyond 1PL."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill.overdispersion import misfit_sd


def cells(sd: float, n: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    theta, b = rng.normal(0, 1.5, 12), rng.normal(0, 1.5, 60)
    away = theta[:, None] - b + rng.normal(0, sd, (12, 60))
    trials = np.full(away.shape, n)
    return rng.binomial(trials, 1 / (1 + np.exp(-away))), trials, theta, b


@pytest.mark.parametrize("sd", [0.3, 0.6])
def test_the_scatter_of_cells_is_found(sd: float) -> None:
    found = [misfit_sd(*cells(sd, 64, seed)) for seed in range(20)]
    # the abilities and difficulties are the true ones, so the factor for fitted ones is too large
    assert np.mean(found) == pytest.approx(sd, rel=0.15)


def test_none_is_claimed_where_there_is_none() -> None:
    # the true parameters leave all degrees of freedom, hence a little more than 1% of claims
    found = [misfit_sd(*cells(0.0, 64, seed)) > 0.25 for seed in range(100)]
    assert sum(found) == 0


def test_one_rollout_a_cell_cannot_show_any() -> None:
    assert misfit_sd(*cells(2.0, 1, 0)) == 0.0


def test_missing_cells_count_for_nothing() -> None:
    y, n, theta, b = cells(0.5, 64, 3)
    some = np.random.default_rng(0).random(n.shape) < 0.3
    n = np.where(some, 0, n)
    assert misfit_sd(np.where(some, 0, y), n, theta, b) == pytest.approx(0.5, rel=0.25)
