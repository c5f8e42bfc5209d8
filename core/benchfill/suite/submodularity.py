"""How far a measure of coverage is from diminishing returns, and what that leaves of a guarantee.

Das & Kempe (2011), arXiv 1102.3975: greedy has at least 1 - exp(-gamma) of the best value.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from .coverage import subset_coverages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TOLERANCE = 1e-9
MOST_TRIPLES = 40  # benchmarks up to which all triples are looked at


def submodularity_ratio(values: NDArray[np.float64], chosen: Sequence[int], size: int) -> float:
    """Return gamma of a set that was chosen greedily.

    Parameters
    ----------
    values
        The measure of every subset, shape (2^k,), see `coverage.all_coverages`.
    chosen
        The set U.
    size
        Most benchmarks that are added at once.

    Returns
    -------
    The least ``sum_x [f(L + x) - f(L)] / [f(L + S) - f(L)]`` over L within U and S outside L
    with at most `size` members. 1 or more for a submodular measure (1, since one member gives 1).
    """
    k = len(values).bit_length() - 1
    least = 1.0
    for count in range(len(chosen) + 1):
        for inside in combinations(chosen, count):
            least = min(least, _ratio_from(values, inside, k, size))
    return least


def _ratio_from(values: NDArray[np.float64], inside: Sequence[int], k: int, size: int) -> float:
    """Return the least ratio of all additions to one set."""
    base = sum(1 << j for j in inside)
    outside = [j for j in range(k) if not base >> j & 1]
    added = np.zeros(1, np.int64)  # masks of all sets of the benchmarks outside
    singly = np.zeros(1)  # sum of their members' gains, each by itself
    count = np.zeros(1, np.int64)
    for j in outside:
        gain = values[base | 1 << j] - values[base]
        added = np.concatenate([added, added | 1 << j])
        singly = np.concatenate([singly, singly + gain])
        count = np.concatenate([count, count + 1])
    together = values[base | added] - values[base]
    told = (count > 0) & (count <= size) & (together > _TOLERANCE)
    return float((singly[told] / together[told]).min(initial=1.0))


def violations(matrix: NDArray[np.float64]) -> tuple[int, int, int, int]:
    """Count where f has growing returns: pairs that do, pairs, triples that do, triples.

    An ordered pair (a, b) does when b adds more to a than to nothing, an ordered triple (a, b, c)
    when c adds more to {a, b} than to {a}.
    """
    k = len(matrix)
    one = subset_coverages(matrix, np.arange(k)[:, None])
    two = np.zeros((k, k))
    pairs = np.array(list(combinations(range(k), 2)))
    two[pairs[:, 0], pairs[:, 1]] = subset_coverages(matrix, pairs)
    two += two.T
    np.fill_diagonal(two, one)
    growing = int((two - one[:, None] > one + _TOLERANCE).sum())
    triples = np.array(list(combinations(range(k), 3)), dtype=np.int64).reshape(-1, 3)
    three = subset_coverages(matrix, triples)
    growing_triples = 0
    for order in permutations(range(3)):
        a, b, c = triples[:, order].T
        growing_triples += int((three - two[a, b] > two[a, c] - one[a] + _TOLERANCE).sum())
    return growing, k * (k - 1), growing_triples, k * (k - 1) * (k - 2)
