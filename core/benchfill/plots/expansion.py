"""A benchmark that grows: its measures round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 2.75
LEFT, RIGHT, BETWEEN, BOTTOM, TOP = 0.45, 0.12, 0.5, 0.55, 0.42  # inches


@dataclass(frozen=True)
class MeasureSeries:
    """A measure of every version, in the order of their sizes.

    Parameters
    ----------
    name
        What it is, a few words.
    values, q05, q95
        Posterior medians with 90% intervals, one a version.
    """

    name: str
    values: Sequence[float]
    q05: Sequence[float]
    q95: Sequence[float]


def expansion_curve(
    items: Sequence[int], series: Sequence[MeasureSeries], *, theme: Theme = LIGHT
) -> Figure:
    """Draw measures against the number of items, a panel each, with 90% intervals.

    Parameters
    ----------
    items
        Items of each version, the given benchmark first.
    series
        One to four measures, each as long as `items`.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        All axes begin at zero, where a benchmark without gaps would be.
    """
    figure = new_figure(HEIGHT, theme)
    panels = len(series)
    wide = (WIDTH - LEFT - RIGHT - (panels - 1) * BETWEEN) / panels
    for place, one in enumerate(series):
        left = LEFT + place * (wide + BETWEEN)
        ax = figure.add_axes(
            (left / WIDTH, BOTTOM / HEIGHT, wide / WIDTH, (HEIGHT - BOTTOM - TOP) / HEIGHT)
        )
        _panel(ax, items, one, theme)
    return figure


def _panel(ax: Axes, items: Sequence[int], one: MeasureSeries, theme: Theme) -> None:
    tidy(ax, theme)
    ax.vlines(items, one.q05, one.q95, color=theme.item, linewidth=2.2, alpha=0.45)
    ax.plot(items, one.values, color=theme.item, linewidth=1.4, zorder=3)
    ax.plot(
        items, one.values, linestyle="none", marker="o", markersize=4.5,
        markerfacecolor=theme.chosen, markeredgecolor=theme.paper, zorder=4,
    )  # fmt: skip
    ax.set_ylim(0, 1.12 * max([*one.q95, 1e-3]))
    margin = max(0.04 * (items[-1] - items[0]), 0.5)
    ax.set_xlim(items[0] - margin, items[-1] + margin)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5))
    label_axes(ax, theme, x="items")
    write(
        ax, 0, 1.07, one.name, transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 0.5,
        fontweight="bold",
    )  # fmt: skip
