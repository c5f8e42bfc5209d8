"""Labels that stand clear of one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spread(
    values: NDArray[np.float64], apart: float, limits: tuple[float, float]
) -> NDArray[np.float64]:
    """Move sorted values (J,) as little as needed, so that neighbours are `apart` and in limits.

    Least squares under those constraints: isotonic regression of ``values - k apart``.
    """
    steps = apart * np.arange(len(values))
    blocks: list[tuple[float, int]] = []
    for value in values - steps:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    level = np.concatenate([np.full(size, mean) for mean, size in blocks])
    room = max(limits[1] - limits[0] - steps[-1], 0.0)
    margin = min(apart, room) / 2
    inside = np.clip(level, limits[0] + margin, limits[1] - steps[-1] - margin)
    return np.asarray(inside + steps)
