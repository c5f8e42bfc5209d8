"""Choosing models whose abilities tell difficulties apart, evenly along the scale.

A rollout of a model with ability theta on an item of difficulty b tells of b with the Fisher
information ``(dP/db)^2 / (P (1 - P))``, which is largest where theta is near b. The information of
a panel is the sum over its models. A good panel has much of it *everywhere* between the borders of
interest, not very much of it somewhere: the criterion is the mean of its logarithm over places that
stand evenly on the scale of theta. That is, up to a factor of -1/2, the mean log standard error of
the difficulty of a new item; doubling the precision where there is little counts as much as
doubling it where there is plenty.

Where there are few panels, all are tried. Else models are taken one after the other, the best each
time, and then exchanged one for one until that helps no more (Fedorov 1972); all this from several
first models, since exchanges can end beside the best panel.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLACES = 201  # points on the scale at which information is looked at
_FEW_PANELS = 2000
_STARTS = 6
_GAIN = 1e-12  # of an exchange; less is rounding


def item_information(
    theta: NDArray[np.float64], b: NDArray[np.float64], guessing: float = 0.0
) -> NDArray[np.float64]:
    """Return what one rollout of each model tells of a difficulty.

    Parameters
    ----------
    theta
        Abilities, logits, shape (J,).
    b
        Difficulties, logits, shape (G,).
    guessing
        Probability of a right answer by chance, in [0, 1).

    Returns
    -------
    Fisher information about b, 1 / logits squared, shape (J, G).
    """
    solves = expit(theta[:, None] - b)
    # (dP/db)^2 / (P (1 - P)) with P = c + (1 - c) s, of which a factor (1 - c)(1 - s) cancels
    right = guessing + (1 - guessing) * solves
    return np.asarray((1 - guessing) * solves**2 * (1 - solves) / right)


def evenly_placed(intervals: list[tuple[float, float]], count: int = PLACES) -> NDArray[np.float64]:
    """Return places that stand evenly over intervals of the scale, logits, shape (count,)."""
    widths = np.array([high - low for low, high in intervals])
    ends = np.concatenate([[0.0], np.cumsum(widths)])
    along = (np.arange(count) + 0.5) / count * ends[-1]
    which = np.clip(np.searchsorted(ends, along, side="right") - 1, 0, len(intervals) - 1)
    lows = np.array([low for low, _ in intervals])
    return np.asarray(lows[which] + along - ends[which])


def mean_log_information(information: NDArray[np.float64], chosen: list[int]) -> float:
    """Return the criterion of a panel, from `item_information` of all models; -inf of none."""
    if not chosen:
        return -np.inf
    return float(np.log(information[chosen].sum(0)).mean())


def choose_models(information: NDArray[np.float64], size: int) -> list[int]:
    """Return the positions of the panel, in no particular order.

    Parameters
    ----------
    information
        Of each model at each place, shape (J, G).
    size
        Number of models, from 1 to J.
    """
    if comb(len(information), size) <= _FEW_PANELS:
        return _best_of_all(information, size)
    firsts = np.linspace(0, len(information) - 1, _STARTS).round().astype(int)
    starts = [_best_addition(information, []), *np.unique(firsts).tolist()]
    panels = (_exchange(information, _filled(information, [one], size)) for one in starts)
    return max(panels, key=lambda panel: mean_log_information(information, panel))


def _best_of_all(information: NDArray[np.float64], size: int) -> list[int]:
    panels = np.array(list(combinations(range(len(information)), size)))
    values = np.array([np.log(information[panel].sum(0)).mean() for panel in panels])
    best: list[int] = panels[int(np.argmax(values))].tolist()
    return best


def _filled(information: NDArray[np.float64], chosen: list[int], size: int) -> list[int]:
    while len(chosen) < size:
        chosen = [*chosen, _best_addition(information, chosen)]
    return chosen


def _best_addition(information: NDArray[np.float64], chosen: list[int]) -> int:
    with_each = np.log(information[chosen].sum(0) + information).mean(1)
    with_each[chosen] = -np.inf
    return int(np.argmax(with_each))


def _exchange(information: NDArray[np.float64], chosen: list[int]) -> list[int]:
    """Replace one model by another as long as that helps."""
    best = mean_log_information(information, chosen)
    improved = True
    while improved:
        improved = False
        for place in range(len(chosen)):
            others = chosen[:place] + chosen[place + 1 :]
            new = _best_addition(information, others)
            value = mean_log_information(information, [*others, new])
            if value > best + _GAIN:
                chosen = [*others[:place], new, *others[place:]]
                best, improved = value, True
    return chosen
