"""What hangs on one model: difficulties fitted anew without each model in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from .cells import Cells
from .hierarchical import fit_hierarchical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .hierarchical import Hierarchical


@dataclass(frozen=True)
class Refit:
    """Difficulties without one model, against those with it.

    ``pearson`` and ``spearman`` over the items that others answered too, NaN where one side is
    constant; ``shift`` is the root mean square change of b in logits, a common shift taken away.
    """

    model: int
    pearson: float
    spearman: float
    shift: float


@dataclass(frozen=True)
class LeftOut:
    """All refits, and how far each item's difficulty moved: lowest and highest change (2, I)."""

    refits: tuple[Refit, ...]
    moved: NDArray[np.float64]


def leave_models_out(cells: Cells, whole: Hierarchical, models: NDArray[np.int64]) -> LeftOut:
    """Refit the 1PL without each of the given models, and compare with the fit of all.

    Parameters
    ----------
    cells
        The data of at least two models.
    whole
        The 1PL fit to all of them; refits begin there and keep its sd of the abilities.
    models
        Positions of the models to leave out.
    """
    b, at = whole.items.mean(whole.items.b), whole.at
    low, high = np.zeros(len(b)), np.zeros(len(b))
    refits = []
    for left_out in models:
        rest = np.delete(np.arange(len(at.theta)), left_out)
        some = Cells(cells.right[:, rest], cells.wrong[:, rest], cells.guessing)
        answered = (some.right + some.wrong).any(1)
        shift = at.theta[rest].mean()
        start = replace(at, theta=at.theta[rest] - shift, mu_b=at.mu_b - shift)
        items = fit_hierarchical(some, start, slopes=False).items
        without = items.mean(items.b)
        change = without - b
        change = np.where(answered, change - change[answered].mean(), 0.0)
        low, high = np.minimum(low, change), np.maximum(high, change)
        refits.append(
            Refit(
                model=int(left_out),
                pearson=correlation(b[answered], without[answered]),
                spearman=rank_correlation(b[answered], without[answered]),
                shift=float(np.sqrt(np.mean(change[answered] ** 2))),
            )
        )
    return LeftOut(tuple(refits), np.stack([low, high]))


def correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Pearson's r; NaN where one side is constant."""
    if len(x) < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's rho; NaN where one side is constant."""
    # items with equal totals have equal difficulties but for rounding, and must tie
    return correlation(rankdata(np.round(x, 6)), rankdata(np.round(y, 6)))
