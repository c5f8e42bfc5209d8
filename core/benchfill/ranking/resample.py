"""Bootstrap of items and rollouts, for the benchmark's own weights and for the target's.

A replicate draws as many items as there are, with replacement, and weights what it drew: once each
on the benchmark, under the target by the mass nearest to them, in cells of the drawn items. Every
copy of an item has its rollouts drawn anew, with replacement too.

A copy's observed rate holds the noise of its rollouts already, so drawing them anew counts it
twice; and cells of fewer items smooth over what single items do. The one makes intervals wider, the
other narrower: tests/studies/ranking.py measures what is left of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..weights import cell_masses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ..responses import ResponseMatrix
    from ..targets import Target

_FLOATS = 1 << 21  # of one array of weights


class Rows(NamedTuple):
    """Rates of models, or differences of pairs, on the items; each of shape (R, I) or None.

    ``value`` is 0 where a row has no answer. ``variance`` is that of the mean of an item's redrawn
    rollouts, None when no cell has more than one. ``observed`` is None when nothing is missing.
    """

    value: NDArray[np.float64]
    variance: NDArray[np.float64] | None
    observed: NDArray[np.bool_] | None

    def minus(self, other: Rows) -> Rows:
        """Return the differences of two models' rows on the items that both answered."""
        there, value, variance = None, self.value - other.value, None
        if self.variance is not None and other.variance is not None:
            variance = self.variance + other.variance
        if self.observed is not None and other.observed is not None:
            there = self.observed & other.observed
            value = np.where(there, value, 0.0)
            variance = None if variance is None else np.where(there, variance, 0.0)
        return Rows(value, variance, there)


class ItemWeights(NamedTuple):
    """Weights of items in n replicates, shape (n, I): times drawn, and the target's weight."""

    drawn: NDArray[np.float64]
    target: NDArray[np.float64]


def model_rows(data: ResponseMatrix, models: slice | NDArray[np.int64]) -> Rows:
    """Return the rows of some models of a matrix."""
    n = data.n[models]
    trials = np.maximum(n, 1).astype(np.float64)
    value = data.correct[models] / trials
    return Rows(
        value=value,
        variance=value * (1 - value) / trials if int(data.n.max()) > 1 else None,
        observed=n > 0 if data.missing_cells else None,
    )


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Weighted means of rows, as observed and in replicates.

    Parameters
    ----------
    z
        Places of the items, shape (I,); items of equal z share a cell.
    target
        The wanted distribution of difficulty.
    replicates
        Number of replicates N.
    seed
        Seed of all draws; every call draws the same items, so that rows stay comparable.
    """

    z: NDArray[np.float64]
    target: Target
    replicates: int
    seed: int

    def observed(self, rows: Rows) -> NDArray[np.float64]:
        """Return the rows' means as observed, on the benchmark and under the target, (2, R).

        NaN for a row without an answer that carries weight.
        """
        weights = self._weights(np.ones((1, len(self.z))))
        return _ratio(_sums(rows, weights), _whole(rows, weights))[..., 0]

    def means(self, rows: Rows, stream: int) -> NDArray[np.float64]:
        """Return the rows' means in all replicates, shape (2, R, N); NaN as in `observed`.

        What redrawn rollouts add to a sum over items is taken as normal, with its exact mean,
        variance and covariance between benchmark and target. `stream` numbers independent draws.
        """
        found = np.empty((2, len(rows.value), self.replicates))
        for start, weights in self._replicates():
            sums = _sums(rows, weights)
            if rows.variance is not None:
                rng = np.random.default_rng([self.seed, 1, stream, start])
                sums += _rollout_noise(rows.variance, weights, rng)
            found[..., start : start + len(weights.drawn)] = _ratio(sums, _whole(rows, weights))
        return found

    def _replicates(self) -> Iterator[tuple[int, ItemWeights]]:
        items = len(self.z)
        rng = np.random.default_rng([self.seed, 0])
        size = max(1, _FLOATS // items)
        for start in range(0, self.replicates, size):
            picked = rng.integers(0, items, (min(size, self.replicates - start), items))
            drawn = np.stack([np.bincount(one, minlength=items) for one in picked])
            yield start, self._weights(drawn.astype(np.float64))

    def _weights(self, drawn: NDArray[np.float64]) -> ItemWeights:
        """Weight the items that were drawn, shape (n, I)."""
        places, place = np.unique(self.z, return_inverse=True)
        target = np.empty_like(drawn)
        for row, times in zip(target, drawn, strict=True):
            held = np.bincount(place, weights=times)
            there = np.flatnonzero(held)
            share = np.zeros(len(places))
            share[there] = cell_masses(places[there], self.target) / held[there]
            np.multiply(times, share[place], out=row)
        return ItemWeights(drawn, target)


def _sums(rows: Rows, weights: ItemWeights) -> NDArray[np.float64]:
    """Return the rows' weighted sums on the benchmark and under the target, shape (2, R, n)."""
    return np.stack([rows.value @ weights.drawn.T, rows.value @ weights.target.T])


def _whole(rows: Rows, weights: ItemWeights) -> NDArray[np.float64]:
    """Return the weight of all items that a row has an answer to, to broadcast to (2, R, n)."""
    if rows.observed is None:
        return np.array([float(rows.value.shape[1]), 1.0])[:, None, None]
    there = rows.observed.astype(np.float64)
    return np.stack([there @ weights.drawn.T, there @ weights.target.T])


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _rollout_noise(
    variance: NDArray[np.float64], weights: ItemWeights, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw what redrawn rollouts add to both sums, shape (2, R, n).

    An item that was drawn c times brings c independent means of its rollouts.
    """
    drawn, target = weights
    sd = np.sqrt(variance @ drawn.T)
    shared = np.divide(variance @ target.T, sd, out=np.zeros_like(sd), where=sd > 0)
    own = variance @ (target**2 / np.maximum(drawn, 1)).T - shared**2
    first, second = rng.standard_normal((2, *sd.shape))
    return np.stack([sd * first, shared * first + np.sqrt(np.maximum(own, 0)) * second])
