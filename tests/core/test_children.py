"""Many children at once give what each gives alone."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill import Draws, child_mle, child_posterior, child_summaries
from support.simulated import abilities


@pytest.fixture(scope="module")
def draws() -> Draws:
    rng = np.random.default_rng(0)
    theta = abilities(rng, 6) + rng.normal(0, 0.2, (200, 6))
    return Draws(theta, np.zeros((200, 1)), rng.normal(0, 0.2, 200), rng.uniform(1, 1.4, 200))


@pytest.mark.parametrize("guessing", [0.0, 0.25])
def test_summaries_are_those_of_single_posteriors(draws: Draws, guessing: float) -> None:
    n = np.array([4, 0, 8, 16, 1, 3])
    y = np.random.default_rng(1).binomial(n, 0.5, (30, 6))
    y[0], y[1] = 0, n
    found = child_summaries(y, n, draws, guessing=guessing)
    for k, one in enumerate(y):
        alone = child_posterior(one, n, draws, guessing=guessing)
        assert found.mean[k] == pytest.approx(alone.mean, abs=0.01)
        assert found.sd[k] == pytest.approx(alone.sd, abs=0.01)
        for name, q in (("q05", 0.05), ("median", 0.5), ("q95", 0.95)):
            assert getattr(found, name)[k] == pytest.approx(alone.quantile(q), abs=0.02)


def test_few_draws_are_refused(draws: Draws) -> None:
    with pytest.raises(ValueError, match="too few"):
        child_summaries([[1] * 6], [1] * 6, draws.thin(100))


@pytest.mark.parametrize("guessing", [0.0, 0.2])
def test_estimates_of_many_children_are_those_of_each(guessing: float) -> None:
    rng = np.random.default_rng(2)
    theta = abilities(rng, 5)
    n = rng.integers(0, 4, (40, 5))
    n[:, 0] += 1
    y = rng.binomial(n, 0.5)
    many = child_mle(y, n, theta, guessing=guessing)
    for k in range(40):
        one = child_mle(y[k], n[k], theta, guessing=guessing)
        for name in ("b", "se", "bound"):
            np.testing.assert_allclose(getattr(many, name)[k], getattr(one, name)[0], atol=1e-9)
        assert many.bound_kind[k] == one.bound_kind[0]
