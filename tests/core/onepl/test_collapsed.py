"""The collapsed posterior: its derivatives, its grid, and the plain sum it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

from benchfill.onepl.collapsed import END_MASS, CollapsedPosterior, Parameters
from benchfill.onepl.model import (
    ItemPatterns,
    guessing_vector,
    log_probabilities,
    outer_log_probabilities,
    response_curves,
    summed_log_failure,
)
from support.simulated import respond

J, ITEMS = 5, 14


def case(guess: str, *, missing: bool) -> tuple[ItemPatterns, Parameters, np.ndarray, object]:
    rng = np.random.default_rng(3)
    n = rng.choice([0, 1, 4, 9], (J, ITEMS), p=[0.4, 0.2, 0.2, 0.2]) if missing else 4
    g = {"none": 0.0, "all": 0.25, "some": np.where(np.arange(ITEMS) % 2, 0.25, 0.0)}[guess]
    data = respond(rng, rng.normal(size=J), rng.normal(size=ITEMS), n)
    patterns = ItemPatterns.of(data, guessing_vector(data, g))
    at = Parameters(rng.normal(size=J), 0.3, np.log(1.2))
    return patterns, at, np.arange(-14, 14, 0.02), (data, guessing_vector(data, g))


CASES = [(g, m) for g in ("none", "all", "some") for m in (False, True)]


def moved(at: Parameters, direction: np.ndarray, size: float) -> Parameters:
    step = size * direction
    return Parameters(at.theta + step[:-2], at.mu_b + step[-2], at.log_s_b + step[-1])


@pytest.mark.parametrize(("guess", "missing"), CASES)
def test_gradient_and_hessian_are_the_derivatives_of_the_value(guess: str, missing: bool) -> None:
    patterns, at, grid, _ = case(guess, missing=missing)
    posterior = CollapsedPosterior(patterns)
    moments = posterior.moments(at, grid)
    h = 1e-5
    for k, axis in enumerate(np.eye(J + 2)):
        up, down = (posterior.moments(moved(at, axis, s), grid) for s in (h, -h))
        assert moments.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), abs=1e-5)
        np.testing.assert_allclose(
            moments.hessian[:, k], (up.gradient - down.gradient) / (2 * h), atol=1e-5, rtol=1e-6
        )
        np.testing.assert_allclose(moments.b_slope[:, k], (up.b - down.b) / (2 * h), atol=1e-6)


@pytest.mark.parametrize(("guess", "missing"), CASES)
def test_merged_rows_give_the_plain_sum_over_items_and_cells(guess: str, missing: bool) -> None:
    patterns, at, grid, (data, g) = case(guess, missing=missing)

    def density(other: Parameters) -> float:
        total = -0.5 * (other.mu_b / 2.5) ** 2 - 0.5 * (other.s_b / 2.5) ** 2 + other.log_s_b
        for i in range(ITEMS):
            p = g[i] + (1 - g[i]) * expit(other.theta[:, None] - grid)
            y, n = data.correct[:, i, None], data.n[:, i, None]
            row = (y * np.log(p) + (n - y) * np.log1p(-p)).sum(0)
            row = row + norm.logpdf(grid, other.mu_b, other.s_b) + np.log(grid[1] - grid[0])
            total += logsumexp(row)
        return float(total)

    posterior = CollapsedPosterior(patterns)
    other = Parameters(at.theta + 0.3 * np.arange(J), -0.5, 0.4)
    # without guessing a row's successes are averaged over its items: one constant, no more
    assert posterior.value(at, grid) - posterior.value(other, grid) == pytest.approx(
        density(at) - density(other), abs=1e-8
    )


@pytest.mark.parametrize("guessing", [0.0, 0.2])
def test_response_function_and_its_derivatives(guessing: float) -> None:
    x = np.linspace(-8, 8, 41)
    curves = response_curves(x, guessing)
    p = guessing + (1 - guessing) * expit(x)
    np.testing.assert_allclose(np.exp(curves.log_p), p, rtol=1e-12)
    np.testing.assert_allclose(np.exp(curves.log_q), 1 - p, rtol=1e-10)
    h = 1e-5
    up, down = response_curves(x + h, guessing), response_curves(x - h, guessing)
    for name in ("log_p", "log_q"):
        first = (getattr(up, name) - getattr(down, name)) / (2 * h)
        second = (getattr(up, f"d_{name}") - getattr(down, f"d_{name}")) / (2 * h)
        np.testing.assert_allclose(getattr(curves, f"d_{name}"), first, atol=1e-8)
        np.testing.assert_allclose(getattr(curves, f"dd_{name}"), second, atol=1e-8)


@pytest.mark.parametrize("guessing", [0.0, 0.2])
@pytest.mark.parametrize("far", [0.0, 290.0, 900.0])
def test_the_fast_outer_form_equals_the_careful_one(guessing: float, far: float) -> None:
    theta, b = np.array([-far, -1.0, 2.0, far]), np.linspace(-20 - far, 20, 31)
    fast = outer_log_probabilities(theta, b, guessing)
    careful = log_probabilities(theta[:, None] - b, guessing)
    np.testing.assert_allclose(fast, careful, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("far", [0.0, 18.0, 30.0, 900.0])
@pytest.mark.parametrize("models", [1, 16, 50])
def test_the_sum_of_log_failures_by_products_equals_the_plain_sum(models: int, far: float) -> None:
    theta, b = np.linspace(-1, 1 + far, models), np.linspace(-20, 20, 31)
    plain = log_probabilities(theta[:, None] - b, 0.0)[1].sum(0)
    np.testing.assert_allclose(summed_log_failure(theta, b), plain, rtol=1e-12, atol=1e-12)


def test_far_out_probabilities_stay_finite() -> None:
    for guessing in (0.0, 0.25):
        curves = response_curves(np.array([-900.0, -40.0, 40.0, 900.0]), guessing)
        for name in ("log_p", "log_q", "d_log_p", "d_log_q", "dd_log_p", "dd_log_q"):
            assert np.isfinite(getattr(curves, name)).all(), name


def test_the_grid_holds_all_mass_and_is_half_an_item_sd_fine() -> None:
    patterns, at, _, _ = case("none", missing=False)
    wide = Parameters(at.theta, 2.0, np.log(3.0))
    posterior = CollapsedPosterior(patterns)
    grid = posterior.grid(at, wide)
    for point in (at, wide):
        _, mass = posterior.conditional(point, grid)
        np.testing.assert_allclose(mass.sum(1), 1)
        assert mass[:, [0, -1]].max() < END_MASS
        mean = mass @ grid
        variance = (mass * (grid - mean[:, None]) ** 2).sum(1)
        assert grid[1] - grid[0] <= 0.5 * np.sqrt(variance.min())
