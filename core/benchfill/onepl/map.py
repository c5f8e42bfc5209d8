"""Maximum a posteriori abilities by Newton's method on the collapsed posterior.

The difficulties are integrated out, so their estimates are posterior means given the abilities,
and their standard deviations carry the abilities' uncertainty (Laplace). ``s_theta`` is set by
empirical Bayes. Fast enough for interactive use and refits; always labelled ``map`` (docs/method,
section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, helmert
from scipy.linalg.lapack import dpocon

from ..errors import FitError
from .collapsed import CollapsedPosterior, Moments, Parameters
from .model import THETA_SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .model import ItemPatterns

MAX_STEPS = 200
TOLERANCE = 1e-10
SETTLED = 0.1  # a step this short leaves theta where s_theta can be judged by it


@dataclass(frozen=True)
class MapEstimate:
    """The mode, and a normal approximation around it.

    ``covariance`` (J+2, J+2) is of (theta, mu_b, log s_b), of rank J+1: theta sums to zero.
    ``b`` and ``b_sd`` are of the rows of the patterns, shape (R,).
    """

    parameters: Parameters
    s_theta: float
    covariance: NDArray[np.float64]
    b: NDArray[np.float64]
    b_sd: NDArray[np.float64]


def fit_map(patterns: ItemPatterns) -> MapEstimate:
    """Find the mode of the collapsed posterior.

    Raises
    ------
    FitError
        Newton's method did not converge.
    """
    posterior = CollapsedPosterior(patterns)
    basis = zero_sum_basis(patterns.n.shape[1])
    at, s_theta = _start(patterns), 1.0
    for _ in range(MAX_STEPS):
        known = posterior.at(at)
        moments = posterior.moments(at, known.grid, known)
        gradient, precision = _with_ability_prior(at, moments, s_theta, basis)
        factor = _uphill_factor(precision)
        step = cho_solve(factor, gradient)
        here = (at, moments.value, known.grid)
        moved = _search(posterior, here, s_theta, basis, (gradient, step))
        at = moved
        if np.abs(step).max() > SETTLED:
            continue
        covariance = basis @ cho_solve(factor, basis.T)
        updated = _empirical_s_theta(at.theta, covariance, s_theta)
        change = max(np.abs(step).max(), abs(updated - s_theta))
        s_theta = updated
        if change < TOLERANCE:
            break
    else:
        raise FitError(
            "the MAP fit did not converge; are the models' results on disjoint sets of items?"
        )
    return _estimate(posterior, at, s_theta, basis)


def zero_sum_basis(models: int) -> NDArray[np.float64]:
    """Orthonormal columns that span (theta with zero sum, mu_b, log s_b), shape (J+2, J+1)."""
    basis = np.zeros((models + 2, models + 1))
    basis[:models, : models - 1] = helmert(models).T if models > 1 else 0
    basis[models, models - 1] = basis[models + 1, models] = 1
    return basis


def _start(patterns: ItemPatterns) -> Parameters:
    right = patterns.weight @ patterns.correct
    tried = patterns.weight @ patterns.n
    rate = (right + 0.5) / (tried + 1)
    theta = np.log(rate / (1 - rate))
    return Parameters(theta - theta.mean(), float(-theta.mean()), 0.0)


def _with_ability_prior(
    at: Parameters, moments: Moments, s_theta: float, basis: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return gradient and negative Hessian in the basis, the prior of theta included."""
    models = len(at.theta)
    gradient, precision = moments.gradient.copy(), -moments.hessian
    gradient[:models] -= at.theta / s_theta**2
    precision[np.arange(models), np.arange(models)] += s_theta**-2
    return basis.T @ gradient, basis.T @ precision @ basis


