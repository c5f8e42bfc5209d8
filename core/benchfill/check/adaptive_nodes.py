"""Items integrated out by adaptive Gauss-Hermite quadrature: cheap however many the rollouts.

Each item's nodes stand around its own mode (Naylor & Smith 1982, doi:10.2307/2347995).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..onepl.curves import log_curves
from .cells import CHUNK, Cells, ItemPosterior, Point
from .item_modes import ItemModes, find_modes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIT_NODES, _FINAL_NODES = (5, 5), (9, 7)
_FIT_NODES_1PL = 9


class AdaptiveNodes:
    """Nodes in (b, log a) around each item's mode; modes are remembered from call to call."""

    def __init__(self, cells: Cells, mu_b: float) -> None:
        self.cells = cells
        items = len(cells.guessing)
        self._modes = ItemModes(np.full(items, mu_b), np.zeros(items), np.zeros((3, items)))

    def derivatives(self, at: Point) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the log likelihood, and derivatives in theta (J,) and (mu_b, log s_b, log tau).

        By Fisher's identity, the expected derivative of the complete density.
        """
        nodes = _FIT_NODES if at.tau else (_FIT_NODES_1PL, 1)
        value, items, by_theta = self._integrate(at, nodes)
        away = (items.b - at.mu_b) / at.s_b
        by_hyper = [
            (items.mass * away).sum() / at.s_b,
            (items.mass * (away**2 - 1)).sum(),
            (items.mass * ((items.log_a / at.tau) ** 2 - 1)).sum() if at.tau else 0.0,
        ]
        return value, by_theta, np.array(by_hyper)

    def posterior(self, at: Point) -> ItemPosterior:
        """Return the items given all else."""
        return self._integrate(at, _FINAL_NODES)[1]

    def _integrate(
        self, at: Point, nodes: tuple[int, int]
    ) -> tuple[float, ItemPosterior, NDArray[np.float64]]:
        self._modes = find_modes(self.cells, at, self._modes)
        x, log_x = _hermite(nodes[0])
        y, log_y = _hermite(nodes[1]) if at.tau else (np.zeros(1), np.zeros(1))
        x, y = np.repeat(x, len(y)), np.tile(y, len(x))
        b, log_a, log_volume = self._modes.nodes(x, y)
        prior = np.add.outer(log_volume, np.add.outer(log_x, log_y).ravel())
        prior -= 0.5 * ((b - at.mu_b) / at.s_b) ** 2 + np.log(at.s_b)
        if at.tau:
            prior -= 0.5 * (log_a / at.tau) ** 2 + np.log(at.tau)
        mass, by_theta, value = np.empty_like(b), np.zeros(len(at.theta)), 0.0
        size = max(1, CHUNK // (len(at.theta) * b.shape[1]))
        for first in range(0, len(mass), size):
            part = slice(first, first + size)
            a = np.exp(log_a[part])
            logit = a[:, None, :] * (at.theta[:, None] - b[part, None, :])
            curves = log_curves(logit, self.cells.guessing[part, None, None])
            right, wrong = self.cells.right[part, :, None], self.cells.wrong[part, :, None]
            joint = (right * curves.log_p + wrong * curves.log_q).sum(1) + prior[part]
            peak = joint.max(1, keepdims=True)
            held = np.exp(joint - peak)
            total = held.sum(1, keepdims=True)
            held /= total
            value += float((peak + np.log(total)).sum())
            mass[part] = held
            score = right * curves.d_log_p + wrong * curves.d_log_q
            by_theta += np.einsum("ijq,iq->j", score, held * a)
        return value, ItemPosterior(b, log_a, mass), by_theta


def _hermite(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes of a standard normal, and log weights over its density."""
    x, weight = np.polynomial.hermite_e.hermegauss(count)
    return x, np.log(weight) + 0.5 * x**2 - 0.5 * np.log(2 * np.pi)
