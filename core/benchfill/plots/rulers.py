"""Two versions of a benchmark, one ruler above the other: gaps, and the items that came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.patches import Patch

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, plain, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 3.2
LEFT, RIGHT = 0.3, 0.3
_RULER = 0.72  # inches
_BOTTOMS = (2.05, 0.85)
_MOST_TICKS = 3000
_TITLE = 70
_FARTHEST = 0.5


@dataclass(frozen=True)
class NewItem:
    """A new item: its difficulty and 90% interval on the ruler's scale."""

    z: float
    q05: float
    q95: float


@dataclass(frozen=True)
class Ruler:
    """One version.

    Parameters
    ----------
    title
        What it is, on one line.
    items
        Difficulties of its items on its own z scale, the new ones left out.
    empty
        Borders of its empty gaps.
    new
        The new items: where they were measured to lie, or where they lie.
    """

    title: str
    items: Sequence[float]
    empty: Sequence[tuple[float, float]]
    new: Sequence[NewItem]


def gap_rulers(before: Ruler, after: Ruler, *, theme: Theme = LIGHT) -> Figure:
    """Draw the earlier version's ruler above the later one's, with the new items on both.

    Parameters
    ----------
    before, after
        The rulers. New items stand hollow on the earlier one, to which they do not belong.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(HEIGHT, theme)
    ends = [one for ruler in (before, after) for one in (*ruler.items, *_reach(ruler))]
    # an interval without an end must not squeeze the rulers
    low, high = max(min([0.0, *ends]), -_FARTHEST), min(max([1.0, *ends]), 1 + _FARTHEST)
    for ruler, bottom, inside in zip((before, after), _BOTTOMS, (False, True), strict=True):
        ax = figure.add_axes(
            (LEFT / WIDTH, bottom / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, _RULER / HEIGHT)
        )
        _ruler(ax, ruler, theme, inside=inside)
        ax.set_xlim(low - 0.02, high + 0.02)
    label_axes(ax, theme, x="difficulty z (0: easiest item of the version, 1: hardest)")
    _keys(ax, theme, hollow=bool(before.new))
    return figure


def _reach(ruler: Ruler) -> list[float]:
    return [end for one in ruler.new for end in (one.q05, one.q95)]


def _ruler(ax: Axes, ruler: Ruler, theme: Theme, *, inside: bool) -> None:
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    ax.set_ylim(0, 1)
    for left, right in ruler.empty:
        ax.axvspan(left, right, facecolor=theme.empty, alpha=0.28, linewidth=0, zorder=0.5)
        # gaps may lie side by side with a single item between them
        ax.vlines([left, right], 0, 1, color=theme.muted, linewidth=0.6, zorder=0.6)
    shown = list(ruler.items)[:: max(1, len(ruler.items) // _MOST_TICKS)]
    ax.vlines(shown, 0.02, 0.55, color=theme.item, linewidth=1.1 if len(shown) <= 80 else 0.7)
    for one in ruler.new:
        ax.plot(
            [one.q05, one.q95], [0.75, 0.75], color=theme.chosen, linewidth=1.6, zorder=3,
            solid_capstyle="butt",
        )  # fmt: skip
        ax.vlines(one.z, 0.02, 0.75, color=theme.chosen, linewidth=1.2, zorder=3)
    ax.plot(
        [one.z for one in ruler.new],
        [0.75] * len(ruler.new),
        linestyle="none",
        marker="D",
        markersize=6,
        markerfacecolor=theme.chosen if inside else theme.paper,
        markeredgecolor=theme.chosen,
        zorder=4,
    )
    write(
        ax, 0, 1.12, plain(ruler.title, _TITLE), transform=ax.transAxes, color=theme.ink,
        fontsize=SIZE + 0.5, fontweight="bold",
    )  # fmt: skip


def _keys(ax: Axes, theme: Theme, *, hollow: bool) -> None:
    diamond: dict[str, Any] = {"linestyle": "none", "marker": "D", "markersize": 5.5}
    keys = [
        ax.plot([], [], color=theme.item, linewidth=1.4, label="items")[0],
        Patch(color=theme.empty, alpha=0.28, linewidth=0, label="empty gap"),
        *ax.plot(
            [], [], **diamond, markerfacecolor=theme.paper, markeredgecolor=theme.chosen,
            label="new item as measured" if hollow else "_",
        ),
        ax.plot(
            [], [], **diamond, color=theme.chosen, label="new item after the refit, 90% interval"
        )[0],
    ]  # fmt: skip
    keys = [key for key in keys if not str(key.get_label()).startswith("_")]
    legend(
        ax, theme, handles=keys, loc="upper left", bbox_to_anchor=(-0.02, -0.68), ncols=4,
        handlelength=1.4, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