def _uphill_factor(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Return the Cholesky factor; far from the mode the Hessian may be indefinite.

    Then its eigenvalues are lifted to stay uphill. They cost ten times the factor, and are looked
    at only where it fails or is ill-conditioned.
    """
    try:
        factor, lower = cho_factor(matrix)
    except LinAlgError:
        pass
    else:
        condition, _ = dpocon(factor, np.abs(matrix).sum(0).max())
        if condition > 1e-6:
            return factor, lower
    values, vectors = np.linalg.eigh(matrix)
    if values[0] <= 1e-8 * values[-1]:
        matrix = (vectors * np.maximum(np.abs(values), 1e-3)) @ vectors.T
    factor, lower = cho_factor(matrix)
    return factor, lower


def _search(
    posterior: CollapsedPosterior,
    start: tuple[Parameters, float, NDArray[np.float64]],
    s_theta: float,
    basis: NDArray[np.float64],
    direction: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Parameters:
    """Halve the Newton step until the density rises (Armijo); tiny steps are taken as they are."""
    at, value, grid = start
    gradient, step = direction
    # shortened as a whole: cut by its parts it might lead downhill
    step = step * min(1.0, 4 / max(np.abs(step).max(), 1e-300))
    full = basis @ step
    slope = float(gradient @ step)

    def log_prior(point: Parameters) -> float:
        return -0.5 * float(point.theta @ point.theta) / s_theta**2

    here = value + log_prior(at)
    size = 1.0
    while True:
        moved = Parameters(
            at.theta + size * full[:-2],
            at.mu_b + size * float(full[-2]),
            at.log_s_b + size * float(full[-1]),
        )
        if slope <= 1e-6 or size < 1e-6:
            return moved
        if posterior.value(moved, grid) + log_prior(moved) >= here + 1e-4 * size * slope:
            return moved
        size /= 2


def _empirical_s_theta(
    theta: NDArray[np.float64], covariance: NDArray[np.float64], s_theta: float
) -> float:
    """Maximise the expected log density of log s_theta (EM), by Newton's method on its fixed point.

    As a density of log s, which keeps s away from 0 where few models say little about it. With
    E = sum E[theta^2], d = J - 2 and v = s^2 EM goes to the root of v^2 / 4 + d v - E = 0. Where
    answers are few most of E comes from s itself: EM alone would then take hundreds of steps.
    """
    models = len(theta)
    if models == 1:
        return 1.0
    of_theta = covariance[:models, :models]
    energy = float(theta @ theta + np.trace(of_theta))
    freedom = models - 2
    scale = THETA_SCALE**-2
    variance = (-freedom + np.sqrt(freedom**2 + 4 * scale * energy)) / (2 * scale)
    # how E, and so log s, answers to log s: d theta = C (2 theta / s^2), d C = C (2 / s^2) C
    of_energy = (4 * float(theta @ of_theta @ theta) + 2 * float((of_theta**2).sum())) / s_theta**2
    rate = 0.5 * of_energy / (variance * (2 * scale * variance + freedom))
    moved = 0.5 * np.log(variance) - np.log(s_theta)
    return float(s_theta * np.exp(np.clip(moved / (1 - min(rate, 0.99)), -1, 1)))


def _estimate(
    posterior: CollapsedPosterior, at: Parameters, s_theta: float, basis: NDArray[np.float64]
) -> MapEstimate:
    known = posterior.at(at)
    moments = posterior.moments(at, known.grid, known)
    _, precision = _with_ability_prior(at, moments, s_theta, basis)
    covariance = basis @ cho_solve(_uphill_factor(precision), basis.T)
    carried = np.einsum("rk,rk->r", moments.b_slope @ covariance, moments.b_slope)
    return MapEstimate(
        parameters=at,
        s_theta=s_theta,
        covariance=covariance,
        b=moments.b,
        b_sd=np.sqrt(moments.b_variance + carried),
    )


def draw_parameters(
    estimate: MapEstimate, count: int, rng: np.random.Generator
) -> tuple[Parameters, ...]:
    """Draw abilities and hyper-parameters from the normal approximation."""
    values, vectors = np.linalg.eigh(estimate.covariance)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    at = estimate.parameters
    mode = np.concatenate([at.theta, [at.mu_b, at.log_s_b]])
    draws = mode + rng.standard_normal((count, len(mode))) @ root.T
    draws[:, :-2] -= draws[:, :-2].mean(1, keepdims=True)
    return tuple(Parameters(draw[:-2], float(draw[-2]), float(draw[-1])) for draw in draws)
