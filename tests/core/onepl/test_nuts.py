"""The collapsed sampler: its density, its agreement with the plain one, odd data, Ctrl-C."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.linalg import helmert
from scipy.special import logsumexp

from benchfill import Fit1PL, fit_1pl
from benchfill.onepl.collapsed import CollapsedPosterior
from benchfill.onepl.coordinates import NonCentred, Whitened
from benchfill.onepl.map import fit_map
from benchfill.onepl.model import ItemPatterns, guessing_vector
from benchfill.onepl.sampled import SampledPosterior
from support.simulated import abilities, matrix_of, respond


def posterior_of(guessing: object, n: object) -> SampledPosterior:
    rng = np.random.default_rng(1)
    data = respond(rng, abilities(rng, 5), rng.normal(0, 1.5, 12), n, 0.2)
    patterns = ItemPatterns.of(data, guessing_vector(data, guessing))
    return SampledPosterior(patterns, fit_map(patterns), 0)


GUESSING = [0.0, 0.2, np.where(np.arange(12) % 2, 0.2, 0.0)]
ROLLOUTS = [8, 200, np.random.default_rng(0).choice([0, 1, 5], (5, 12))]


@pytest.mark.parametrize("guessing", GUESSING)
@pytest.mark.parametrize("n", ROLLOUTS)
def test_the_density_is_the_collapsed_one_and_the_prior_of_theta(
    guessing: object, n: object
) -> None:
    posterior = posterior_of(guessing, n)
    plain = CollapsedPosterior(posterior.patterns)
    found, wanted = [], []
    for u in np.random.default_rng(2).normal(0, 1, (4, posterior.coordinates.dimensions)):
        at, full = posterior.parameters(u), posterior.coordinates.place(u)
        log_prior, _ = posterior.coordinates.pull_back(u, full, np.zeros(len(full)))
        found.append(posterior.value_and_gradient(u)[0] - log_prior)
        wanted.append(plain.value(at, plain.grid(at)))
    np.testing.assert_allclose(np.diff(found), np.diff(wanted), atol=2e-4)


def test_both_coordinates_carry_the_same_prior_of_theta() -> None:
    posterior = posterior_of(0.0, 200)
    estimate = fit_map(posterior.patterns)
    whitened, other = Whitened(estimate), NonCentred(estimate)
    rng = np.random.default_rng(4)
    found, wanted = [], []
    for u in rng.normal(0, 1, (5, whitened.dimensions)):
        full = whitened.place(u)
        found.append(whitened.pull_back(u, full, np.zeros(len(full)))[0])
        # the other way: eta = theta / s at each log s, its density over theta, summed over log s
        log_density = []
        for shift in np.linspace(-9, 4, 4000):
            v = np.zeros(other.dimensions)
            v[-3] = shift
            s = estimate.s_theta * np.exp(shift)
            v[:-3] = helmert(5) @ full[:-2] / s
            log_density.append(other.pull_back(v, full, np.zeros(len(full)))[0] - 4 * np.log(s))
        wanted.append(logsumexp(log_density))
    np.testing.assert_allclose(np.diff(found), np.diff(wanted), atol=1e-3)


@pytest.mark.parametrize("guessing", GUESSING)
@pytest.mark.parametrize("n", ROLLOUTS)
def test_the_gradient_is_that_of_the_density(guessing: object, n: object) -> None:
    posterior = posterior_of(guessing, n)
    u = np.random.default_rng(3).normal(0, 1, posterior.coordinates.dimensions)
    steps = 1e-4 * np.eye(len(u))
    numeric = [
        (posterior.value_and_gradient(u + h)[0] - posterior.value_and_gradient(u - h)[0]) / 2e-4
        for h in steps
    ]
    np.testing.assert_allclose(posterior.value_and_gradient(u)[1], numeric, atol=1e-5)


def test_draws_beyond_the_windows_are_noticed_and_served_by_new_ones() -> None:
    posterior = posterior_of(0.0, 8)
    far = np.zeros(posterior.coordinates.dimensions)
    far[-1] = 12.0  # far beyond all that was looked at
    assert posterior.misfits([np.zeros(posterior.coordinates.dimensions)]) == []
    assert len(posterior.misfits([far])) == 1
    posterior.fit_windows([far, np.zeros(posterior.coordinates.dimensions)])
    assert posterior.misfits([far, np.zeros(posterior.coordinates.dimensions)]) == []


@pytest.mark.parametrize("guessing", [0.0, 0.25])
def test_collapsed_and_plain_posterior_agree_within_monte_carlo_error(guessing: float) -> None:
    rng = np.random.default_rng(6)
    n = np.where(rng.random((6, 15)) < 0.1, 0, 4)
    data = respond(rng, abilities(rng, 6), rng.normal(0, 1.5, 15), n, guessing)
    collapsed = fit_1pl(data, guessing=guessing, seed=1)
    plain = fit_1pl(data, engine="plain", guessing=guessing, seed=2)
    assert plain.min_ess_bulk is not None
    # four standard errors of the plain means; the collapsed ones are surer
    error = 4 / np.sqrt(min(plain.min_ess_bulk, 2000))
    for name in ("theta", "b"):
        mean, sd = getattr(plain, name), getattr(plain, f"{name}_sd")
        off = np.abs(getattr(collapsed, name) - mean) / sd
        assert off.max() < error, name
        np.testing.assert_allclose(getattr(collapsed, f"{name}_sd"), sd, rtol=2 * error)
    assert collapsed.s_b == pytest.approx(plain.s_b, abs=error * plain.draws.s_b.std())
    low, high = np.quantile(collapsed.draws.b, [0.05, 0.95], axis=0)
    inside = ((plain.draws.b > low) & (plain.draws.b < high)).mean(0)
    np.testing.assert_allclose(inside, 0.9, atol=0.04)


def test_mcmc_does_not_depend_on_the_order_of_models_and_items() -> None:
    rng = np.random.default_rng(1)
    data = respond(rng, abilities(rng, 6), rng.normal(0, 1.5, 20), 8)
    rows, columns = rng.permutation(6), rng.permutation(20)
    fit = fit_1pl(data, seed=1)
    moved = fit_1pl(data.select(models=rows, items=columns), seed=2)
    assert fit.min_ess_bulk is not None
    error = 3 * np.sqrt(2 / min(fit.min_ess_bulk, 2000))
    assert (np.abs(moved.theta - fit.theta[rows]) / fit.theta_sd[rows]).max() < error
    assert (np.abs(moved.b - fit.b[columns]) / fit.b_sd[columns]).max() < error


SOME = np.random.default_rng(9).integers(0, 9, (6, 10))
ONE_UNASKED = 8 * (np.arange(6) != 2)[:, None] * np.ones((1, 10), int)
ODD = {
    "one item": (SOME[:, :1], 8),
    "two items, two models": (SOME[:2, :2], 8),
    "one model": (SOME[:1], 8),
    "all right": (np.full((4, 6), 8), 8),
    "duplicated models": (np.concatenate([SOME[:1]] * 4), 8),
    "one answer a cell": (SOME > 4, 1),
    "very many rollouts": (SOME * 1000, 8000),
    "a model without rollouts": (np.minimum(SOME, ONE_UNASKED), ONE_UNASKED),
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in list(ODD)[2:]]


@pytest.mark.parametrize("name", [*list(ODD)[:2], *SLOW])
def test_odd_data_are_sampled(name: str) -> None:
    correct, n = ODD[name]
    fit = fit_1pl(matrix_of(correct, n), seed=1)
    assert fit.engine == "mcmc"
    assert fit.divergences is not None
    assert fit.divergences <= 5  # of 2,000; a check of the diagnosis tells them
    assert fit.max_rhat is not None
    assert fit.max_rhat <= 1.02
    assert fit.min_ess_bulk is not None
    assert fit.min_ess_bulk >= 400
    for values in (fit.theta, fit.b, fit.b_sd, *fit.draws):
        assert np.isfinite(values).all()


TWINS = matrix_of(np.concatenate([SOME, SOME], axis=1), 8)


@pytest.fixture(scope="module")
def twins() -> tuple[Fit1PL, list[tuple[int, int]]]:
    """A fit of items that stand there twice, and what it told of its progress."""
    told: list[tuple[int, int]] = []
    return fit_1pl(TWINS, seed=3, progress=lambda done, total: told.append((done, total))), told


def test_items_with_equal_data_get_equal_figures(
    twins: tuple[Fit1PL, list[tuple[int, int]]],
) -> None:
    fit, _ = twins
    np.testing.assert_array_equal(fit.b[:10], fit.b[10:])
    np.testing.assert_array_equal(fit.b_sd[:10], fit.b_sd[10:])


def test_guessing_on_many_distinct_items_is_fitted_by_laplace_and_says_so() -> None:
    rng = np.random.default_rng(1)
    data = respond(rng, abilities(rng, 12), rng.normal(0, 1.5, 1400), 4, 0.25)
    fit = fit_1pl(data, guessing=0.25)
    assert fit.engine == "laplace"
    assert fit.max_rhat is None
    assert fit_1pl(data, engine="map", guessing=0.25).engine == "map"


def test_progress_is_told_and_the_seed_fixes_the_draws(
    twins: tuple[Fit1PL, list[tuple[int, int]]],
) -> None:
    one, told = twins
    again = fit_1pl(TWINS, seed=3)
    np.testing.assert_array_equal(one.draws.b, again.draws.b)
    assert {total for _, total in told} == {3600}
    assert all(a <= b for (a, _), (b, _) in itertools.pairwise(told))


def test_ctrl_c_ends_the_sampling_instead_of_passing_for_its_end() -> None:
    script = (
        "import numpy as np, _thread, benchfill as bf\n"
        "y = np.random.default_rng(0).integers(0, 9, (30, 60))\n"
        "names = tuple(map(str, range(60)))\n"
        "m = bf.ResponseMatrix(names[:30], names, y, y * 0 + 8)\n"
        "seen = []\n"
        "def step(done, total):\n"
        "    if done: _thread.interrupt_main()\n"
        "try:\n"
        "    bf.fit_1pl(m, progress=step)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    start = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.stdout.strip() == "interrupted", ended.stderr
    assert time.monotonic() - start < 60
