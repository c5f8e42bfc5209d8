"""How far responses lie from what the 1PL expects: infit, outfit, item-rest correlation.

Mean squares of standardised residuals of binomial counts (Wright & Masters 1982, Rating Scale
Analysis): outfit is their mean over cells, infit their mean weighted by each cell's information;
1 is what the model expects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cells import Cells

_SURE = 1e-9  # a probability nearer to 0 or 1 than this would make one cell infinite


@dataclass(frozen=True)
class Residuals:
    """Residuals ``y - n p`` and their variances ``n p (1 - p)``, shape (I, J); p too."""

    p: NDArray[np.float64]
    residual: NDArray[np.float64]
    variance: NDArray[np.float64]
    observed: NDArray[np.bool_]

    @classmethod
    def of(cls, cells: Cells, theta: NDArray[np.float64], b: NDArray[np.float64]) -> Residuals:
        """Hold cells against the 1PL at given abilities (J,) and difficulties (I,)."""
        g = cells.guessing[:, None]
        p = np.clip(g + (1 - g) / (1 + np.exp(b[:, None] - theta)), _SURE, 1 - _SURE)
        n = cells.right + cells.wrong
        return cls(p, cells.right - n * p, n * p * (1 - p), n > 0)

    def where(self, kept: NDArray[np.bool_]) -> Residuals:
        """Keep some cells, as if the others had no rollout; `kept` is broadcast to (I, J)."""
        return Residuals(
            self.p,
            np.where(kept, self.residual, 0.0),
            np.where(kept, self.variance, 0.0),
            self.observed & kept,
        )

    def mean_squares(self, axis: int) -> NDArray[np.float64]:
        """Return infit and outfit of the items (axis 1) or models (axis 0); NaN without a cell."""
        square, cells = self.residual**2, self.observed.sum(axis)
        scaled = np.divide(square, self.variance, out=np.zeros_like(square), where=self.observed)
        parts = np.stack([square.sum(axis), scaled.sum(axis)])
        whole = np.stack([self.variance.sum(axis), cells])
        empty = np.full_like(parts, np.nan)
        return np.asarray(np.divide(parts, whole, out=empty, where=cells > 0))


@dataclass(frozen=True)
class RestScores:
    """Each model's success rate on all items but one, made ready to be correlated with.

    Parameters
    ----------
    weight
        Rest scores less their mean over the models that answered the item, shape (I, J); 0 where
        there is no answer.
    both
        Whether the model answered this item and another one, shape (I, J).
    tried
        Rollouts, 1 where there is none, shape (I, J).
    """

    weight: NDArray[np.float64]
    both: NDArray[np.bool_]
    tried: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Cells) -> RestScores:
        """Take the rest scores of the real responses."""
        n = cells.right + cells.wrong
        others = n.sum(0) - n
        rest = (cells.right.sum(0) - cells.right) / np.maximum(others, 1)
        both = (n > 0) & (others > 0)
        mean = np.where(both, rest, 0).sum(1) / np.maximum(both.sum(1), 1)
        return cls(np.where(both, rest - mean[:, None], 0.0), both, np.maximum(n, 1.0))

    def correlations(self, cells: Cells, items: NDArray[np.int64]) -> NDArray[np.float64]:
        """Correlate success rates with rest scores over the models, shape (C,).

        `items` (C,) are the items that the rows of `cells` are of. NaN where either is constant or
        fewer than three models have both.
        """
        weight, both = self.weight[items], self.both[items]
        rate = np.where(both, cells.right / self.tried[items], 0.0)
        count = both.sum(1)
        product = np.einsum("cj,cj->c", rate, weight)
        xx = np.einsum("cj,cj->c", rate, rate) - rate.sum(1) ** 2 / np.maximum(count, 1)
        yy = np.einsum("cj,cj->c", weight, weight)
        usable = (xx > 1e-10) & (yy > 1e-10) & (count >= 3)
        scale = np.sqrt(np.where(usable, xx * yy, 1.0))
        return np.where(usable, product / scale, np.nan)
