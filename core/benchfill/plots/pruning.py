"""What pruning does to the difficulties, and to their distance from the target at any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, NullLocator

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from ..pruning import CurvePoint
    from ..targets import Target

HEIGHT = 3.2  # inches
LEFT, RIGHT, TOP, BOTTOM = 0.68, 0.15, 0.72, 0.5  # margins, inches
TICKS = (1, 2, 5)


def pruned_distribution(
    z: ArrayLike, kept: ArrayLike, target: Target, *, theme: Theme = LIGHT
) -> Figure:
    """Draw the distribution of all items and of the kept ones against the target.

    Parameters
    ----------
    z
        Difficulties of all items on the frozen scale, shape (I,).
    kept
        Those of the kept items, shape (M,).
    target
        The distribution that they should follow.
    theme
        Colours.
    """
    every, few = np.sort(np.asarray(z, np.float64)), np.sort(np.asarray(kept, np.float64))
    figure, ax = _axes(theme)
    share = np.linspace(0, 1, 2001)
    ax.plot(
        target.quantile(share), share, color=theme.target, linewidth=1.4, linestyle=(0, (4, 2)),
        label="target",
    )  # fmt: skip
    _steps(ax, every, f"all {len(every):,} items", theme.muted, 1.0)
    _steps(ax, few, f"the {len(few):,} kept", theme.item, 1.8)
    ax.set_ylim(-0.01, 1.02)
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    label_axes(
        ax, theme, x="difficulty z (0: easiest of all items, 1: hardest)",
        y="share of items up to here",
    )  # fmt: skip
    _headed(ax, "Difficulties before and after pruning", theme)
    return figure


def pruning_curve(
    curve: Sequence[CurvePoint], size: int, before: float, *, theme: Theme = LIGHT
) -> Figure:
    """Draw W1 to the target over the size of the pruned benchmark, by each way of pruning.

    Parameters
    ----------
    curve
        Points, smallest size first.
    size
        The size that was asked for, marked.
    before
        W1 of all items.
    theme
        Colours.
    """
    figure, ax = _axes(theme)
    sizes = np.array([point.size for point in curve])
    low, high = ([getattr(point.random, end) for point in curve] for end in ("min", "max"))
    ax.fill_between(sizes, low, high, color=theme.muted, alpha=0.25, linewidth=0)
    for values, label, colour, style, width in (
        ([point.random.mean for point in curve], "random", theme.muted, "-", 1.2),
        ([point.greedy for point in curve], "greedy", theme.empty, "-", 2.6),
        ([point.optimal for point in curve], "optimal", theme.item, (0, (4, 2)), 1.6),
    ):
        ax.plot(
            sizes, values, color=colour, label=label, linestyle=style, linewidth=width,
            marker="o" if len(sizes) == 1 else None,
        )  # fmt: skip
    ax.axhline(before, color=theme.ink, linewidth=0.8, linestyle=(0, (1, 2)), label="all items")
    ax.axvline(size, color=theme.chosen, linewidth=1.2, label=f"size {size:,}")
    _size_axis(ax, sizes)
    ax.set_ylim(0, max(before, *high) * 1.06)
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    label_axes(ax, theme, x="items kept", y="distance to the target (W1)")
    _headed(ax, "Distance to the target at each size; band: 30 random prunings", theme)
    return figure


def _axes(theme: Theme) -> tuple[Figure, Axes]:
    figure = new_figure(HEIGHT, theme)
    ax = figure.add_axes(
        (
            LEFT / WIDTH,
            BOTTOM / HEIGHT,
            1 - (LEFT + RIGHT) / WIDTH,
            1 - (TOP + BOTTOM) / HEIGHT,
        )
    )
    tidy(ax, theme)
    return figure, ax


def _steps(ax: Axes, z: NDArray[np.float64], label: str, colour: str, width: float) -> None:
    x = np.concatenate([[min(0.0, z[0])], z, [max(1.0, z[-1])]])
    y = np.concatenate([[0], np.arange(1, len(z) + 1) / len(z), [1]])
    ax.step(x, y, where="post", color=colour, linewidth=width, label=label)


def _size_axis(ax: Axes, sizes: NDArray[np.int64]) -> None:
    """Scale sizes by ratio, with round numbers where they have room."""
    ax.set_xscale("log")
    low, high = float(sizes.min()), float(sizes.max())
    ax.set_xlim(low / 1.05, high * 1.05)
    ticks = [d * 10**power for power in range(7) for d in TICKS if low <= d * 10**power <= high]
    ax.set_xticks(ticks or [low])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())


def _headed(ax: Axes, title: str, theme: Theme) -> None:
    tall = HEIGHT - TOP - BOTTOM
    write(
        ax, 0, 1 + 0.4 / tall, title, transform=ax.transAxes, color=theme.ink,
        fontsize=SIZE + 1.5, fontweight="bold", va="bottom",
    )  # fmt: skip
    legend(
        ax, theme, loc="lower left", bbox_to_anchor=(-0.01, 1 + 0.04 / tall), ncols=5,
        handlelength=1.8, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
