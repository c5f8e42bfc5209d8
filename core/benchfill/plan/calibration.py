"""How many rollouts it takes to measure that a new item lies where it was meant to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from ..measure import DifficultyScale
from ..onepl.model import response_curves
from .result import NewItem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Fit1PL

BEST_MODELS = 6
WANTED_P = 0.9
BORDER_DRAWS = 250
MOST_ROLLOUTS = 10**9  # beyond this a figure is no plan


def information(
    theta: NDArray[np.float64], b: NDArray[np.float64], guessing: float
) -> NDArray[np.float64]:
    """Return the Fisher information of one rollout about b, ``P'^2 / (P (1 - P))``, per logit^2.

    Without guessing that is P (1 - P). Shapes broadcast.
    """
    curves = response_curves(np.asarray(theta - b), guessing)
    slope = curves.d_log_p * np.exp(curves.log_p)
    return np.asarray(slope**2 * np.exp(-curves.log_p - curves.log_q))


def new_item(fit: Fit1PL, place: float, half_width: float) -> NewItem:
    """Describe a new item at a place on the frozen scale and the rollouts that measure it.

    Parameters
    ----------
    fit
        The fit of the existing items.
    place
        z of the new item.
    half_width
        Half the expected spacing around it, z; NaN where it is unknown.
    """
    scale = DifficultyScale.of(fit.b)
    b = float(scale.to_b(place))
    order = np.argsort(fit.b, kind="stable")
    above = int(np.clip(np.searchsorted(fit.b[order], b), 1, len(order) - 1))
    left, right = int(order[above - 1]), int(order[above])
    guessing = float(np.median(fit.guessing))
    each = information(fit.theta, np.array(b), guessing)
    best = np.argsort(-each, kind="stable")[:BEST_MODELS]
    rate = float(each[best].mean())
    wanted_se = half_width * scale.width / 4
    drawn = fit.draws.b[:: max(1, len(fit.draws.b) // BORDER_DRAWS)]
    apart = (drawn[:, left] - b, drawn[:, right] - b)
    return NewItem(
        z=place,
        b=b,
        left_item=fit.responses.items[left],
        right_item=fit.responses.items[right],
        half_width=half_width if np.isfinite(half_width) else None,
        models=tuple(fit.responses.models[int(j)] for j in best),
        rollouts=_rollouts(wanted_se, rate),
        rollouts_in_gap=_rollouts(_widest_error(*apart), rate),
    )


def _rollouts(se: float, rate: float) -> int | None:
    """Return the rollouts of information `rate` each that bring a standard error down to `se`."""
    if not (se > 0 and rate > 0):
        return None
    needed = se**-2 / rate
    return int(np.ceil(needed)) if needed < MOST_ROLLOUTS else None


def _widest_error(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return the largest standard error with which P(between the borders) is .9 on average.

    The estimate scatters about the item's place, and the posterior about the estimate: together
    twice the variance. 0 where even an exactly known item is between them less often.
    """

    def short(log_se: float) -> float:
        se = np.exp(log_se) * np.sqrt(2)
        inside = norm.cdf(right / se) - norm.cdf(left / se)
        return float(np.clip(inside, 0, None).mean()) - WANTED_P

    low, high = -15.0, 5.0
    if short(low) < 0:
        return 0.0
    return float(np.exp(brentq(short, low, high, xtol=1e-4)))
