"""Coordinates in which the collapsed posterior is easy to sample.

Both map a vector u to (theta, mu_b, log s_b) and carry the prior of theta: ``theta ~
ZeroSumNormal(s_theta)``, ``s_theta ~ HalfNormal(2)``. Where the data say clearly that the models
differ, u is a whitened theta with s_theta summed out. Where theta may be all zero that density has
a cusp there; then u is ``theta / s_theta`` and ``log s_theta`` (Papaspiliopoulos, Roberts &
Sköld 2007, doi:10.1214/088342307000000014).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .map import zero_sum_basis
from .model import B_SCALE, MU_SCALE, THETA_SCALE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .map import MapEstimate

RADIUS = 5.0  # standard deviations within which draws are expected
MAX_LOG_S_B = float(np.log(4.5 * B_SCALE))  # the prior of s_b ends there
MAX_LOG = 30.0  # of a scale: a first step may go anywhere, and must not overflow
_FAR = 8


def scale_of(log_scale: float) -> float:
    """Return a scale of its logarithm, and a finite one wherever a first step may go."""
    return math.exp(max(-MAX_LOG, min(float(log_scale), MAX_LOG)))  # NumPy: ten times the time


class Coordinates(Protocol):
    """A map from u to the parameters, with the prior of theta."""

    dimensions: int
    target_accept: float

    def place(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (theta, mu_b, log s_b), shape (J+2,)."""

    def pull_back(
        self, u: NDArray[np.float64], full: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the log prior of theta in u, and the whole gradient in u.

        `gradient` is that of the rest in (theta, mu_b, log s_b).
        """

    def outermost(self, rng: np.random.Generator) -> Sequence[NDArray[np.float64]]:
        """Return points u about as far out as draws will be."""


def coordinates_for(estimate: MapEstimate) -> Coordinates:
    """Choose by whether the posterior of theta comes near zero."""
    models = len(estimate.parameters.theta)
    if models == 1:
        return NonCentred(estimate)
    basis = zero_sum_basis(models)[:models, : models - 1]
    theta = basis.T @ estimate.parameters.theta
    covariance = basis.T @ estimate.covariance[:models, :models] @ basis
    away = float(theta @ np.linalg.solve(covariance, theta))
    near_zero = away < (np.sqrt(models - 1) + RADIUS) ** 2
    return NonCentred(estimate) if near_zero else Whitened(estimate)


class Whitened:
    """``(theta, mu_b, log s_b) = mode + root @ u``, root from the Laplace covariance."""

    target_accept = 0.8

    def __init__(self, estimate: MapEstimate) -> None:
        at = estimate.parameters
        models = len(at.theta)
        basis = zero_sum_basis(models)
        self.dimensions = models + 1
        self._mode = np.concatenate([at.theta, [at.mu_b, at.log_s_b]])
        self._root = basis @ np.linalg.cholesky(basis.T @ estimate.covariance @ basis)
        self._root[-2:] *= _no_wider_than_prior(estimate)[:, None]
        log_s = np.linspace(np.log(1e-3), np.log(20 * THETA_SCALE), 200)
        self._precision = np.exp(-2 * log_s)
        self._log_weight = -(models - 1) * log_s - 0.5 * np.exp(2 * log_s) / THETA_SCALE**2 + log_s

    def place(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Coordinates.place`."""
        full: NDArray[np.float64] = self._mode + self._root @ u
        return full

    def pull_back(
        self, u: NDArray[np.float64], full: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """See `Coordinates.pull_back`; s_theta is summed out on a grid."""
        del u  # the map is linear
        theta = full[:-2]
        log_density = self._log_weight - 0.5 * float(theta @ theta) * self._precision
        peak = log_density.max()
        density = np.exp(log_density - peak)
        total = density.sum()
        whole = gradient.copy()
        whole[:-2] -= float(density @ self._precision) / total * theta
        return float(peak + np.log(total)), self._root.T @ whole

    def outermost(self, rng: np.random.Generator) -> Sequence[NDArray[np.float64]]:
        """See `Coordinates.outermost`: anywhere, and where mu_b and log s_b move alone."""
        alone = np.linalg.pinv(self._root)[:, -2:].T
        points = np.concatenate(
            [rng.standard_normal((_FAR, self.dimensions)), alone, -alone], axis=0
        )
        points *= RADIUS / np.linalg.norm(points, axis=1, keepdims=True)
        return list(points)


class NonCentred:
    """``u = (theta / s_theta in a zero-sum basis, log s_theta, mu_b and log s_b whitened)``."""

    target_accept = 0.95  # weak data bend the posterior; short steps are cheap on so few numbers

    def __init__(self, estimate: MapEstimate) -> None:
        at = estimate.parameters
        models = len(at.theta)
        self.dimensions = models + 2
        self._basis = zero_sum_basis(models)[:models, : models - 1]
        self._log_s = float(np.log(estimate.s_theta))
        self._mode = np.array([at.mu_b, at.log_s_b])
        self._root = np.linalg.cholesky(estimate.covariance[-2:, -2:])
        self._root *= _no_wider_than_prior(estimate)[:, None]

    def place(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Coordinates.place`."""
        theta = self._s_theta(u) * (self._basis @ u[:-3])
        return np.concatenate([theta, self._mode + self._root @ u[-2:]])

    def pull_back(
        self, u: NDArray[np.float64], full: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """See `Coordinates.pull_back`."""
        s = self._s_theta(u)
        pulled = np.empty(len(u))
        pulled[:-3] = s * (self._basis.T @ gradient[:-2]) - u[:-3]
        pulled[-3] = gradient[:-2] @ full[:-2] + 1 - (s / THETA_SCALE) ** 2
        pulled[-2:] = self._root.T @ gradient[-2:]
        log_prior = -0.5 * float(u[:-3] @ u[:-3]) - 0.5 * (s / THETA_SCALE) ** 2 + u[-3]
        return float(log_prior), pulled

    def _s_theta(self, u: NDArray[np.float64]) -> float:
        return scale_of(self._log_s + u[-3])

    def outermost(self, rng: np.random.Generator) -> Sequence[NDArray[np.float64]]:
        """See `Coordinates.outermost`."""
        points = rng.standard_normal((_FAR, self.dimensions))
        points[:, -3] = rng.uniform(-1, 1, _FAR)
        ends = np.zeros((4, self.dimensions))
        ends[:, -2:] = [[RADIUS, 0], [-RADIUS, 0], [0, RADIUS], [0, -RADIUS]]
        points[:, -2:] *= RADIUS / 2
        return [*points, *ends]


def _no_wider_than_prior(estimate: MapEstimate) -> NDArray[np.float64]:
    """Return by what to shrink mu_b and log s_b: of few items Laplace may know no bounds."""
    sd = np.sqrt(np.diag(estimate.covariance)[-2:])
    return np.asarray(np.minimum(1, np.array([MU_SCALE, 1.0]) / sd))
