"""What a benchmark can see: power by width of the interval and size of the gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .style import (
    LIGHT,
    SIZE,
    WIDTH,
    Theme,
    label_axes,
    legend,
    new_figure,
    text_width,
    tidy,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ..progress.power import PowerMap, PowerOfRollouts

MOST_MAPS = 4
LEFT, RIGHT, TOP, BOTTOM = 0.75, 0.15, 0.7, 1.45  # margins, inches
PANEL, GAP, ROW_GAP = 2.1, 0.3, 0.42  # inches
_LEVELS: tuple[tuple[float, Literal["dashed", "solid"]], ...] = ((0.5, "dashed"), (0.8, "solid"))
_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def power_picture(power: PowerMap, *, theme: Theme = LIGHT) -> Figure:
    """Draw the power against a gain, on average over its places and at the worst place.

    Parameters
    ----------
    power
        The map; up to four numbers of rollouts are drawn, a row each.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        The darker, the surer a gain is seen; lines at power .5 and .8; widths up to G, where a gain
        can be invisible, are hatched; where no gain of that size fits, the panel is grey.
    """
    maps = power.maps[:MOST_MAPS]
    height = TOP + BOTTOM + len(maps) * PANEL + (len(maps) - 1) * ROW_GAP
    figure = new_figure(height, theme)
    wide = (WIDTH - LEFT - RIGHT - GAP) / 2
    top = height - TOP
    for row, one in enumerate(maps):
        top -= PANEL if row == 0 else PANEL + ROW_GAP
        for column, which in enumerate(("mean", "worst")):
            left = LEFT + column * (wide + GAP)
            ax = figure.add_axes((left / WIDTH, top / height, wide / WIDTH, PANEL / height))
            _panel(ax, one, which, power.max_gap.plugin, theme)
            _labels(ax, (row == len(maps) - 1, column == 0), theme)
            place = "mean of all places" if which == "mean" else "worst place"
            rollouts = "rollout" if one.k == 1 else "rollouts"
            write(
                ax, 0, 1 + 0.05 / PANEL, f"{one.k:,} {rollouts} an item, {place}",
                transform=ax.transAxes, color=theme.ink, fontweight="bold", va="bottom",
            )  # fmt: skip
    heading = figure.add_axes((LEFT / WIDTH, 1 - 0.32 / height, 0.5, 0.01))
    heading.set_axis_off()
    write(
        heading, 0, 0, f"Which gains are seen: power of the test at level {power.alpha:g}",
        color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    _keys(figure, height, power.max_gap.plugin, theme)
    return figure


def _panel(ax: Axes, one: PowerOfRollouts, which: str, gap: float, theme: Theme) -> None:
    tidy(ax, theme)
    ax.set_facecolor(theme.grid)
    widths, gains, power = _grid(one, which)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.pcolormesh(
        _edges(widths), _edges(gains), np.ma.masked_invalid(power), cmap=_colours(theme), vmin=0,
        vmax=1, linewidth=0, rasterized=True, zorder=1,
    )  # fmt: skip
    # a worst place jumps at G, where a line between grid points would slope
    seen = widths > gap if which == "worst" else np.ones(len(widths), dtype=bool)
    for level, style in _LEVELS:
        if _crosses(power[:, seen], level):
            ax.contour(
                widths[seen], gains, np.ma.masked_invalid(power[:, seen]), levels=[level],
                colors=[theme.empty], linestyles=[style], linewidths=1.6, zorder=3,
            )  # fmt: skip
    limits = _edges(widths)[[0, -1]]
    ax.set_xlim(*limits)
    ax.set_ylim(*_edges(gains)[[0, -1]])
    if gap > limits[0]:
        ax.axvspan(
            limits[0], gap, facecolor="none", edgecolor=theme.unresolved, hatch="////", alpha=0.55,
            linewidth=0, zorder=2,
        )  # fmt: skip
        ax.axvline(gap, color=theme.ink, linewidth=1.6, zorder=4)


def _crosses(power: NDArray[np.float64], level: float) -> bool:
    known = power[np.isfinite(power)]
    return min(power.shape) >= 2 and len(known) > 0 and known.min() < level < known.max()


def _grid(
    one: PowerOfRollouts, which: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return widths (W,), gains (A,) and power (A, W); NaN where the gain fits nowhere."""
    widths = np.array(sorted({cell.width for cell in one.cells}))
    gains = np.array(sorted({cell.gain for cell in one.cells}))
    values = [getattr(cell, which) for cell in one.cells]
    power = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return widths, gains, power.reshape(len(widths), len(gains)).T


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the borders of the cells around values on a logarithmic axis."""
    logs = np.log(values)
    middle = (logs[:-1] + logs[1:]) / 2
    outer = [2 * logs[0] - middle[0]], [2 * logs[-1] - middle[-1]]
    return np.asarray(np.exp(np.concatenate([outer[0], middle, outer[1]])))


def _colours(theme: Theme) -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list("power", [theme.paper, theme.item])


def _labels(ax: Axes, shown: tuple[bool, bool], theme: Theme) -> None:
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_minor_locator(NullLocator())
        axis.set_major_locator(
            FixedLocator([tick for tick in _TICKS if limits[0] <= tick <= limits[1]])
        )
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    below, left = shown
    ax.tick_params(labelbottom=below, labelleft=left)
    label_axes(
        ax,
        theme,
        x="width of the interval (z)" if below else "",
        y="gain in success rate" if left else "",
    )


def _keys(figure: Figure, height: float, gap: float, theme: Theme) -> None:
    """Write the keys under the panels: a scale of power, the lines, the invisible zone."""
    colours = _colours(theme)
    bar = figure.add_axes((LEFT / WIDTH, 0.62 / height, 1.6 / WIDTH, 0.13 / height))
    bar.imshow(np.linspace(0, 1, 200)[None], aspect="auto", cmap=colours, extent=(0, 1, 0, 1))
    tidy(bar, theme, sides=())
    bar.tick_params(left=False, labelleft=False)
    bar.set_xticks([0, 0.5, 1])
    label_axes(bar, theme, x="power")
    rest = figure.add_axes((0, 0, 1, 0.9 / height))
    rest.set_axis_off()
    handles = [
        *(
            Line2D(
                [], [], color=theme.empty, linestyle=style, linewidth=1.6, label=f"power {level:g}"
            )
            for level, style in _LEVELS
        ),
        Line2D([], [], color=theme.ink, linewidth=1.6, label=f"G = {gap:.3f}, the widest gap"),
        Patch(
            facecolor="none",
            edgecolor=theme.unresolved,
            hatch="////",
            alpha=0.55,
            linewidth=0,
            label="up to G: can be invisible",
        ),
        Patch(color=theme.grid, linewidth=0, label="no room for so great a gain"),
    ]
    start = (LEFT + 1.6 + text_width("1") + 0.3) / WIDTH
    legend(
        rest, theme, handles=handles, loc="upper left", bbox_to_anchor=(start, 1.0), ncols=2,
        handlelength=2.4, columnspacing=1.6, borderaxespad=0,
    )  # fmt: skip
