"""Where new items go when the places of all items are known: exact answers, and the plain one.

For given numbers of new items in each gap, equal parts are best: the sum of the k widest spacings
is symmetric and Schur-convex, and any other parts of a gap majorise the equal ones. What remains is
how many items go into which gap.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_EXACT = 50  # new items up to which a sum of several spacings is minimised exactly


def plain_midpoints(z: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the midpoints of the widest gaps, as the paper fills them.

    Parameters
    ----------
    z
        Difficulties, shape (I,), at least two that differ.
    count
        How many new items; when there are fewer gaps, the widest spacing is bisected again.

    Returns
    -------
    Sorted, shape (count,).
    """
    left, width = _widest_gaps(z, count)
    middle = left + width / 2
    places = list(middle)
    halves = [(-half, start) for half, start in zip(width / 2, left, strict=True)]
    halves += [(-half, start) for half, start in zip(width / 2, middle, strict=True)]
    heapq.heapify(halves)
    while len(places) < count:
        half, start = heapq.heappop(halves)
        places.append(start - half / 2)
        heapq.heappush(halves, (half / 2, start))
        heapq.heappush(halves, (half / 2, start - half / 2))
    return np.sort(places)


def equal_parts(z: NDArray[np.float64], count: int, k: int = 1) -> NDArray[np.float64]:
    """Return the places that make the sum of the k widest spacings smallest.

    Parameters
    ----------
    z
        Difficulties, shape (I,), at least two that differ.
    count
        How many new items.
    k
        Spacings in the sum; 1 for the widest gap.

    Returns
    -------
    Sorted, shape (count,).

    Notes
    -----
    The widest gap: the widest part is split again and again, which is exact. The sum of k > 1: with
    t for the k-th widest part the sum is the minimum over t of ``k t + sum max(part - t, 0)``; for
    a given t the gain of the m-th item in a gap of width w is ``min(t, max(w - t m, 0))``, falling
    in m, so that the largest gains are best, and t is one of the widths ``w / m``. Exact up to 50
    new items; beyond that the answer for the widest gap, whose parts are all about as wide.
    """
    left, width = _widest_gaps(z, count + k)
    if k == 1 or count > MOST_EXACT:
        numbers = _numbers(width, count, float(width[0]))
    else:
        numbers = _numbers(width, count, _threshold(width, count, k))
    parts = [
        start + wide * np.arange(1, number + 1) / (number + 1)
        for start, wide, number in zip(left, width, numbers, strict=True)
    ]
    return np.sort(np.concatenate(parts))


def _widest_gaps(
    z: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return left ends and widths of the widest gaps, widest first; at most `count`."""
    ordered = np.unique(z)
    width = np.diff(ordered)
    widest = np.argsort(-width, kind="stable")[: max(count, 1)]
    return ordered[widest], width[widest]


def _numbers(width: NDArray[np.float64], count: int, threshold: float) -> list[int]:
    """Give each new item to the gap where it gains most, of equals to that of the widest parts."""

    def worth(gap: int, number: int) -> tuple[float, float, int, int]:
        gain = min(threshold, max(float(width[gap]) - threshold * (number + 1), 0.0))
        return -gain, -float(width[gap]) / (number + 1), gap, number

    queue = [worth(gap, 0) for gap in range(len(width))]
    heapq.heapify(queue)
    numbers = [0] * len(width)
    for _ in range(count):
        *_, gap, number = heapq.heappop(queue)
        numbers[gap] = number + 1
        heapq.heappush(queue, worth(gap, number + 1))
    return numbers


def _threshold(width: NDArray[np.float64], count: int, k: int) -> float:
    """Return the width of the k-th widest part in the best split."""
    t = np.unique(width[:, None] / np.arange(1, count + 2))
    if len(width) == count + k:  # so many gaps stay whole that the k-th part is as wide as these
        t = t[t >= width[-1]]
    # a threshold is one of these quotients, which must count as a whole number of parts
    whole = np.floor(width / t[:, None] * (1 + 1e-12))
    full = np.clip(whole - 1, 0, None).sum(1)
    rest = np.where(whole > 0, np.clip(width - t[:, None] * whole, 0, None), 0)
    best_rests = np.cumsum(-np.sort(-rest, axis=1), axis=1)
    left = np.clip(count - full, 0, len(width)).astype(int)
    of_rests = np.where(left > 0, best_rests[np.arange(len(t)), left - 1], 0)
    gained = t * np.minimum(full, count) + of_rests
    total = k * t + np.clip(width - t[:, None], 0, None).sum(1) - gained
    return float(t[np.argmin(total)])
