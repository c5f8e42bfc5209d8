"""How much more responses scatter than ability and difficulty explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLEAR = 2.326  # one-sided 1% point of the normal distribution


def misfit_sd(
    correct: NDArray[np.integer[Any]],
    n: NDArray[np.integer[Any]],
    theta: NDArray[np.float64],
    b: NDArray[np.float64],
) -> float:
    """Return the standard deviation of an error that each cell's difficulty has of its own, logits.

    Repeated rollouts of a cell scatter by n p q; what its total is off beyond that is the cell's
    own. The moment estimate of its variance t^2 comes from
    E (y - n p)^2 = n p q + n (n - 1) (p q)^2 t^2, with the residuals' lost degrees of freedom made
    up for (Williams 1982, doi 10.2307/2347977).

    Parameters
    ----------
    correct, n
        Successes and rollouts, shape (J, I); n of 0 is a missing cell.
    theta, b
        Fitted abilities (J,) and difficulties (I,), logits.

    Returns
    -------
    float
        0 where the excess is not clear (one-sided 1% level), as always with one rollout a cell.
    """
    p = expit(theta[:, None] - b)
    scatter = n * p * (1 - p)
    own = n * np.maximum(n - 1, 0) * (p * (1 - p)) ** 2
    cells = int((n > 0).sum())
    free = max(cells - len(theta) - len(b) + 1, 1)
    excess = float(((correct - n * p) ** 2).sum() * cells / free - scatter.sum())
    # variance of (y - n p)^2 of a binomial y
    noise = float((scatter * (1 + (2 * n - 6) * p * (1 - p))).sum())
    if own.sum() <= 0 or excess < CLEAR * np.sqrt(max(noise, 0.0)):
        return 0.0
    return float(np.sqrt(excess / own.sum()))
