"""Choosing items that lie where a target's quantiles lie, one item a quantile.

docs/method, section 4; paper arXiv 2610.29927, section D.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .targets import Target

TRIALS = 30


def target_quantiles(size: int, target: Target) -> NDArray[np.float64]:
    """Return the target's quantiles ``(k - 1/2) / size``, k = 1..size, ascending, shape (size,)."""
    return target.quantile((np.arange(size) + 0.5) / size)


def random_items(items: int, size: int, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Return the positions that random prunings of some items keep, 30 of shape (size,)."""
    rng = np.random.default_rng([seed, size])
    return tuple(np.sort(rng.choice(items, size, replace=False)) for _ in range(TRIALS))


def greedy_items(z: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Take for each place, lowest first, the nearest item that is not taken yet (the paper's way).

    Parameters
    ----------
    z
        Difficulties, shape (I,), in any order.
    places
        Sorted places, shape (M,), ``M <= I``.

    Returns
    -------
    Positions of the items taken, shape (M,), in the order of the places. Of two items equally far
    away the easier one is taken.
    """
    order = np.argsort(z, kind="stable")
    ordered = z[order].tolist()
    items = len(ordered)
    # position + 1 of the nearest free item at or below, and position of the one at or above
    below, above = list(range(items + 1)), list(range(items + 1))
    taken = []
    for place, start in zip(places.tolist(), np.searchsorted(z[order], places), strict=True):
        left, right = _free(below, int(start)), _free(above, int(start))
        # position 0 of `below` and position I of `above` stand for no item
        if left == 0:
            chosen = right
        elif right == items or place - ordered[left - 1] <= ordered[right] - place:
            chosen = left - 1
        else:
            chosen = right
        taken.append(chosen)
        below[chosen + 1], above[chosen] = chosen, chosen + 1
    return np.asarray(order[taken], dtype=np.int64)


def optimal_items(z: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Take one item for each place so that the sum of the distances is least.

    Parameters
    ----------
    z
        Difficulties, shape (I,), in any order.
    places
        Sorted places, shape (M,), ``M <= I``.

    Returns
    -------
    Positions of the items taken, shape (M,), ascending in z: the k-th belongs to the k-th place.

    Notes
    -----
    On a line the best assignment keeps the order, so its cost is the integral of |c(x)|, with the
    balance c(x) = items taken below x - places below x. Walking up the line, let f(c) be the least
    cost so far with balance c. An item makes f(c) the smaller of f(c) and f(c - 1), a place shifts
    f by one, and a stretch of length l adds l |c|. All three keep f convex, so dynamic programming
    needs only its sorted slopes: an item inserts a slope of 0, a stretch lowers the slopes left of
    c = 0 and raises those right of it, a place moves the least of the right ones to the left. Two
    heaps hold them with their items, and the items left of c = 0 at the end are the best choice:
    O((I + M) log I) time and O(I) memory for any M.
    """
    walk = np.concatenate([places, z])
    events = np.argsort(walk, kind="stable")
    left: list[tuple[float, int]] = []  # negated, so that the largest slope comes first
    right: list[tuple[float, int]] = []
    passed, start = 0, float(walk[events[0]])
    # slopes are kept as they were at the start: left ones fell, right ones rose by the way since
    for where, event in zip(walk[events].tolist(), events.tolist(), strict=True):
        way = where - start
        if event < len(places):
            passed += 1
            if right:
                slope, item = heappop(right)
                heappush(left, (-(slope + 2 * way), item))
            continue
        heappush(left, (-way, event - len(places)))
        if len(left) > passed:
            slope, item = heappop(left)
            heappush(right, (-slope - 2 * way, item))
    taken = np.array([item for _, item in left], dtype=np.int64)
    return taken[np.lexsort((taken, z[taken]))]


def _free(next_one: list[int], start: int) -> int:
    """Follow the links to a free position, and shorten them for the next time."""
    found = start
    while next_one[found] != found:
        found = next_one[found]
    while next_one[start] != found:
        next_one[start], start = found, next_one[start]
    return found
