"""Items integrated out on one grid of (b, log a) for all: exact, and cheap with few rollouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..onepl.curves import LogCurves, log_curves
from .cells import Cells, ItemPosterior, Point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_B_REACH, _A_REACH = 5.0, 4.0  # standard deviations of the priors
_A_STEP = 0.5
_CHUNK = 1 << 20


class SharedGrid:
    """Equally spaced standard scores of b and log a, so that the nodes move with the priors.

    The step in b is at most 0.7 of the smallest standard deviation that an item of slope 1 can
    have.
    """

    def __init__(self, cells: Cells, s_b: float, *, slopes: bool) -> None:
        most = float((cells.right + cells.wrong).sum(1).max())
        step = min(0.25, 0.7 / np.sqrt(1 + s_b**2 * most / 4))
        v, log_v = _normal(step, _B_REACH)
        u, log_u = _normal(_A_STEP, _A_REACH) if slopes else (np.zeros(1), np.zeros(1))
        self.v, self.u = np.repeat(v, len(u)), np.tile(u, len(v))
        self.log_weight = np.add.outer(log_v, log_u).ravel()
        self.items = len(cells.guessing)
        size = max(1, _CHUNK // len(self.v))
        self._parts = [
            _Part.of(cells, rows[first : first + size])
            for rows in (np.flatnonzero(cells.guessing == g) for g in np.unique(cells.guessing))
            for first in range(0, len(rows), size)
        ]

    def derivatives(self, at: Point) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the log likelihood, and derivatives in theta (J,) and (mu_b, log s_b, log tau)."""
        b, a = self._nodes(at)
        away = at.theta[:, None] - b
        value, by_theta = 0.0, np.zeros(len(at.theta))
        by_b, by_log_a = np.zeros(len(b)), np.zeros(len(b))
        for part, curves in self._curves(at):
            total, mass = part.mass(at.theta, (b, a), curves, self.log_weight)
            value += total
            by_logit = (part.tried.T @ mass) * curves.d_log_q
            if part.guessing > 0:
                by_logit += (part.right.T @ mass) * curves.d_log_p
            by_theta += by_logit @ a + part.linear.T @ (mass @ a)
            by_b -= by_logit.sum(0) + part.linear.sum(1) @ mass
            by_log_a += (by_logit * away).sum(0)
            by_log_a += (part.linear @ at.theta) @ mass - b * (part.linear.sum(1) @ mass)
        by_b, by_log_a = a * by_b, a * by_log_a
        by_hyper = [by_b.sum(), by_b @ (at.s_b * self.v), by_log_a @ (at.tau * self.u)]
        return value, by_theta, np.array(by_hyper)

    def posterior(self, at: Point) -> ItemPosterior:
        """Return the items given all else."""
        b, a = self._nodes(at)
        mass = np.empty((self.items, len(b)))
        for part, curves in self._curves(at):
            mass[part.rows] = part.mass(at.theta, (b, a), curves, self.log_weight)[1]
        return ItemPosterior(
            np.broadcast_to(b, mass.shape), np.broadcast_to(np.log(a), mass.shape), mass
        )

    def _nodes(self, at: Point) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return at.mu_b + at.s_b * self.v, np.exp(at.tau * self.u)

    def _curves(self, at: Point) -> Iterator[tuple[_Part, LogCurves]]:
        b, a = self._nodes(at)
        logit = a * (at.theta[:, None] - b)
        guessing, curves = -1.0, None
        for part in self._parts:
            if curves is None or part.guessing != guessing:
                guessing = part.guessing
                curves = log_curves(logit, np.array([guessing]))
            yield part, curves


@dataclass(frozen=True)
class _Part:
    """Some items of one guessing probability.

    Without guessing ``y log p + (n - y) log q = y a (theta - b) + n log q``: `linear` is y, `tried`
    n and `right` 0, and half of the matrix products fall away.
    """

    rows: NDArray[np.int64]
    guessing: float
    right: NDArray[np.float64]
    tried: NDArray[np.float64]
    linear: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Cells, rows: NDArray[np.int64]) -> _Part:
        guessing, right, wrong = (
            float(cells.guessing[rows[0]]),
            cells.right[rows],
            cells.wrong[rows],
        )
        if guessing > 0:
            return cls(rows, guessing, right, wrong, np.zeros_like(right))
        return cls(rows, guessing, np.zeros_like(right), right + wrong, right)

    def mass(
        self,
        theta: NDArray[np.float64],
        nodes: tuple[NDArray[np.float64], NDArray[np.float64]],
        curves: LogCurves,
        log_weight: NDArray[np.float64],
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the log likelihood of the items, and their posterior mass on the nodes."""
        b, a = nodes
        mass = self.tried @ curves.log_q
        if self.guessing > 0:
            mass += self.right @ curves.log_p
        else:
            mass += np.stack([self.linear @ theta, -self.linear.sum(1)], 1) @ np.stack([a, a * b])
        mass += log_weight
        peak = mass.max(1, keepdims=True)
        np.exp(np.subtract(mass, peak, out=mass), out=mass)
        total = mass.sum(1, keepdims=True)
        mass /= total
        return float((peak + np.log(total)).sum()), mass


def _normal(step: float, reach: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return equally spaced scores and the logs of their standard normal weights."""
    x = np.linspace(-reach, reach, 2 * int(np.ceil(reach / step)) + 1)
    log_weight = -0.5 * x**2
    return x, log_weight - np.log(np.exp(log_weight).sum())
