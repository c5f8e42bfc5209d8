"""What chance alone can do when a model is tested twice on the same items.

Nothing has changed for a model if its rollouts on an item could as well have come in any order, so
given the item's total the successes after are hypergeometric (docs/method, section 5). The
statistic of a set of items is their sum of ``after - E[after | total]``. With equally many
rollouts on every item that is the sum of the differences in success rate, up to a factor; where
they differ, each item's difference in rate counts by ``n0 n1 / (n0 + n1)``, as in the test of
Mantel & Haenszel (1959, doi:10.1093/jnci/22.4.719): an item with a single rollout does not drown
one with a hundred, and the sum stays an integer, so that its null distribution is exact.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import hypergeom

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEGLIGIBLE = 1e-22  # mass cut off an end of a distribution; far below SMALLEST_P
SMALLEST_P = 1e-15  # what sums of doubles can still tell from zero
REACH = 10.0  # standard deviations (and successes) kept on either side of a mean


@dataclass(frozen=True, eq=False)
class TwoTimes:
    """Successes and rollouts of one model on the same items, before and after; each (I,).

    Every item has at least one rollout at both times.
    """

    y0: NDArray[np.int64]
    n0: NDArray[np.int64]
    y1: NDArray[np.int64]
    n1: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y0)

    def take(self, items: NDArray[np.bool_] | NDArray[np.int64] | slice) -> TwoTimes:
        """Return the given items."""
        return TwoTimes(self.y0[items], self.n0[items], self.y1[items], self.n1[items])

    @property
    def total(self) -> NDArray[np.int64]:
        """Successes at both times together."""
        return np.asarray(self.y0 + self.y1)

    @property
    def same(self) -> bool:
        """Whether before and after are the very same counts."""
        return bool(np.array_equal(self.y0, self.y1) and np.array_equal(self.n0, self.n1))

    @property
    def excess(self) -> NDArray[np.float64]:
        """Successes after, less those expected if nothing has changed."""
        return np.asarray(self.y1 - self.n1 * (self.total / (self.n0 + self.n1)), dtype=np.float64)

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of the successes after if nothing has changed; 0 for all right or all wrong."""
        rollouts = self.n0 + self.n1
        rate = self.total / rollouts
        return np.asarray(self.n1 * rate * (1 - rate) * self.n0 / (rollouts - 1))


class Lattice(NamedTuple):
    """A distribution on consecutive integers, the first of which is `start`."""

    start: int
    mass: NDArray[np.float64]


def null_of_sum(responses: TwoTimes) -> Lattice:
    """Return the null distribution of the successes after, summed over the items.

    Exact: the convolution of the items' hypergeometric distributions.
    """
    kinds = Counter(
        zip(*(one.tolist() for one in (responses.total, responses.n0, responses.n1)), strict=True)
    )
    parts = [_repeated(_hypergeometric(*kind), times) for kind, times in sorted(kinds.items())]
    while len(parts) > 1:
        # neighbours in size together: long ones would otherwise meet every short one
        parts.sort(key=lambda part: len(part.mass))
        pairs = [_sum(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[2 * len(pairs) :]
    return parts[0]


def upper_p(null: Lattice, observed: int, u: float | None = None) -> float:
    """Return P(sum >= observed), or P(sum > observed) + u P(sum = observed) with randomised ties.

    Parameters
    ----------
    null
        Distribution of the sum if nothing has changed.
    observed
        The sum that was seen.
    u
        Uniform on [0, 1] for randomised ties; None for the plain p-value, which never falls short.
    """
    at = observed - null.start
    above = float(null.mass[max(at + 1, 0) :].sum())
    here = float(null.mass[at]) if 0 <= at < len(null.mass) else 0.0
    p = above + (here if u is None else u * here)
    return min(max(p, SMALLEST_P), 1.0)


@lru_cache(maxsize=1024)  # few kinds of items, many of each; SciPy takes its time
def _hypergeometric(total: int, n0: int, n1: int) -> Lattice:
    rollouts = n0 + n1
    mean = n1 * (total / rollouts)
    variance = mean * (1 - total / rollouts) * n0 / max(rollouts - 1, 1)
    reach = REACH * np.sqrt(variance) + REACH
    low = max(0, total - n0, int(mean - reach))
    high = min(n1, total, int(np.ceil(mean + reach)))
    mass = hypergeom.pmf(np.arange(low, high + 1), rollouts, total, n1)
    return Lattice(low, mass / mass.sum())


def _repeated(one: Lattice, times: int) -> Lattice:
    """Sum `times` independent copies, by squaring."""
    if times == 1:
        return one
    whole = Lattice(0, np.ones(1))
    while times:
        if times % 2:
            whole = _sum(whole, one)
        times //= 2
        one = _sum(one, one) if times else one
    return whole


def _sum(a: Lattice, b: Lattice) -> Lattice:
    mass = np.convolve(a.mass, b.mass)
    kept = np.flatnonzero(mass > NEGLIGIBLE)
    return Lattice(a.start + b.start + int(kept[0]), mass[kept[0] : kept[-1] + 1])
