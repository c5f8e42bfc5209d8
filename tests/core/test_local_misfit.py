"""Children where models' rates scatter beyond 1PL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import beta, binom

from benchfill import Draws
from benchfill.child_likelihoods import ChildLikelihoods

if TYPE_CHECKING:
    from benchfill.child import ChildPosterior

PRIOR_SD = 1.5


def known(theta: np.ndarray) -> Draws:
    """Abilities that are known."""
    count = 200
    return Draws(
        theta=np.tile(theta, (count, 1)),
        b=np.zeros((count, 3)),
        mu_b=np.zeros(count),
        s_b=np.full(count, PRIOR_SD),
    )


def measured(
    theta: np.ndarray, y: np.ndarray, n: np.ndarray, sd: float, others: tuple[float, ...] = ()
) -> ChildPosterior:
    return ChildLikelihoods(known(theta), 0.0, sd, others).posterior(y, n)


def size(p: np.ndarray, sd: float) -> np.ndarray:
    """The Beta's two parameters together, from its variance (sd p (1 - p))^2."""
    return 1 / (sd**2 * p * (1 - p)) - 1


@pytest.mark.parametrize("guessing", [0.0, 0.25])
def test_a_model_of_many_is_a_beta_binomial(guessing: float) -> None:
    theta, sd, y, n = np.array([0.4]), 0.8, 14, 20
    # so many others that what one does says nothing about the sum of all
    others = np.linspace(-3, 3, 2_000)
    found = ChildLikelihoods(known(theta), guessing, sd, others).posterior([y], [n])
    grid = np.linspace(-7, 7, 561)
    solved = expit(theta - grid)
    p = guessing + (1 - guessing) * solved
    slope = (1 - guessing) * solved * (1 - solved)
    both = p * (1 - p) / (sd * slope) ** 2 - 1
    likelihood, _ = quad_vec(
        lambda rate: binom.pmf(y, n, rate) * beta.pdf(rate, both * p, both * (1 - p)), 0, 1
    )
    mass = likelihood * np.exp(-0.5 * (grid / PRIOR_SD) ** 2)
    mass /= mass.sum()
    mean = mass @ grid
    assert found.mean == pytest.approx(mean, abs=0.03)
    assert found.sd == pytest.approx(np.sqrt(mass @ (grid - mean) ** 2), rel=0.03)


def test_misfit_cancels_where_all_models_are_asked_alike() -> None:
    theta = np.linspace(-2, 2, 12)
    n = np.full(12, 50)
    y = np.array([2, 30, 1, 40, 10, 48, 5, 45, 20, 50, 25, 49])  # far from 1PL
    place = brentq(lambda b: (expit(theta - b) - y / n).sum(), -10, 10)
    wild = measured(theta, y, n, 1.4)
    assert wild.mean == pytest.approx(place, abs=0.05)
    calm = ChildLikelihoods(known(theta)).posterior(y, n)
    assert wild.sd < 1.2 * calm.sd


def test_many_answers_of_a_few_models_leave_the_others_open() -> None:
    theta = np.linspace(-2, 2, 12)
    n = np.zeros(12, np.int64)
    n[[4, 7]] = 5_000
    two = measured(theta, n // 2, n, 1.0)
    assert 0.45 < two.sd < 0.9  # 1 / sqrt(2), less what the prior and the zero sum add
    even = measured(theta, np.full(12, 417), np.full(12, 833), 1.0)
    assert even.sd < 0.05


def test_models_that_cannot_be_asked_count_too() -> None:
    theta, n = np.linspace(-2, 2, 6), np.full(6, 1_000)
    y = np.rint(n * expit(theta)).astype(int)
    alone = measured(theta, y, n, 1.0)
    some = measured(theta, y, n, 1.0, others=tuple(np.linspace(-2, 2, 6)))
    assert alone.sd < 0.05
    assert 0.15 < some.sd < 0.35  # 1 / sqrt(6) of the others, at half of the weight


def test_little_misfit_is_none() -> None:
    theta, rng = np.linspace(-2, 2, 8), np.random.default_rng(0)
    n = rng.integers(0, 30, 8)
    y = rng.binomial(n, 0.4)
    plain, almost = ChildLikelihoods(known(theta)).posterior(y, n), measured(theta, y, n, 0.01)
    assert almost.mean == pytest.approx(plain.mean, abs=0.01)
    assert almost.sd == pytest.approx(plain.sd, rel=0.02)


def test_without_an_answer_it_is_the_prior() -> None:
    nothing = np.zeros(8, np.int64)
    found = measured(np.linspace(-2, 2, 8), nothing, nothing, 1.0)
    assert (found.mean, found.sd) == (pytest.approx(0, abs=1e-3), pytest.approx(PRIOR_SD, rel=1e-3))


@pytest.mark.parametrize(("models", "sd"), [(5, 1.4), (12, 0.5), (24, 1.4)])
def test_intervals_cover(models: int, sd: float) -> None:
    """The difficulty that a fit gives, whatever was asked how often."""
    rng, covered = np.random.default_rng(1), []
    for _ in range(100):
        theta, b = rng.normal(0, 1.5, models), rng.normal(0, PRIOR_SD)
        p = expit(theta - b)
        rates = rng.beta(np.maximum(size(p, sd), 1e-3) * p, np.maximum(size(p, sd), 1e-3) * (1 - p))
        rates = np.clip(rates, 1e-9, 1 - 1e-9)
        place = brentq(lambda x, th=theta, r=rates: (expit(th - x) - r).sum(), -30, 30)
        n = rng.integers(0, 30, models)
        found = measured(theta, rng.binomial(n, rates), n, sd)
        covered.append(found.quantile(0.05) <= place <= found.quantile(0.95))
    # nominally .90; the normal sum is an approximation, worst with few models far from 1PL
    assert 0.82 < np.mean(covered) < 0.98
