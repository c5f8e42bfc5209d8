"""New items that make the expected mismatch with a target smallest, over posterior draws.

W1 is the area between two distribution functions. With new items at given places the benchmark's
function rises by a step at each, so the expected area is a sum over the axis of convex functions of
the number h of new items at or below: minimised exactly, item by item, since the level h >= c is
worth having wherever it lowers the area, and these sets are nested (isotonic regression by
thresholds). Items that may land beside their place are moved in turn from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..targets import Target

CELLS = 1000  # of the scale from 0 to 1
LEAST_GAIN = 1e-9
MOST_MOVES = 1000  # of one item


@dataclass(frozen=True, eq=False)
class MismatchDraws:
    """Posterior draws of a benchmark, reduced to their distance from the target on a lattice.

    Parameters
    ----------
    first
        Where the lattice begins on the frozen z scale, a multiple of its step 1 / CELLS.
    excess
        Items at or below each cell beyond those that the target wants of the benchmark with all its
        new items, shape (S, M).
    weight
        W1, on the draw's own scale, of one item in excess over one cell, shape (S,).
    error
        How far each new item lands from its planned place, shape (S, T).
    """

    first: float
    excess: NDArray[np.float64]
    weight: NDArray[np.float64]
    error: NDArray[np.float64]

    @classmethod
    def of(
        cls, z: NDArray[np.float64], error: NDArray[np.float64], target: Target
    ) -> MismatchDraws:
        """Reduce draws z (S, I), in any order, for T new items."""
        low, high = z.min(1), z.max(1)
        first = np.floor(min(float(low.min()), 0.0) * CELLS) / CELLS
        count = int(np.ceil((max(float(high.max()), 1.0) - first) * CELLS))
        middle = first + (np.arange(count) + 0.5) / CELLS
        whole = z.shape[1] + error.shape[1]
        excess = np.empty((len(z), count))
        for s, draw in enumerate(z):
            present = np.searchsorted(np.sort(draw), middle, side="right")
            excess[s] = present - whole * target.cdf((middle - low[s]) / (high[s] - low[s]))
        return cls(float(first), excess, 1 / (CELLS * (high - low) * whole), error)

    def thresholds(self) -> NDArray[np.float64]:
        """Return the best places of items that land where they are meant to, sorted, (T,)."""
        allowed = self._allowed()
        places = np.empty(self.error.shape[1])
        for level in range(len(places)):
            with_it = np.abs(self.excess + (level + 1)) - np.abs(self.excess + level)
            tail = np.append(np.cumsum((self.weight @ with_it)[::-1])[::-1], 0.0)
            places[level] = allowed.start + int(np.argmin(tail[allowed]))
        return self.first + places / CELLS

    def moved(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move one item at a time until none gains, each landing beside its place as drawn."""
        places = places.copy()
        landed = self._cell(places + self.error)
        excess = self.excess.copy()
        cells = np.arange(excess.shape[1])
        for item in range(len(places)):
            excess += cells >= landed[:, item, None]
        idle = 0
        for move in range(MOST_MOVES):
            item = move % len(places)
            excess -= cells >= landed[:, item, None]
            place, gain = self._best(excess, self.error[:, item], places[item])
            idle += 1
            if gain > LEAST_GAIN:
                places[item], idle = place, 0
                landed[:, item] = self._cell(place + self.error[:, item])
            excess += cells >= landed[:, item, None]
            if idle >= len(places):
                break
        return np.sort(places)

    def _best(
        self, excess: NDArray[np.float64], error: NDArray[np.float64], now: float
    ) -> tuple[float, float]:
        """Return the best place of one item and how much it gains over where it is now."""
        with_it = self.weight[:, None] * (np.abs(excess + 1) - np.abs(excess))
        tail = np.zeros((len(excess), excess.shape[1] + 1))
        tail[:, :-1] = np.cumsum(with_it[:, ::-1], axis=1)[:, ::-1]
        allowed = self._allowed()
        edges = self.first + np.arange(allowed.start, allowed.stop) / CELLS
        places = np.append(edges, now)
        cost = np.take_along_axis(tail, self._cell(places + error[:, None]), axis=1).mean(0)
        best = int(np.argmin(cost[:-1]))
        return float(places[best]), float(cost[-1] - cost[best])

    def _allowed(self) -> slice:
        """Return the edges of cells from 0 to 1."""
        start = round(-self.first * CELLS)
        return slice(start, start + CELLS + 1)

    def _cell(self, z: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the first cell whose middle is at or above z; the number of cells beyond all."""
        cell = np.ceil((z - self.first) * CELLS - 0.5)
        return np.clip(cell, 0, self.excess.shape[1]).astype(np.intp)
