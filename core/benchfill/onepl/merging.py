"""Equal columns of a matrix, found without sorting the columns themselves."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Merged(NamedTuple):
    """Distinct columns: their first positions (R,), how many of each (R,), and whose each is (I,).

    ``all(column[i] == column[first[row[i]]])``. The order of the distinct columns has no meaning,
    but equal input gives equal output.
    """

    first: NDArray[np.int64]
    row: NDArray[np.int64]
    copies: NDArray[np.int64]


def equal_columns(parts: Sequence[NDArray[Any]]) -> Merged:
    """Merge equal columns of matrices that stand one on another, each (some, I).

    Entries are whole numbers, whatever their type.

    Each column is hashed to 64 bits by random odd factors, and the hashes are sorted; then columns
    that share one are compared, so that the result is exact. Row by row, so that a matrix of bytes
    needs no copy in wider numbers.
    """
    for seed in count():
        rng = np.random.default_rng(seed)
        key = np.zeros(parts[0].shape[1], np.uint64)
        for part in parts:
            factors = rng.integers(2**63, size=len(part), dtype=np.uint64) * 2 + 1
            for values, factor in zip(part, factors, strict=True):
                key += values.astype(np.uint64) * factor
        _, first, row, copies = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        row = row.reshape(-1)
        like = first[row]
        if all((values == values[like]).all() for part in parts for values in part):
            return Merged(first, row, copies)
    raise AssertionError  # counting never ends
