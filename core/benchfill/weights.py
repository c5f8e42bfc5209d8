"""The weights that turn a benchmark's items into an estimate under a target distribution.

docs/method, section 4: each item stands for the part of the target that is nearest to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .onepl.model import ItemPatterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .measure import DifficultyScale
    from .onepl import Fit1PL
    from .targets import Target


def target_weights(z: NDArray[np.float64], target: Target) -> NDArray[np.float64]:
    """Weight each item by the mass of the target that lies nearest to it.

    Parameters
    ----------
    z
        Difficulties of I >= 1 items on the z scale, in any order, shape (I,). They may lie outside
        [0, 1]: such an item gets the mass, if any, that is nearer to it than to every other.
    target
        The wanted distribution of difficulty.

    Returns
    -------
    Weights, shape (I,), not negative, with sum 1. Cells end half way between neighbours (a point
    of an empirical target that lies there belongs to the easier one); items of the same z share
    their cell's mass equally. docs/method, section 4.
    """
    places, place, count = np.unique(z, return_inverse=True, return_counts=True)
    share = cell_masses(places, target) / count
    return np.asarray(share[place.reshape(-1)])


def cell_masses(places: NDArray[np.float64], target: Target) -> NDArray[np.float64]:
    """Return the mass of the target nearest to each of sorted, distinct places, shape (G,)."""
    below = target.cdf((places[1:] + places[:-1]) / 2)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def shared_places(fit: Fit1PL, scale: DifficultyScale) -> NDArray[np.float64]:
    """Return z of the items, shape (I,), one value for all that have the same data.

    Their posteriors are the same. The means of ``plain`` draws differ by the sampler's noise, which
    would give the mass of a whole cluster to its two outermost items; all other engines merge such
    items themselves.
    """
    z = scale.to_z(fit.b)
    if fit.engine != "plain":
        return z
    row = ItemPatterns.of(fit.responses, fit.guessing).row
    mean = np.bincount(row, weights=z) / np.bincount(row)
    return np.asarray(mean[row], dtype=np.float64)
