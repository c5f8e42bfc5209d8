"""The difficulty distribution against its target: where items lie, and where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from .labels import spread
from .style import (
    LIGHT,
    SIZE,
    WIDTH,
    Theme,
    label_axes,
    legend,
    new_figure,
    plain,
    text_width,
    tidy,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from ..gaps import Gap
    from ..targets import Target

MOST_GAPS = 5
MOST_TICKS = 250  # single items beyond this are a smear: bins are drawn instead
BINS = 80
LEFT, RIGHT = 0.62, 0.15  # margins, inches
ROW = 0.19  # height of a line of the table, inches
_COLUMNS = (0.0, 0.35, 1.45, 2.1, 2.85, 3.8)  # inches from the left margin
_HEADS = ("gap", "from – to", "width", "P(hole)", "verdict", "between the items")


def difficulty_distribution(
    z: ArrayLike,
    target: Target,
    gaps: Sequence[Gap],
    *,
    chosen: Sequence[float] = (),
    theme: Theme = LIGHT,
) -> Figure:
    """Draw the items' distribution against the target, with the widest gaps marked.

    Parameters
    ----------
    z
        Difficulties on the frozen z scale, shape (I,).
    target
        The distribution they should have; the shaded area between both is W1, the mismatch.
    gaps
        Gaps, widest first; the first five are marked, the empty ones solid, the unresolved hatched.
    chosen
        Difficulties of new items, drawn as diamonds.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Legible from 2 to many thousand items.
    """
    places = np.sort(np.asarray(z, dtype=np.float64))
    marked = list(gaps[:MOST_GAPS])
    heights = (0.34, 2.75, 0.55)
    table = ROW * (len(marked) + 1.2) if marked else 0.0
    height = 0.5 + sum(heights) + 0.95 + table
    figure = new_figure(height, theme)
    low = min(0.0, *chosen) if chosen else 0.0
    high = max(1.0, *chosen) if chosen else 1.0
    top = height - 0.42
    axes = []
    for tall in heights:
        top -= tall
        axes.append(
            figure.add_axes((LEFT / WIDTH, top / height, 1 - (LEFT + RIGHT) / WIDTH, tall / height))
        )
        top -= 0.06
        axes[-1].set_xlim(low - 0.02, high + 0.02)
    ruler, curve, strip = axes
    _ruler(ruler, marked, theme)
    _curve(curve, places, target, theme)
    _strip(strip, places, chosen, theme)
    for ax in (curve, strip):
        _bands(ax, marked, theme)
    if marked:
        _table(figure.add_axes((LEFT / WIDTH, 0, 1 - LEFT / WIDTH, table / height)), marked, theme)
    distance = float(target.wasserstein(places))
    write(
        ruler,
        0,
        1.25,
        f"Difficulty of {len(places):,} items against the target (area between: {distance:.3f})",
        transform=ruler.transAxes,
        color=theme.ink,
        fontsize=SIZE + 1.5,
        fontweight="bold",
        va="bottom",
    )
    return figure


def _ruler(ax: Axes, gaps: Sequence[Gap], theme: Theme) -> None:
    """Write the number of each gap over its middle, or beside it where it is crowded."""
    ax.set_axis_off()
    ax.set_ylim(0, 1)
    if not gaps:
        return
    low, high = ax.get_xlim()
    apart = (text_width(str(len(gaps))) + 0.1) * (high - low) / (WIDTH - LEFT - RIGHT)
    ranked = sorted(enumerate(gaps, start=1), key=lambda pair: pair[1].midpoint)
    middles = np.array([gap.midpoint for _, gap in ranked])
    for (number, gap), place in zip(ranked, spread(middles, apart, (low, high)), strict=True):
        colour = _colour(gap, theme)
        ax.plot([gap.midpoint, place], [0, 0.4], color=colour, linewidth=0.6)
        write(
            ax,
            place,
            0.45,
            str(number),
            color=colour,
            ha="center",
            va="bottom",
            fontweight="bold",
        )


def _bands(ax: Axes, gaps: Sequence[Gap], theme: Theme) -> None:
    for gap in gaps:
        solid = gap.verdict == "empty"
        ax.axvspan(
            gap.z_left,
            gap.z_right,
            facecolor=theme.empty if solid else "none",
            edgecolor="none" if solid else theme.unresolved,
            hatch=None if solid else "////",
            alpha=0.28 if solid else 0.45,
            linewidth=0,
            zorder=0.5,
        )
        # gaps may lie side by side with a single item between them
        for border in (gap.z_left, gap.z_right):
            ax.axvline(border, color=theme.muted, linewidth=0.5, alpha=0.7, zorder=0.6)


def _curve(ax: Axes, z: NDArray[np.float64], target: Target, theme: Theme) -> None:
    # on the axis of shares both are quantile functions, and the area between them is exactly W1
    share = np.linspace(0, 1, 2001)
    rank = np.clip(np.ceil(share * len(z)).astype(int) - 1, 0, len(z) - 1)
    wanted = target.quantile(share)
    ax.fill_betweenx(share, z[rank], wanted, color=theme.item, alpha=0.18, linewidth=0)
    ax.plot(wanted, share, color=theme.target, linewidth=1.4, linestyle=(0, (4, 2)))
    steps = np.concatenate([[min(0.0, z[0])], z, [max(1.0, z[-1])]])
    ax.step(
        steps,
        np.concatenate([[0], np.arange(1, len(z) + 1) / len(z), [1]]),
        where="post",
        color=theme.item,
        linewidth=1.6,
    )
    tidy(ax, theme, sides=("left",))
    ax.tick_params(labelbottom=False, bottom=False)
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    ax.set_ylim(-0.01, 1.02)
    label_axes(ax, theme, y="share of items up to here")
    _keys(ax, theme)


def _keys(ax: Axes, theme: Theme) -> None:
    keys = [
        ax.plot([], [], color=theme.item, linewidth=1.6, label="items")[0],
        ax.plot([], [], color=theme.target, linestyle=(0, (4, 2)), label="target")[0],
        Patch(color=theme.item, alpha=0.18, linewidth=0, label="mismatch"),
        Patch(color=theme.empty, alpha=0.28, linewidth=0, label="empty gap"),
        Patch(
            facecolor="none",
            edgecolor=theme.unresolved,
            hatch="////",
            alpha=0.45,
            linewidth=0,
            label="unresolved gap",
        ),
    ]
    # below the strip and its axis, where no data is
    legend(
        ax, theme, handles=keys, loc="upper left", bbox_to_anchor=(-0.02, -0.395), ncols=5,
        handlelength=1.8, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip


def _strip(ax: Axes, z: NDArray[np.float64], chosen: Sequence[float], theme: Theme) -> None:
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    if len(z) <= MOST_TICKS:
        ax.vlines(z, 0.08, 0.92, color=theme.item, linewidth=1.1 if len(z) <= 80 else 0.7)
        ax.set_ylim(0, 1)
        label_axes(ax, theme, x="difficulty z (0: easiest item, 1: hardest)", y="items")
    else:
        counts, edges = np.histogram(z, BINS)
        ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=theme.item, linewidth=0)
        ax.set_ylim(0, counts.max() * 1.05)
        label_axes(
            ax,
            theme,
            x=f"difficulty z (0: easiest item, 1: hardest); at most {counts.max():,} items a bar",
            y="items",
        )
    if chosen:
        middle = sum(ax.get_ylim()) / 2
        ax.plot(
            chosen,
            [middle] * len(chosen),
            linestyle="none",
            marker="D",
            markersize=7,
            color=theme.chosen,
            markeredgecolor=theme.paper,
            zorder=4,
        )
        for place in chosen:
            ax.axvline(place, color=theme.chosen, linewidth=1.4, zorder=3)


def _table(ax: Axes, gaps: Sequence[Gap], theme: Theme) -> None:
    """List the marked gaps: names of items are too long to stand in the picture."""
    ax.set_axis_off()
    wide = WIDTH - LEFT
    ax.set_xlim(0, wide)
    ax.set_ylim(len(gaps) + 1.2, 0)
    rows = [_HEADS, *(_row(number, gap, wide - _COLUMNS[-1]) for number, gap in enumerate(gaps, 1))]
    for line, cells in enumerate(rows):
        for column, (x, cell) in enumerate(zip(_COLUMNS, cells, strict=True)):
            bold = line > 0 and column in {0, 4}
            colour = theme.muted if line == 0 else theme.ink
            write(
                ax,
                x,
                line + 0.5,
                cell,
                color=_colour(gaps[line - 1], theme) if bold else colour,
                fontweight="bold" if bold else "normal",
                va="center",
            )


def _row(number: int, gap: Gap, room: float) -> tuple[str, ...]:
    between = ""
    for limit in range(30, 3, -1):
        between = f"{plain(gap.left_item, limit)} and {plain(gap.right_item, limit)}"
        if text_width(between) < room - 0.1:
            break
    return (
        str(number),
        f"{gap.z_left:.3f} – {gap.z_right:.3f}",
        f"{gap.width:.3f}",
        f"{gap.p_hole:.2f}",
        gap.verdict,
        between,
    )


def _colour(gap: Gap, theme: Theme) -> str:
    return theme.empty if gap.verdict == "empty" else theme.muted
