"""The order in which benchmarks that go together stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cluster_order(matrix: NDArray[np.float64]) -> list[int]:
    """Return the benchmarks in the order of a clustering by 1 - |r|, average linkage."""
    distance = np.clip(1 - np.abs(matrix), 0, 1)
    np.fill_diagonal(distance, 0.0)
    condensed = squareform((distance + distance.T) / 2, checks=False)
    return [int(j) for j in leaves_list(linkage(condensed, "average", optimal_ordering=True))]
