"""Posteriors from the common table against those of each child alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill import Draws, child_posterior
from benchfill.child_likelihoods import ChildLikelihoods

MODELS = 5


def draws_of(spread: float, s_b: float, count: int = 200) -> Draws:
    rng = np.random.default_rng(7)
    theta = np.linspace(-2, 2, MODELS) + spread * rng.normal(size=(count, MODELS))
    return Draws(
        theta=theta,
        b=rng.normal(size=(count, 3)),
        mu_b=spread * rng.normal(size=count),
        s_b=np.full(count, s_b),
    )


@pytest.mark.parametrize("guessing", [0.0, 0.25])
@given(
    counts=st.lists(
        st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=MODELS,
        max_size=MODELS,
    ),
    spread=st.sampled_from([0.05, 0.4]),
    s_b=st.sampled_from([0.7, 2.5]),
)
@settings(max_examples=60, deadline=None)
def test_the_table_gives_what_each_child_gives(guessing, counts, spread, s_b) -> None:
    y, n = np.array(counts).T
    draws = draws_of(spread, s_b)
    table = ChildLikelihoods(draws, guessing)
    mine, alone = table.posterior(y, n), child_posterior(y, n, draws, guessing=guessing)
    assert mine.mean == pytest.approx(alone.mean, abs=2e-3)
    assert mine.sd == pytest.approx(alone.sd, abs=2e-3)
    for q in (0.05, 0.5, 0.95):
        assert mine.quantile(q) == pytest.approx(alone.quantile(q), abs=0.01)
    borders = np.full(len(draws.theta), alone.mean - 0.4), np.full(len(draws.theta), alone.mean)
    assert mine.p_between(*borders) == pytest.approx(alone.p_between(*borders), abs=3e-3)
    # a draw's weight is its evidence, grid or no grid
    np.testing.assert_allclose(mine.mass.sum(1), alone.mass.sum(1), atol=1e-4)


def test_many_rollouts_get_a_finer_grid() -> None:
    draws = draws_of(0.01, 1.0)
    table = ChildLikelihoods(draws)
    n = np.full(MODELS, 100_000)
    y = (n / (1 + np.exp(0.3 - np.linspace(-2, 2, MODELS)))).astype(int)
    found = table.posterior(y, n)
    assert found.grid[1] - found.grid[0] < found.sd < 0.02


def test_too_few_draws() -> None:
    with pytest.raises(ValueError, match="199 draws"):
        ChildLikelihoods(draws_of(0.1, 1.0, 199))
