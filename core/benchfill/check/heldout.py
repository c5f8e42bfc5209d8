"""1PL against 2PL by how well they predict cells that they have not seen.

Decided here and not by BIC: with few models BIC picks either by the choice of its n (docs/method,
section 2, model comparison).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from .hierarchical import fit_hierarchical, log_predictive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cells import Cells, Point
    from .hierarchical import Hierarchical

_CONFIDENCE = 0.975


@dataclass(frozen=True)
class HeldOut:
    """Held-out cells compared.

    Parameters
    ----------
    cells
        Number of cells, each held out once.
    difference, se
        Mean over the cells of log P(2PL) - log P(1PL), nats, and its standard error.
    critical
        Size of ``difference / se`` from which on it is called clear: a two-sided test at 5% with
        Student's t, as few models make few clusters.
    one, two
        The fits of the 1PL and the 2PL to all cells.
    """

    cells: int
    difference: float
    se: float
    critical: float
    one: Hierarchical
    two: Hierarchical


def compare_held_out(
    cells: Cells, start: Point, *, folds: int, rng: np.random.Generator
) -> HeldOut:
    """Hold out the cells of each fold in turn, and predict them by both models.

    Parameters
    ----------
    cells
        The data.
    start
        Where the fits begin, such as the mode of the 1PL of all cells.
    folds
        Number of folds; whole cells are held out, with all their rollouts.
    rng
        Source of randomness, for the folds.
    """
    fold = assign_folds(cells, folds, rng)
    one = fit_hierarchical(cells, start, slopes=False)
    two = fit_hierarchical(cells, start, slopes=True)
    gain = np.full(fold.shape, np.nan)
    for k in range(folds):
        out = fold == k
        if not out.any():
            continue
        seen, unseen = cells.where(~out), cells.where(out)
        by_two = log_predictive(fit_hierarchical(seen, two.at, slopes=True), unseen)
        by_one = log_predictive(fit_hierarchical(seen, one.at, slopes=False), unseen)
        gain[out] = (by_two - by_one)[out]
    return HeldOut(*_mean_and_error(gain), one, two)


def assign_folds(cells: Cells, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Give each cell a fold, shape (I, J); -1 without a rollout.

    An item's cells are dealt out in turn, from a fold at random on, so that an item with two cells
    or more is never without data, and a model loses about a share of 1/folds.
    """
    tried = (cells.right + cells.wrong) > 0
    rank = np.argsort(np.argsort(np.where(tried, rng.random(tried.shape), np.inf), 1), 1)
    dealt = (rank + rng.integers(folds, size=(len(tried), 1))) % folds
    return np.where(tried, dealt, -1)


def _mean_and_error(gain: NDArray[np.float64]) -> tuple[int, float, float, float]:
    """Return cells, mean, standard error and critical value; NaN in `gain` is no cell.

    Cells of one item go together, and so do those of one model: clusters in both directions
    (Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136), never below those of items alone.
    """
    known = ~np.isnan(gain)
    cells = int(known.sum())
    mean = float(gain[known].mean())
    away = np.where(known, gain - mean, 0.0)
    by_item, by_model = (_cluster_variance(away.sum(axis)) for axis in (1, 0))
    variance = max(by_item, by_item + by_model - float((away**2).sum()))
    critical = float(student.ppf(_CONFIDENCE, max(min(gain.shape) - 1, 1)))
    return cells, mean, float(np.sqrt(variance)) / cells, critical


def _cluster_variance(sums: NDArray[np.float64]) -> float:
    return float((sums**2).sum() * len(sums) / max(len(sums) - 1, 1))
