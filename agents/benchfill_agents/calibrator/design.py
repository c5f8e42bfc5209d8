"""Which models to ask next, and when a child's place is known well enough.

The next rollouts go to the models with the largest expected information about this child. A
model's ability is an estimate too, so its n rollouts of information w each tell about the child
with variance 1 / (n w) + var(theta): repeated asking of one model pays less and less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.child import ChildPosterior

    from .bench import Bench

DROP_BELOW = 0.05
RESOLVED = 1 / 8  # of the gap's width: finer than this a child's own rollouts decide nothing


@dataclass(frozen=True)
class Design:
    """Sizes of the sequential design, in rollouts."""

    first: int = 8
    batch: int = 12
    most: int = 480


def expected_information(
    bench: Bench, difficulty: NDArray[np.float64], mass: NDArray[np.float64], guessing: float
) -> NDArray[np.float64]:
    """Return each model's information a rollout, averaged over a distribution of difficulty.

    Shape (P,). It is p (1 - p) without guessing, and (dP/db)^2 / (P (1 - P)) in general.
    """
    p = expit(bench.theta[:, None] - difficulty)
    information = (1 - guessing) * p**2 * (1 - p) / (guessing + (1 - guessing) * p)
    return np.asarray(information @ mass)


def allocate(
    information: NDArray[np.float64],
    variance: NDArray[np.float64],
    n: NDArray[np.int64],
    size: int,
) -> NDArray[np.int64]:
    """Share out rollouts one by one, each to the model where it tells most; shape (P,)."""
    asked = n.astype(np.float64)
    floor = np.maximum(information, 1e-9)

    def told(count: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(count * floor / (1 + count * floor * variance))

    for _ in range(size):
        asked[np.argmax(told(asked + 1) - told(asked))] += 1
    return (asked - n).astype(np.int64)


def own_sd(posterior: ChildPosterior) -> float:
    """Return the standard deviation of b that is left were abilities and borders known, logits."""
    weight = posterior.mass.sum(1)
    used = weight > 1e-12
    mass, weight = posterior.mass[used], weight[used]
    mean = mass @ posterior.grid / weight
    variance = mass @ posterior.grid**2 / weight - mean**2
    return float(np.sqrt(np.clip(variance, 0, None) @ weight))
