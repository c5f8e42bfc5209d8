"""The likelihood of item parameters with abilities ``theta ~ N(0, 1)`` integrated out.

``P(Y=1) = g_i + (1 - g_i) sigmoid(a_i theta + d_i)``. Abilities lie on an equally spaced grid: for
so smooth an integrand the trapezoidal rule is exact to 1e-8 once its step is no wider than the
narrowest posterior standard deviation of an ability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .curves import LogCurves, log_curves
from .model import ItemPatterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..responses import ResponseMatrix

_INNER = 2  # steps of Fisher scoring an EM step
_LONGEST = 2.0  # of one such step, logits


@dataclass(frozen=True)
class MarginalData:
    """Distinct models by distinct items; those that everybody or nobody solves are left out.

    Items in one row have one and the same likelihood, and so the same estimate. ``right`` and
    ``wrong`` (P, R) are sums over a row's items.

    Parameters
    ----------
    right, wrong
        Successes and failures, shape (P, R).
    persons
        Number of models with each pattern, shape (P,).
    guessing
        Guessing probability of each row, shape (R,).
    copies
        Number of items in each row, shape (R,).
    row
        Row of each item, shape (I,); -1 for those left out.
    constant
        Log likelihood of the items left out, at the limit of their difficulty.
    """

    right: NDArray[np.float64]
    wrong: NDArray[np.float64]
    persons: NDArray[np.float64]
    guessing: NDArray[np.float64]
    copies: NDArray[np.float64]
    row: NDArray[np.int64]
    constant: float

    @classmethod
    def of(
        cls, responses: ResponseMatrix, guessing: NDArray[np.float64], *, totals_suffice: bool
    ) -> MarginalData:
        """Merge equal items, then equal models.

        With a common slope and no guessing an item's total is all that its estimate depends on
        (`totals_suffice`), with a slope of its own it is its whole column.
        """
        extreme = responses.extreme_items
        kept = np.flatnonzero(~extreme)
        row = np.full(len(responses.items), -1)
        # at its limit an item that nobody solves is solved by guessing alone
        trials = responses.n.sum(0, dtype=np.int64) * (responses.correct.sum(0) == 0)
        constant = float(np.log1p(-guessing[extreme]) @ trials[extreme])
        if len(kept):
            some = responses.select(items=kept.tolist())
            merged = ItemPatterns.of(some, guessing[kept])
            if totals_suffice:
                right, tried, copies = merged.correct, merged.n, merged.weight
                row[kept], first = merged.row, np.unique(merged.row, return_index=True)[1]
            else:
                data = np.concatenate([guessing[None, kept], some.correct, some.n]).T
                distinct, first, inverse, counts = np.unique(
                    data, axis=0, return_index=True, return_inverse=True, return_counts=True
                )
                right, tried = np.split(distinct[:, 1:], 2, axis=1)
                row[kept], copies = inverse.reshape(-1), counts.astype(np.float64)
            guesses = guessing[kept][first]
        else:
            right = tried = np.empty((0, len(responses.models)))
            copies = guesses = np.empty(0)
        both = np.concatenate([right * copies[:, None], (tried - right) * copies[:, None]]).T
        distinct, persons = np.unique(both, axis=0, return_counts=True)
        right, wrong = np.split(distinct, 2, axis=1)
        return cls(right, wrong, persons.astype(np.float64), guesses, copies, row, constant)


@dataclass(frozen=True)
class Quadrature:
    """Equally spaced abilities and the log of their standard normal weights, shape (Q,)."""

    theta: NDArray[np.float64]
    log_weight: NDArray[np.float64]

    @classmethod
    def of(cls, step: float, reach: float) -> Quadrature:
        """Return a grid over [-reach, reach]."""
        theta = np.linspace(-reach, reach, 2 * int(np.ceil(reach / step)) + 1)
        log_weight = -0.5 * theta**2
        return cls(theta, log_weight - np.log(np.exp(log_weight).sum()))


def _row_sums(
    right: NDArray[np.float64], wrong: NDArray[np.float64], curves: LogCurves
) -> NDArray[np.float64]:
    return np.asarray((right * curves.log_p + wrong * curves.log_q).sum(1))


class MarginalLikelihood:
    """Log likelihood, score and observed information in (d, a) of the rows.

    Parameters are vectors ``[d (R,), a (R,)]``; who wants a common slope sums over the second half.
    """

    def __init__(self, data: MarginalData, grid: Quadrature) -> None:
        self.data, self.grid = data, grid

    def value_and_score(
        self, d: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the log likelihood and its derivatives in d and in a, shape (R,) each."""
        curves = self._curves(d, a)
        value, mass = self._posterior(curves)
        mass *= self.data.persons[:, None]
        score = (self.data.right.T @ mass) * curves.d_log_p
        score += (self.data.wrong.T @ mass) * curves.d_log_q
        return value + self.data.constant, score.sum(1), score @ self.grid.theta

    def em_step(
        self,
        d: NDArray[np.float64],
        a: NDArray[np.float64],
        max_slope: float,
        *,
        rescale: bool,
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the log likelihood here, and (d, a) after one step of EM with own slopes.

        With `rescale` the abilities' mean and variance are estimated too and then put back to 0 and
        1 by moving d and a (PX-EM: Liu, Rubin & Wu 1998, doi:10.1093/biomet/85.4.755): with few
        persons and many items plain EM would creep along those two directions.
        """
        theta, curves = self.grid.theta, self._curves(d, a)
        value, mass = self._posterior(curves)
        mass *= self.data.persons[:, None]
        right, wrong = self.data.right.T @ mass, self.data.wrong.T @ mass
        fit = _row_sums(right, wrong, curves)
        for _ in range(_INNER):
            moved_d, moved_a = self._scoring_step((d, a), curves, (right, wrong), max_slope)
            moved = self._curves(moved_d, moved_a)
            reached = _row_sums(right, wrong, moved)
            better = reached > fit
            d, a = np.where(better, moved_d, d), np.where(better, moved_a, a)
            fit = np.where(better, reached, fit)
            pairs = zip(moved, curves, strict=True)
            curves = LogCurves(*(np.where(better[:, None], *pair) for pair in pairs))
        if not rescale:
            return value + self.data.constant, d, a
        density = mass.sum(0) / mass.sum()
        mean = float(density @ theta)
        sd = float(np.sqrt(density @ (theta - mean) ** 2))
        shrink = np.minimum(1, max_slope / np.maximum(np.abs(a * sd), 1e-300))
        return value + self.data.constant, (d + a * mean) * shrink, a * sd * shrink

    def _scoring_step(
        self,
        at: tuple[NDArray[np.float64], NDArray[np.float64]],
        curves: LogCurves,
        counts: tuple[NDArray[np.float64], NDArray[np.float64]],
        max_slope: float,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (d, a) of each row after a step of Fisher scoring on its expected likelihood."""
        theta, (d, a), (right, wrong) = self.grid.theta, at, counts
        score = right * curves.d_log_p + wrong * curves.d_log_q
        # p'^2 / (p q) = -(d log p) (d log q)
        weight = (right + wrong) * -curves.d_log_p * curves.d_log_q
        i_dd, i_da, i_aa = weight.sum(1), weight @ theta, weight @ theta**2
        s_d, s_a = score.sum(1), score @ theta
        ridge = 1e-9 * (i_dd + i_aa) + 1e-12
        i_dd, i_aa = i_dd + ridge, i_aa + ridge
        by_a = (i_dd * s_a - i_da * s_d) / (i_dd * i_aa - i_da**2)
        by_a = np.clip(a + np.clip(by_a, -_LONGEST, _LONGEST), -max_slope, max_slope) - a
        by_d = (s_d - i_da * by_a) / i_dd
        return d + np.clip(by_d, -2 * _LONGEST, 2 * _LONGEST), a + by_a

    def abilities(
        self, d: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Return the posterior sd of each ability (P,), and the largest mass in an end cell."""
        _, mass = self._posterior(self._curves(d, a))
        theta = self.grid.theta
        mean = mass @ theta
        sd = np.sqrt(np.einsum("pq,pq->p", mass, (theta - mean[:, None]) ** 2))
        return sd, float(mass[:, [0, -1]].max())

    def information(
        self, d: NDArray[np.float64], a: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the observed information, and what one item of a row would tell at known theta.

        Shapes (2R, 2R) and (R, 2, 2). Louis 1982 (doi:10.1111/j.2517-6161.1982.tb01203.x):
        complete information less the variance of the complete score given the responses.
        """
        curves, theta = self._curves(d, a), self.grid.theta
        _, mass = self._posterior(curves)
        rows = len(d)
        lost = np.zeros((2 * rows, 2 * rows))
        curvature = np.zeros((rows, len(theta)))
        dd_log_p = curves.d_log_p * (1 + 2 * curves.d_log_q) - curves.d_log_p**2
        dd_log_q = curves.d_log_q * (1 + curves.d_log_q)
        for p, weight in enumerate(self.data.persons):
            right, wrong = self.data.right[p, :, None], self.data.wrong[p, :, None]
            score = right * curves.d_log_p + wrong * curves.d_log_q
            score = np.concatenate([score, score * theta])
            mean = score @ mass[p]
            lost += weight * ((score * mass[p]) @ score.T - np.outer(mean, mean))
            curvature -= weight * mass[p] * (right * dd_log_p + wrong * dd_log_q)
        one = np.stack([curvature.sum(1), curvature @ theta, curvature @ theta**2], 1)
        blocks = one[:, [0, 1, 1, 2]].reshape(rows, 2, 2)
        complete = np.zeros_like(lost)
        at = np.arange(rows)
        for k in range(2):
            for m in range(2):
                complete[at + k * rows, at + m * rows] = blocks[:, k, m]
        return complete - lost, blocks / self.data.copies[:, None, None]

    def _posterior(self, curves: LogCurves) -> tuple[float, NDArray[np.float64]]:
        """Return the log likelihood and the posterior of each ability on the grid, (P, Q)."""
        joint = self.data.right @ curves.log_p + self.data.wrong @ curves.log_q
        joint += self.grid.log_weight
        peak = joint.max(1, keepdims=True)
        mass = np.exp(joint - peak)
        total = mass.sum(1, keepdims=True)
        mass /= total
        return float(self.data.persons @ (peak + np.log(total))[:, 0]), mass

    def _curves(self, d: NDArray[np.float64], a: NDArray[np.float64]) -> LogCurves:
        logit = a[:, None] * self.grid.theta + d[:, None]
        return log_curves(logit, self.data.guessing[:, None])
