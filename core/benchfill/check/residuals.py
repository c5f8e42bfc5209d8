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

    def mean_squares(self, axis: int) -> NDArray[np.float64]:
        """Return infit and outfit of the items (axis 1) or models (axis 0); NaN without a cell."""
        square, cells = self.residual**2, self.observed.sum(axis)
        scaled = np.divide(square, self.variance, out=np.zeros_like(square), where=self.observed)
        parts = np.stack([square.sum(axis), scaled.sum(axis)])
        whole = np.stack([self.variance.sum(axis), cells])
        empty = np.full_like(parts, np.nan)
        return np.asarray(np.divide(parts, whole, out=empty, where=cells > 0))


def rest_scores(cells: Cells) -> NDArray[np.float64]:
    """Return each model's success rate on all items but one, shape (I, J); NaN without any."""
    n = cells.right + cells.wrong
    right, tried = cells.right.sum(0) - cells.right, n.sum(0) - n
    empty = np.full_like(right, np.nan)
    return np.asarray(np.divide(right, tried, out=empty, where=tried > 0))


def item_rest(cells: Cells, rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlate an item's success rates with the models' rest scores over the models, shape (I,).

    NaN where either is constant or fewer than three models have both.
    """
    n = cells.right + cells.wrong
    both = (n > 0) & ~np.isnan(rest)
    count = np.maximum(both.sum(1), 1)

    def centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
        held = np.where(both, values, 0.0)
        return np.where(both, held - (held.sum(1) / count)[:, None], 0.0)

    x, y = centred(cells.right / np.maximum(n, 1)), centred(rest)
    xx, yy = (x**2).sum(1), (y**2).sum(1)
    usable = (xx > 1e-12) & (yy > 1e-12) & (both.sum(1) >= 3)
    product = (x * y).sum(1)
    scale = np.sqrt(np.where(usable, xx * yy, 1.0))
    return np.where(usable, product / scale, np.nan)
