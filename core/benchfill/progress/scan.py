"""Where along the difficulties a model has become better: a scan over intervals.

The maximum, over intervals of at least three items that are neighbours in difficulty, of the
*standardised* sum of ``after - E[after | total]``; its null by permuting before and after within
each item (docs/method, section 5). One p-value for all intervals together.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from .null import SMALLEST_P, Lattice, TwoTimes, null_of_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .setting import ProgressTest

LEAST_ITEMS = 3
MOST_BLOCKS = 1000  # neighbours beyond this are taken together, so that a scan takes seconds
ALL_WIDTHS = 300  # up to so many blocks every interval is looked at
NARROW = 32  # with more, every width up to here, and then each 10% wider than the last
GROWTH = 1.1
AT_ONCE = 4_000_000  # numbers drawn at a time
IN_CACHE = 1 << 17  # numbers scanned at a time
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Windows:
    """The intervals of a scan.

    Parameters
    ----------
    first
        Position of each block's first item, and the number of items; shape (blocks + 1,). Items of
        equal difficulty share a block: an interval holds all of them or none.
    widths
        Widths of the intervals, in blocks.
    scale
        For each width what the sum from each block on is multiplied with: 1 / its standard
        deviation; 0 for an interval with too few items, or in which nothing can change.
    """

    first: NDArray[np.int64]
    widths: tuple[int, ...]
    scale: tuple[NDArray[np.float64], ...]

    @property
    def count(self) -> int:
        """Number of intervals that are looked at."""
        return int(sum(np.count_nonzero(scale) for scale in self.scale))

    @property
    def complete(self) -> bool:
        """Whether every interval between two difficulties is among them."""
        return len(self.first) - 1 <= ALL_WIDTHS

    def scores(self, excess: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of all intervals of each width; `excess` has shape (B, blocks).

        All in one buffer: each is overwritten by the next.
        """
        sums = np.pad(np.cumsum(excess, axis=1), ((0, 0), (1, 0)))
        buffer = np.empty_like(sums)
        for width, scale in zip(self.widths, self.scale, strict=True):
            scores = buffer[:, : len(scale)]
            np.subtract(sums[:, width:], sums[:, :-width], out=scores)
            scores *= scale
            yield scores

    def maxima(self, excess: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the greatest score of each row of `excess`, (B, blocks) to (B,); at least 0."""
        best = np.zeros(len(excess))
        for scores in self.scores(excess):
            np.maximum(best, scores.max(1), out=best)
        return best

    def best(self, excess: NDArray[np.float64]) -> tuple[int, int] | None:
        """Return the items (first, past the last) of the best interval; `excess` is (blocks,)."""
        best, place = 0.0, None
        for width, (scores,) in zip(self.widths, self.scores(excess[None]), strict=True):
            at = int(scores.argmax())
            if scores[at] > best + EQUAL:
                best, place = float(scores[at]), (at, at + width)
        return None if place is None else (int(self.first[place[0]]), int(self.first[place[1]]))


class Scan(NamedTuple):
    """What a scan found.

    ``items`` are the positions (first, past the last) of the best interval in the given order,
    None where no interval has a positive score. ``critical`` is the score that the best interval
    exceeds with probability at most alpha if nothing has changed.
    """

    items: tuple[int, int] | None
    score: float
    p: float
    critical: float
    method: Literal["enumeration", "monte_carlo"]


def windows_of(z: NDArray[np.float64], variance: NDArray[np.float64]) -> Windows:
    """Lay out the intervals of a scan.

    Parameters
    ----------
    z
        Difficulties, sorted, shape (I,).
    variance
        Variance of the successes after on each item if nothing has changed, shape (I,).
    """
    first = _blocks(z)
    blocks = len(first) - 1
    items, spread = first, np.concatenate([[0.0], np.cumsum(variance)])[first]
    widths, scales = [], []
    for width in _widths(blocks):
        inside = items[width:] - items[:-width]
        square = spread[width:] - spread[:-width]
        usable = (inside >= LEAST_ITEMS) & (square > EQUAL)
        if usable.any():
            widths.append(width)
            scales.append(np.where(usable, np.where(usable, square, 1.0) ** -0.5, 0.0))
    return Windows(first, tuple(widths), tuple(scales))


def scan_intervals(
    responses: TwoTimes, windows: Windows, test: ProgressTest, rng: np.random.Generator
) -> Scan:
    """Find the interval in which the model has gained most, and test it against chance.

    Parameters
    ----------
    responses
        Responses before and after, items sorted by difficulty.
    windows
        Intervals from `windows_of`.
    test
        With B permutations of before and after within items, p = (1 + #{at least as great}) /
        (B + 1); where no more than B outcomes are possible they are enumerated, and p is exact.
        With randomised ties p is uniform under the null, and no longer conservative.
    rng
        Source of the permutations, and of the lot that decides ties.

    Returns
    -------
    Scan
    """
    nulls = _block_nulls(responses, windows.first)
    excess = np.add.reduceat(responses.excess, windows.first[:-1])
    seen = windows.maxima(excess[None])[0]
    outcomes = math.prod(len(null.mass) for null in nulls)
    if outcomes <= test.permutations:
        maxima, weight = _enumerated(nulls, windows)
        own, whole = 0.0, 1.0
    else:
        # whole numbers until the end: (1 + 4) / 100 is exactly the level it is compared with
        maxima = _drawn(nulls, windows, test.permutations, rng)
        weight, own, whole = np.ones(test.permutations), 1.0, test.permutations + 1.0
    above = float(weight[maxima > seen + EQUAL].sum())
    equal = own + float(weight[np.abs(maxima - seen) <= EQUAL].sum())
    p = (above + (rng.random() if test.randomised_ties else 1.0) * equal) / whole
    return Scan(
        items=windows.best(excess),
        score=float(seen),
        p=min(max(p, SMALLEST_P), 1.0),
        critical=_critical(maxima, weight, test.alpha),
        method="enumeration" if outcomes <= test.permutations else "monte_carlo",
    )


def _blocks(z: NDArray[np.float64]) -> NDArray[np.int64]:
    first = np.concatenate([[0], np.flatnonzero(np.diff(z) > 1e-12) + 1])
    if len(first) > MOST_BLOCKS:
        first = first[np.linspace(0, len(first), MOST_BLOCKS, endpoint=False).astype(np.int64)]
    return np.append(first, len(z)).astype(np.int64)


def _widths(blocks: int) -> list[int]:
    if blocks <= ALL_WIDTHS:
        return list(range(1, blocks + 1))
    widths = list(range(1, NARROW + 1))
    while widths[-1] < blocks:
        widths.append(min(int(np.ceil(widths[-1] * GROWTH)), blocks))
    return widths


def _block_nulls(responses: TwoTimes, first: NDArray[np.int64]) -> list[Lattice]:
    return [null_of_sum(responses.take(slice(a, b))) for a, b in itertools.pairwise(first)]


def _means(nulls: list[Lattice]) -> NDArray[np.float64]:
    return np.array([null.start + null.mass @ np.arange(len(null.mass)) for null in nulls])


def _drawn(
    nulls: list[Lattice], windows: Windows, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the maximum `count` times; a block's sum is drawn from its exact distribution."""
    mean = _means(nulls)
    cumulative = [np.cumsum(null.mass[:-1]) for null in nulls]
    maxima = np.empty(count)
    step = max(1, AT_ONCE // len(nulls))
    for begin in range(0, count, step):
        size = min(step, count - begin)
        excess = np.empty((size, len(nulls)))
        for block, (null, edges) in enumerate(zip(nulls, cumulative, strict=True)):
            drawn = np.searchsorted(edges, rng.random(size), side="right") if len(edges) else 0
            excess[:, block] = null.start + drawn - mean[block]
        rows = max(1, IN_CACHE // len(nulls))
        for row in range(0, size, rows):
            part = excess[row : row + rows]
            maxima[begin + row : begin + row + len(part)] = windows.maxima(part)
    return maxima


def _enumerated(
    nulls: list[Lattice], windows: Windows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the maximum of every possible outcome, and the outcome's probability."""
    open_blocks = [block for block, null in enumerate(nulls) if len(null.mass) > 1]
    shape = [len(nulls[block].mass) for block in open_blocks]
    outcomes = np.indices(shape).reshape(len(shape), math.prod(shape))
    weight = np.ones(math.prod(shape))
    excess = np.zeros((math.prod(shape), len(nulls)))
    mean = _means(nulls)
    for block, outcome in zip(open_blocks, outcomes, strict=True):
        weight *= nulls[block].mass[outcome]
        excess[:, block] = nulls[block].start + outcome - mean[block]
    return windows.maxima(excess), weight


def _critical(maxima: NDArray[np.float64], weight: NDArray[np.float64], alpha: float) -> float:
    """Return the least score that is exceeded with probability at most alpha."""
    order = np.argsort(maxima)
    exceeded = 1 - np.cumsum(weight[order]) / weight.sum()
    return float(maxima[order][np.argmax(exceeded <= alpha)])
