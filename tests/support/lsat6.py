"""LSAT section 6: the 32 response patterns of 1,000 persons on 5 items (Bock & Lieberman 1970)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from support.simulated import matrix_of

if TYPE_CHECKING:
    from benchfill import ResponseMatrix

# of 00000, 00001, 00010, ..., 11111
COUNTS = (
    3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15,
    10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298,
)  # fmt: skip


def lsat6() -> ResponseMatrix:
    """The persons as models, one rollout a cell."""
    patterns = np.array(list(itertools.product((0, 1), repeat=5)))
    return matrix_of(np.repeat(patterns, COUNTS, axis=0), 1)
