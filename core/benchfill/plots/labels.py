"""Labels that stand clear of one another, and fit where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import plain, text_width

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


def fitting(name: str, room: float) -> str:
    """Cut a name to a width in inches, in its middle: names differ most at both ends."""
    limit = 48
    text = plain(name, limit)
    while (width := text_width(text)) > room and limit > 8:
        limit = max(8, min(limit - 1, int(limit * room / width)))
        text = plain(name, limit)
    return text
