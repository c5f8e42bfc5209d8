"""What hangs on one model: difficulties fitted anew without each model in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from ..errors import FitError
from ..onepl.map import fit_map
from ..onepl.model import ItemPatterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..responses import ResponseMatrix


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
    failed: tuple[int, ...]
    moved: NDArray[np.float64]


def leave_models_out(
    responses: ResponseMatrix,
    guessing: NDArray[np.float64],
    b: NDArray[np.float64],
    models: NDArray[np.int64],
) -> LeftOut:
    """Refit by MAP without each of the given models, and compare with the MAP fit of all.

    Parameters
    ----------
    responses
        At least two models.
    guessing
        Of the items, shape (I,).
    b
        Difficulties by MAP from all models, shape (I,).
    models
        Positions of the models to leave out.
    """
    low, high = np.zeros(len(b)), np.zeros(len(b))
    refits, failed = [], []
    for left_out in models:
        rest = responses.select(models=[j for j in range(len(responses.models)) if j != left_out])
        answered = rest.n.any(0)
        patterns = ItemPatterns.of(rest, guessing)
        try:
            without = fit_map(patterns).b[patterns.row]
        except FitError:
            failed.append(int(left_out))
            continue
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
    return LeftOut(tuple(refits), tuple(failed), np.stack([low, high]))


def correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Pearson's r; NaN where one side is constant."""
    if len(x) < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's rho; NaN where one side is constant."""
    return correlation(rankdata(x), rankdata(y))
