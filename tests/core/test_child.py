"""The difficulty of a new item: maximum likelihood at fixed abilities, and the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import norm

from benchfill import Draws, child_mle, child_posterior
from support.measured_children import measure_children

THETA = np.array([-2.0, -1.0, 0.0, 0.4, 1.1, 1.5])
CASES = {
    "equal n": ([0, 2, 5, 6, 8, 8], [8] * 6),
    "unequal n, missing models": ([0, 0, 5, 0, 40, 1], [3, 0, 9, 0, 64, 1]),
    "nearly all wrong": ([0, 0, 0, 1, 0, 0], [8] * 6),
    "nearly all right": ([8, 8, 8, 8, 8, 7], [8] * 6),
    "against the order": ([8, 7, 6, 4, 2, 3], [8] * 6),
}


def log_likelihood(b: float, y: np.ndarray, n: np.ndarray, guessing: float) -> float:
    p = guessing + (1 - guessing) * expit(THETA - b)
    return float((y * np.log(p) + (n - y) * np.log1p(-p)).sum())


@pytest.mark.parametrize(
    ("name", "guessing"),
    [(name, g) for name in CASES for g in (0.0, 0.2) if (name, g) != ("nearly all wrong", 0.2)],
)
def test_mle_is_where_the_likelihood_is_highest(name: str, guessing: float) -> None:
    y, n = (np.array(values, float) for values in CASES[name])
    grid = np.linspace(-8, 8, 3201)
    rough = grid[np.argmax([log_likelihood(b, y, n, guessing) for b in grid])]
    best = minimize_scalar(
        lambda b: -log_likelihood(b, y, n, guessing),
        bounds=(rough - 0.01, rough + 0.01),
        method="bounded",
        options={"xatol": 1e-10},
    ).x
    found = child_mle(y, n, THETA, guessing=guessing)
    assert found.b[0] == pytest.approx(best, abs=1e-5)
    # expected information: the mean of the squared score over outcomes of one rollout a model
    p = guessing + (1 - guessing) * expit(THETA - best)
    h = 1e-6
    slope = (1 - guessing) * (expit(THETA - best - h) - expit(THETA - best + h)) / (2 * h)
    information = (n * (p * (slope / p) ** 2 + (1 - p) * (slope / (1 - p)) ** 2)).sum()
    assert found.se[0] == pytest.approx(information**-0.5, rel=1e-5)
    assert found.bound_kind == (None,)
    assert np.isnan(found.bound[0])


def test_children_are_estimated_together_as_alone() -> None:
    y = np.array([case[0] for case in CASES.values()])
    n = np.array([case[1] for case in CASES.values()])
    together = child_mle(y, n, THETA)
    alone = [child_mle(y[k], n[k], THETA).b[0] for k in range(len(y))]
    np.testing.assert_allclose(together.b, alone)


@pytest.mark.parametrize("guessing", [0.0, 0.2])
@pytest.mark.parametrize("k", [1, 8, 1000])
def test_one_sided_bounds_have_probability_one_in_twenty(guessing: float, k: int) -> None:
    n = np.full((2, 6), k)
    found = child_mle([n[0], 0 * n[1]], n, THETA, guessing=guessing)
    assert np.isnan(found.b).all()
    assert np.isnan(found.se).all()
    assert found.bound_kind == ("easier_than", "harder_than")
    assert np.exp(log_likelihood(found.bound[0], n[0], n[0], guessing)) == pytest.approx(0.05)
    wrong = log_likelihood(found.bound[1], 0 * n[1], n[1], guessing)
    by_chance = n[1].sum() * np.log1p(-guessing)
    assert np.exp(wrong - by_chance) == pytest.approx(0.05)


def test_a_child_at_chance_level_has_a_bound_and_no_number() -> None:
    found = child_mle([1, 1, 2, 1, 2, 1], [8] * 6, THETA, guessing=0.25)
    assert np.isnan(found.b[0])
    assert found.bound_kind == ("harder_than",)
    assert THETA.min() - 5 < found.bound[0] < THETA.max() + 5


def test_children_with_and_without_a_bound_mix() -> None:
    found = child_mle([[8] * 6, [4] * 6, [0] * 6], [[8] * 6] * 3, THETA)
    assert found.bound_kind == ("easier_than", None, "harder_than")
    assert found.bound[0] < found.b[1] < found.bound[2]


def draws_of(count: int = 200, spread: float = 0.3) -> Draws:
    rng = np.random.default_rng(8)
    theta = THETA + rng.normal(0, spread, (count, 6))
    b = np.array([-0.5, 0.6]) + rng.normal(0, 0.1, (count, 2))
    return Draws(theta, b, rng.normal(0, 0.2, count), np.exp(rng.normal(0.2, 0.1, count)))


def brute_force(y: np.ndarray, n: np.ndarray, draws: Draws, guessing: float) -> tuple:
    grid = np.arange(-16, 16, 0.002)
    log_mass = norm.logpdf(grid, draws.mu_b[:, None], draws.s_b[:, None])
    for j in range(6):
        p = guessing + (1 - guessing) * expit(draws.theta[:, j, None] - grid)
        log_mass += y[j] * np.log(p) + (n[j] - y[j]) * np.log1p(-p)
    mass = np.exp(log_mass - log_mass.max())
    return grid, mass / mass.sum()


EXTREME = {"all right": ([8] * 6, [8] * 6), "all wrong": ([0] * 6, [8] * 6)}
LARGE = {
    "thousands": ([50, 300, 1000, 1200, 1700, 1800], [2000] * 6),
    "nothing": ([0] * 6, [0] * 6),
}


@pytest.mark.parametrize("name", [*CASES, *EXTREME, *LARGE])
@pytest.mark.parametrize("guessing", [0.0, 0.2])
def test_posterior_equals_a_fine_grid(name: str, guessing: float) -> None:
    y, n = (np.array(values, float) for values in (CASES | EXTREME | LARGE)[name])
    draws = draws_of()
    found = child_posterior(y, n, draws, guessing=guessing)
    grid, mass = brute_force(y, n, draws, guessing)
    density = mass.sum(0)
    mean = density @ grid
    sd = np.sqrt(density @ (grid - mean) ** 2)
    assert found.mass.sum() == pytest.approx(1)
    assert found.mean == pytest.approx(mean, abs=0.01 * sd)
    assert found.sd == pytest.approx(sd, rel=0.01)
    for q in (0.01, 0.05, 0.5, 0.95, 0.99):
        exact = np.interp(q, np.cumsum(density), grid + 0.001)
        assert found.quantile(q) == pytest.approx(exact, abs=0.02 * sd)
    left, right = draws.b.T
    inside = mass[(grid > left[:, None]) & (grid < right[:, None])].sum()
    assert found.p_between(left, right) == pytest.approx(inside, abs=2e-3)


def test_p_between_follows_each_draws_own_borders() -> None:
    draws = draws_of(spread=0.0)
    found = child_posterior(*CASES["equal n"], draws)
    left, right = draws.b.T
    assert found.p_between(right, left) == 0
    everywhere = np.full(len(left), 50.0)
    assert found.p_between(-everywhere, everywhere) == pytest.approx(1)
    assert found.p_between(left, left) == 0
    parts = [(-everywhere, left), (left, right), (right, everywhere)]
    assert sum(found.p_between(*part) for part in parts) == pytest.approx(1)


def test_draws_that_explain_the_child_better_weigh_more() -> None:
    draws = draws_of(spread=1.0)
    y, n = (np.array(values, float) for values in CASES["equal n"])
    weight = child_posterior(y * 20, n * 20, draws).mass.sum(1)
    best = np.array(
        [max(log_likelihood_at(t, y * 20, n * 20) for t in [theta]) for theta in draws.theta]
    )
    assert np.corrcoef(np.argsort(np.argsort(weight)), np.argsort(np.argsort(best)))[0, 1] > 0.8


def log_likelihood_at(theta: np.ndarray, y: np.ndarray, n: np.ndarray) -> float:
    grid = np.linspace(-5, 5, 401)
    p = expit(theta[:, None] - grid)
    return float((y[:, None] * np.log(p) + (n - y)[:, None] * np.log1p(-p)).sum(0).max())


def test_few_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="199 draws are too few"):
        child_posterior([1] * 6, [2] * 6, draws_of(199))


def test_one_draw_says_that_abilities_are_known() -> None:
    one = draws_of(200).thin(1)
    alike = Draws(*(np.repeat(part, 200, axis=0) for part in one))
    y, n = [3, 2, 4, 1, 0, 2], [5] * 6
    known, said_200_times = (child_posterior(y, n, draws) for draws in (one, alike))
    assert (known.mean, known.sd) == pytest.approx((said_200_times.mean, said_200_times.sd))
    with pytest.raises(ValueError, match="2 draws are too few"):
        child_posterior(y, n, draws_of(200).thin(2))


def test_stated_probabilities_hold_with_estimated_abilities() -> None:
    """The small version of tests/studies/p_in_gap.py; docs/studies.md has the whole table."""
    rng = np.random.default_rng(2)
    fills = [measure_children(rng, 64, child_rollouts=(32,), children=15) for _ in range(6)]
    done = [one for measured in fills for one in measured]
    off = [np.mean([one.p_in_gap - one.inside for one in measured]) for measured in fills]
    # children of one benchmark err together: the goal of five points and two standard errors
    assert abs(np.mean(off)) < 0.05 + 2 * np.std(off) / np.sqrt(len(off))
    assert np.mean([one.covered for one in done]) > 0.8
    sure = [one.inside for one in done if one.p_in_gap > 0.9]
    assert len(sure) > 10
    assert np.mean(sure) > 0.85


def test_a_lone_rollout_leaves_the_prior_and_no_made_up_number() -> None:
    draws = draws_of()
    found = child_posterior([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0], draws)
    assert found.sd > 0.8
