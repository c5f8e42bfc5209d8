"""New items that make the expected sum of the k widest spacings smallest, over posterior draws.

Sample-average approximation: the same draws (and the same errors of placement) for every plan that
is compared. With all new items but one held, the sum falls in each draw by a trapezoid of that
item's place: by its distance to the nearer end of the spacing it falls into, up to a cap. The mean
over draws is piecewise linear, so the best place of one item is exact; items are moved in turn
until none gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MOST_MOVES = 1500  # of one item; what a plan of a thousand items costs stays seconds
MOST_SWEEPS = 12
LEAST_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class SpacingDraws:
    """Posterior draws of a benchmark, reduced to what the sum of its widest spacings hangs on.

    No more than ``count + k`` spacings of a draw can be among the k widest after ``count`` new
    items, so the others are left out, which is exact.

    Parameters
    ----------
    left, right
        Ends of the widest spacings of each draw on the frozen z scale, shape (S, K).
    span
        Distance between the draw's easiest and hardest item, shape (S,).
    error
        How far each new item lands from its planned place, shape (S, T).
    """

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    span: NDArray[np.float64]
    error: NDArray[np.float64]

    @classmethod
    def of(cls, z: NDArray[np.float64], error: NDArray[np.float64], k: int) -> SpacingDraws:
        """Reduce draws z (S, I), in any order, for T new items and the k widest spacings."""
        kept = min(error.shape[1] + k, z.shape[1] - 1)
        left, right = np.empty((len(z), kept)), np.empty((len(z), kept))
        span = np.empty(len(z))
        for s, draw in enumerate(z):
            ordered = np.sort(draw)
            width = np.diff(ordered)
            widest = np.argpartition(-width, kept - 1)[:kept]
            left[s], right[s] = ordered[widest], ordered[widest + 1]
            span[s] = ordered[-1] - ordered[0]
        return cls(left, right, span, error)

    def top_sum(self, places: NDArray[np.float64], k: int) -> float:
        """Return the mean sum of the k widest spacings with new items at `places` (T,)."""
        start, end = self._parts(places, np.arange(len(places)))
        width = end - start
        k = min(k, width.shape[1])
        widest = -np.partition(-width, k - 1, axis=1)[:, :k]
        return float((widest.sum(1) / self.span).mean())

    def best_place(self, places: NDArray[np.float64], item: int, k: int) -> tuple[float, float]:
        """Return the best place of one item, and how much less it gains where it is now.

        Parameters
        ----------
        places
            Places of the items that are there, shape (t,); the others count, `item` is moved.
            ``item == t`` adds one.
        item
            Which is moved.
        k
            Spacings in the sum.
        """
        others = np.delete(np.arange(len(places)), item) if item < len(places) else None
        start, end = self._parts(places, np.arange(len(places)) if others is None else others)
        knots, value = self._gain(start, end, self.error[:, item], k)
        best = int(np.argmax(value))
        # where a stretch is equally good, its middle is furthest from where it is worse
        last = best
        while last + 1 < len(value) and value[last + 1] > value[best] - LEAST_GAIN:
            last += 1
        place = float(knots[best] + knots[last]) / 2
        now = np.interp(places[item], knots, value) if others is not None else 0.0
        return place, float(value[best] - now)

    def _parts(
        self, places: NDArray[np.float64], items: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return starts and ends of the spacings that the items leave, in order, (S, K + t).

        Sorted starts and sorted ends pair up, since spacings do not overlap; an item that falls
        into a spacing that was left out is its own start and end.
        """
        landed = places[items] + self.error[:, items]
        start = np.sort(np.concatenate([self.left, landed], axis=1), axis=1)
        end = np.sort(np.concatenate([self.right, landed], axis=1), axis=1)
        return start, end

    def _gain(
        self,
        start: NDArray[np.float64],
        end: NDArray[np.float64],
        error: NDArray[np.float64],
        k: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return knots in [0, 1] and the mean fall of the sum when an item is put there.

        Of a spacing of width w that is split into parts a <= w - a the sum falls by
        ``min(a, w - o_k, o_(k-1))``, with o the widths of the other spacings, widest first.
        """
        k = min(k, start.shape[1])
        width = end - start
        rank = _widest(width, k + 1)
        ranked = np.take_along_axis(width, rank, axis=1)
        top, following = ranked[:, :k], ranked[:, k:].sum(1, keepdims=True)
        cap = np.minimum(top - following, top / 2)
        cap[:, :-1] = np.minimum(cap[:, :-1], top[:, -1:])
        low = np.take_along_axis(start, rank[:, :k], axis=1) - error[:, None]
        high = low + top
        slope = np.broadcast_to(1 / (self.span[:, None] * len(start)), low.shape)
        place = np.concatenate([low, low + cap, high - cap, high], axis=None)
        change = np.concatenate([slope, -slope, -slope, slope], axis=None)
        order = np.argsort(place, kind="stable")
        place, change = place[order], change[order]
        value = np.concatenate([[0.0], np.cumsum(np.cumsum(change)[:-1] * np.diff(place))])
        knots = np.concatenate([[0.0], place[(place > 0) & (place < 1)], [1.0]])
        return knots, np.interp(knots, place, value, left=0.0, right=0.0)


def _widest(width: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the columns of the widest of each row, widest first, at most `count`."""
    count = min(count, width.shape[1])
    some = np.argpartition(-width, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(width, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def place_items(
    draws: SpacingDraws, starts: Iterable[NDArray[np.float64]], k: int
) -> NDArray[np.float64]:
    """Return the best places found from the given starts and from a greedy one, shape (T,)."""
    tried = sorted(starts, key=lambda one: draws.top_sum(one, k))[:2]
    tried.append(_greedy(draws, draws.error.shape[1], k))
    ended = [_descend(draws, one, k, MOST_MOVES // len(tried)) for one in tried]
    return np.sort(min(ended, key=lambda one: draws.top_sum(one, k)))


def _greedy(draws: SpacingDraws, count: int, k: int) -> NDArray[np.float64]:
    """Add one item at a time, each for the spacings that are left to all that still follow it.

    For the widest spacing alone the first of two equal gaps gains nothing by being split.
    """
    places = np.empty(0)
    for item in range(count):
        place, _ = draws.best_place(places, item, k + count - item - 1)
        places = np.append(places, place)
    return places


def _descend(
    draws: SpacingDraws, start: NDArray[np.float64], k: int, moves: int
) -> NDArray[np.float64]:
    """Move one item at a time to its best place until none gains or the moves are spent."""
    places, idle = start.copy(), 0
    for move in range(min(moves, MOST_SWEEPS * len(start))):
        item = move % len(start)
        place, gain = draws.best_place(places, item, k)
        if gain > LEAST_GAIN:
            places[item], idle = place, 0
        else:
            idle += 1
        if idle >= len(start):
            break
    return places
