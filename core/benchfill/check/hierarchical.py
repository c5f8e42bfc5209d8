"""The hierarchical 2PL, ``log a_i ~ N(0, tau)``, whose limit tau -> 0 is the 1PL.

``P(Y=1) = g_i + (1 - g_i) sigmoid(a_i (theta_j - b_i))`` with the 1PL's priors and ``tau ~
HalfNormal(1)``. Each item's (b, log a) is integrated out, abilities and hyper-parameters are set to
their mode (docs/method, section 2, model comparison). Both models go through the same code, so that
only the slopes tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from ..onepl.curves import log_curves
from ..onepl.model import B_SCALE, MU_SCALE
from .adaptive_nodes import AdaptiveNodes
from .shared_grid import SharedGrid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cells import Cells, Integral, ItemPosterior, Point

TAU_SCALE = 1.0
MIN_TAU, MAX_TAU = 0.01, 4.0
MOST_ON_GRID = 64  # rollouts of an item; beyond, its posterior is near enough to normal
_START_TAU = 0.3
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Hierarchical:
    """A fit: the mode of what is not integrated out, and the items given it."""

    at: Point
    items: ItemPosterior


def fit_hierarchical(cells: Cells, start: Point, *, slopes: bool) -> Hierarchical:
    """Fit the hierarchical 2PL, or with ``slopes=False`` the 1PL in the same way.

    Parameters
    ----------
    cells
        The data.
    start
        Where to begin; its ``s_theta`` is kept.
    slopes
        Whether items have slopes of their own.
    """
    search = _Search(cells, start, slopes=slopes)
    found = minimize(
        search.loss,
        search.packed(),
        jac=True,
        method="L-BFGS-B",
        bounds=search.bounds(),
        # looser, and the difference of two models in held-out cells is not settled to two digits
        options={"maxiter": 200, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-2},
    )
    at = search.unpacked(found.x)
    return Hierarchical(at, search.integral.posterior(at))


def log_predictive(fit: Hierarchical, cells: Cells) -> NDArray[np.float64]:
    """Return the log probability of cells that the fit has not seen, averaged over their items.

    Parameters
    ----------
    fit
        Fit of other cells of the same items and models.
    cells
        The unseen cells, empty elsewhere.

    Returns
    -------
    Shape (I, J), NaN where `cells` has no rollout. Of a cell's rollouts together, without binomial
    coefficients; abilities at their mode.
    """
    result = np.full(cells.right.shape, np.nan)
    item, model = np.nonzero(cells.right + cells.wrong)
    posterior = fit.items
    size = max(1, _CHUNK // posterior.b.shape[1])
    for first in range(0, len(item), size):
        i, j = item[first : first + size], model[first : first + size]
        away = fit.at.theta[j, None] - posterior.b[i]
        curves = log_curves(np.exp(posterior.log_a[i]) * away, cells.guessing[i, None])
        log_p = cells.right[i, j, None] * curves.log_p + cells.wrong[i, j, None] * curves.log_q
        peak = log_p.max(1, keepdims=True)
        total = np.einsum("cq,cq->c", np.exp(log_p - peak), posterior.mass[i])
        result[i, j] = peak[:, 0] + np.log(total)
    return result


class _Search:
    """The negative log density in scaled parameters, for the optimiser."""

    def __init__(self, cells: Cells, start: Point, *, slopes: bool) -> None:
        self.start = replace(start, tau=max(start.tau, _START_TAU) if slopes else 0.0)
        seen = cells.right + cells.wrong
        on_grid = seen.sum(1).max() <= MOST_ON_GRID
        self.integral: Integral = (
            SharedGrid(cells, start.s_b, slopes=slopes)
            if on_grid
            else AdaptiveNodes(cells, start.mu_b)
        )
        # about an ability's standard deviation, so that a step is alike in all parameters
        self.scale = 1 / np.sqrt(0.15 * seen.sum(0) + start.s_theta**-2)

    def packed(self) -> NDArray[np.float64]:
        at = self.start
        tau = [np.log(at.tau)] if at.tau else []
        return np.concatenate([at.theta / self.scale, [at.mu_b, np.log(at.s_b)], tau])

    def unpacked(self, x: NDArray[np.float64]) -> Point:
        models = len(self.scale)
        theta = x[:models] * self.scale
        return replace(
            self.start,
            theta=theta - theta.mean(),
            mu_b=float(x[models]),
            s_b=float(np.exp(x[models + 1])),
            tau=float(np.exp(x[models + 2])) if self.start.tau else 0.0,
        )

    def bounds(self) -> list[tuple[float | None, float | None]]:
        free: list[tuple[float | None, float | None]] = [(None, None)] * (len(self.scale) + 1)
        tau = [(float(np.log(MIN_TAU)), float(np.log(MAX_TAU)))] if self.start.tau else []
        return [*free, (-4.0, 3.0), *tau]

    def loss(self, x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        at = self.unpacked(x)
        value, by_theta, by_hyper = self.integral.derivatives(at)
        value -= 0.5 * float(at.theta @ at.theta) / at.s_theta**2
        by_theta = by_theta - at.theta / at.s_theta**2
        by_theta = (by_theta - by_theta.mean()) * self.scale
        value += -0.5 * (at.mu_b / MU_SCALE) ** 2 - 0.5 * (at.s_b / B_SCALE) ** 2 + np.log(at.s_b)
        value -= 0.5 * (at.tau / TAU_SCALE) ** 2
        by_prior = np.array([-at.mu_b / MU_SCALE**2, 1 - (at.s_b / B_SCALE) ** 2, 0.0])
        by_prior[2] = -((at.tau / TAU_SCALE) ** 2)
        by_hyper = by_hyper + by_prior
        gradient = np.concatenate([by_theta, by_hyper[: 3 if at.tau else 2]])
        return -value, -gradient
