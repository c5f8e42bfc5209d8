"""The search for an item that fills a gap: what every round's children turned out to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import LIGHT, ORANGE, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 4.4
LEFT, RIGHT = 0.62, 0.15


@dataclass(frozen=True)
class SearchedChild:
    """A measured child: its round, posterior median of z, 90% interval, and what became of it.

    Parameters
    ----------
    round
        Round it was measured in; None when it was written for an earlier gap.
    z, q05, q95
        Posterior median, 5% and 95% quantiles on the frozen z scale.
    outcome
        accepted, outside, undecided or resolution_limited.
    chosen
        Whether it fills the gap.
    """

    round: int | None
    z: float
    q05: float
    q95: float
    outcome: str
    chosen: bool = False


def search_picture(
    children: Sequence[SearchedChild],
    gap: tuple[float, float],
    wanted: float,
    *,
    title: str = "The search",
    theme: Theme = LIGHT,
) -> Figure:
    """Draw the children by round with 90% intervals against the gap that is to be filled.

    Parameters
    ----------
    children
        All that were measured, in their order; may be empty.
    gap
        Borders of the gap on the z scale.
    wanted
        The difficulty that was aimed at.
    title
        Title of the picture.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(HEIGHT, theme)
    ax = figure.add_axes(
        (LEFT / WIDTH, 0.95 / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, (HEIGHT - 1.35) / HEIGHT)
    )
    tidy(ax, theme)
    ax.axhspan(*gap, facecolor=theme.empty, alpha=0.2, linewidth=0, zorder=0.5, label="gap")
    ax.axhline(wanted, color=theme.empty, linewidth=1.2, linestyle=(0, (4, 2)), label="aimed at")
    rounds = sorted({child.round or 0 for child in children})
    places = _places(children, rounds)
    for outcome in ("outside", "undecided", "resolution_limited", "accepted"):
        _outcome(ax, children, places, outcome, theme)
    _chosen(ax, children, places, theme)
    ax.set_xlim(-0.5, max(len(rounds), 1) - 0.5)
    ax.set_xticks(range(len(rounds)), [str(one) if one else "earlier" for one in rounds])
    for border in range(1, len(rounds)):
        ax.axvline(border - 0.5, color=theme.grid, linewidth=0.7, zorder=0.4)
    ax.set_ylim(*_limits(children, gap))
    label_axes(ax, theme, x="round", y="difficulty z, 90% interval")
    if not children:
        above = (wanted + gap[1]) / 2
        write(ax, 0, above, "no child was measured", ha="center", va="center", color=theme.ink)
    write(
        ax, 0, 1.04, title, transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5,
        fontweight="bold",
    )  # fmt: skip
    legend(
        ax, theme, loc="upper left", bbox_to_anchor=(-0.02, -0.15), ncols=4,
        handlelength=1.6, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
    return figure


def _places(children: Sequence[SearchedChild], rounds: Sequence[int]) -> list[float]:
    """Spread the children of a round over its column, in their order."""
    columns: dict[int, list[int]] = {one: [] for one in rounds}
    for k, child in enumerate(children):
        columns[child.round or 0].append(k)
    places = [0.0] * len(children)
    for column, members in enumerate(columns.values()):
        for position, k in enumerate(members):
            places[k] = column + 0.84 * ((position + 0.5) / len(members) - 0.5)
    return places


def _outcome(
    ax: Axes,
    children: Sequence[SearchedChild],
    places: Sequence[float],
    outcome: str,
    theme: Theme,
) -> None:
    """Draw the children of one outcome: told apart by shape as well as by colour."""
    shape, colour = {
        "accepted": ("o", theme.chosen),
        "outside": ("x", theme.muted),
        "undecided": ("^", theme.item),
        "resolution_limited": ("s", ORANGE),
    }[outcome]
    shown = [k for k, child in enumerate(children) if child.outcome == outcome]
    if not shown:
        return
    z, q05, q95 = (
        np.array([getattr(children[k], name) for k in shown]) for name in ("z", "q05", "q95")
    )
    ax.errorbar(
        [places[k] for k in shown],
        z,
        # a median may leave its interval by rounding
        yerr=np.clip([z - q05, q95 - z], 0, None),
        fmt=shape,
        color=colour,
        markersize=5.5,
        markeredgewidth=1.5 if shape == "x" else 0,
        elinewidth=1.2,
        label=f"{outcome.replace('_', ' ')} ({len(shown)})",
        zorder=3,
    )


def _chosen(
    ax: Axes, children: Sequence[SearchedChild], places: Sequence[float], theme: Theme
) -> None:
    shown = [k for k, child in enumerate(children) if child.chosen]
    if shown:
        ax.plot(
            [places[k] for k in shown],
            [children[k].z for k in shown],
            linestyle="none",
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=theme.ink,
            markeredgewidth=1.6,
            label="chosen",
            zorder=4,
        )


def _limits(children: Sequence[SearchedChild], gap: tuple[float, float]) -> tuple[float, float]:
    """Show all medians and the gap with room around it; far intervals may leave the picture."""
    width = gap[1] - gap[0]
    low = min([gap[0] - width, *(child.z for child in children)])
    high = max([gap[1] + width, *(child.z for child in children)])
    low = min([low, *(max(child.q05, low - (high - low) / 2) for child in children)])
    high = max([high, *(min(child.q95, high + (high - low) / 2) for child in children)])
    return low - 0.04 * (high - low), high + 0.04 * (high - low)
