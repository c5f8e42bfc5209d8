"""Windows on a common lattice: each row of items looks only where its difficulty can be.

A lattice fine enough for the surest row and wide enough for the widest is many times larger than
what any one row needs. A window holds the cells of one row, as coarse as that row's own spread
allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_CELLS = 20_000  # of the lattice; the hyper-parameters of two items have no bounds


@dataclass(frozen=True)
class Windows:
    """Cells that hold each row's mass: ``step * (first + stride * k)``, ``k < count``.

    ``first`` and ``stride`` have shape (R,); all windows have ``count`` cells.
    """

    step: float
    first: NDArray[np.int64]
    stride: NDArray[np.int64]
    count: int

    @classmethod
    def covering(
        cls, extents: NDArray[np.float64], cells_per_sd: float, spare: float = 0.1
    ) -> Windows:
        """Cover where each row's mass was seen, and a share to spare.

        `extents` holds where it began, where it ended, and its sd, in each look: (looks, 3, R).
        Cells fit the smallest sd.
        """
        left, right, sd = extents[:, 0].min(0), extents[:, 1].max(0), extents[:, 2].min(0)
        more = spare * (right - left) + sd
        left, right = left - more, right + more
        step = max(float(sd.min()) / cells_per_sd, float(right.max() - left.min()) / _MAX_CELLS)
        stride = np.maximum(1, np.floor(sd / cells_per_sd / step + 1e-9)).astype(np.int64)
        first = np.floor(left / step).astype(np.int64)
        last = np.ceil(right / step).astype(np.int64)
        count = int(((last - first) / stride).max()) + 2
        # all windows have as many cells: one that needs fewer takes them finer, not farther out,
        # or a single unsure row would make the lattice many times as long
        stride = np.minimum(stride, np.maximum(1, -(-(last - first) // (count - 2))))
        return cls(step, first, stride, count)

    @property
    def lowest(self) -> int:
        """The first cell of any window."""
        return int(self.first.min())

    @property
    def lattice(self) -> NDArray[np.float64]:
        """All cells from the first of any window to the last, shape (G,)."""
        last = int((self.first + self.stride * (self.count - 1)).max())
        return self.step * np.arange(self.lowest, last + 1, dtype=np.float64)

    @property
    def cells(self) -> NDArray[np.int64]:
        """Positions of the windows' cells on `lattice`, shape (R, count)."""
        place = self.first[:, None] + self.stride[:, None] * np.arange(self.count)
        return np.asarray(place - self.lowest, dtype=np.int64)

    def widened(self, short: NDArray[np.bool_]) -> Windows:
        """Add a quarter to all windows, on the sides that are short: (2, R), left and right."""
        more = max(1, self.count // 4)
        first = self.first - np.where(short[0], self.stride * more, 0)
        return Windows(self.step, first, self.stride, self.count + more)
