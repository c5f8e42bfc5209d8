"""Whether the texts of a picture stand clear of one another and inside it."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


def collisions(figure: Figure) -> list[str]:
    """Name every pair of texts that overlap, and every text that leaves the picture."""
    figure.canvas.draw()
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [
        (text.get_text(), text.get_window_extent(renderer))
        for ax in figure.axes
        for text in drawn_texts(ax)
        if text.get_text().strip()
    ]
    width, height = figure.canvas.get_width_height()
    found = [
        f"{name!r} leaves the picture"
        for name, box in boxes
        if box.x0 < -0.5 or box.y0 < -0.5 or box.x1 > width + 0.5 or box.y1 > height + 0.5
    ]
    return found + [
        f"{first!r} overlaps {second!r}"
        for (first, one), (second, other) in combinations(boxes, 2)
        if min(one.x1, other.x1) - max(one.x0, other.x0) > 0.5
        and min(one.y1, other.y1) - max(one.y0, other.y0) > 0.5
    ]


def drawn_texts(ax: Axes) -> Iterator[Text]:
    """Return the texts of axes that are drawn: their own, their legend's, their ticks'."""
    yield from ax.texts
    legend = ax.get_legend()
    if legend is not None:
        yield from legend.get_texts()
    if not ax.axison:
        return
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        yield axis.label
        low, high = sorted(limits)
        for tick in axis.get_major_ticks():
            if low <= tick.get_loc() <= high and tick.label1.get_visible():
                yield tick.label1
