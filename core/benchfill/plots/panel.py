"""A suggested pool: where its models stand, and how many models are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ..panel import PanelSuggestion

HEIGHT = 3.2  # inches
LEFT, RIGHT, TOP, BOTTOM = 0.68, 0.15, 0.45, 0.5  # margins, inches
STRIP = 1.9  # height of the picture of abilities, inches


def panel_stability(suggestion: PanelSuggestion, *, theme: Theme = LIGHT) -> Figure:
    """Draw how well difficulties from fewer models agree with those from all, by their number.

    Parameters
    ----------
    suggestion
        A suggestion whose curve has a point at least.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Rank correlation of the suggested models at each size; the band holds 90% of random panels.
    """
    curve = suggestion.curve
    figure = new_figure(HEIGHT, theme)
    ax = figure.add_axes(
        (LEFT / WIDTH, BOTTOM / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / HEIGHT)
    )
    tidy(ax, theme)
    drawn = [(one.size, one.random_spearman) for one in curve if one.random_spearman is not None]
    sizes = [size for size, _ in drawn]
    ax.fill_between(
        sizes, [one.q05 for _, one in drawn], [one.q95 for _, one in drawn],
        color=theme.item, alpha=0.22, linewidth=0, label="random models, 90%",
    )  # fmt: skip
    ax.plot(sizes, [one.median for _, one in drawn], color=theme.item, linewidth=1.2,
            label="random models, median")  # fmt: skip
    ax.plot([one.size for one in curve], [one.spearman for one in curve], color=theme.empty,
            linewidth=1.6, marker="o", markersize=4, label="suggested models")  # fmt: skip
    ax.axhline(suggestion.enough, color=theme.muted, linewidth=0.9, linestyle=(0, (4, 3)))
    write(
        ax, 0.01, suggestion.enough, "enough", transform=ax.get_yaxis_transform(), ha="left",
        va="bottom", color=theme.muted,
    )  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([one.size for one in curve]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
    ax.set_ylim(top=1.005)
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    label_axes(ax, theme, x="number of models", y="rank correlation with all")
    legend(ax, theme, loc="lower right")
    _title(ax, "Difficulties from fewer models, against those from all", theme)
    return figure


def panel_abilities(
    suggestion: PanelSuggestion, theta: ArrayLike, b: ArrayLike, *, theme: Theme = LIGHT
) -> Figure:
    """Draw where the chosen models stand among all models and items.

    Parameters
    ----------
    suggestion
        The suggestion.
    theta
        Abilities of all models, logits, shape (J,).
    b
        Difficulties of all items, logits, shape (I,).
    theme
        Colours.
    """
    figure = new_figure(STRIP, theme)
    ax = figure.add_axes((LEFT / WIDTH, 0.5 / STRIP, 1 - (LEFT + RIGHT) / WIDTH, 0.95 / STRIP))
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    for low, high in suggestion.intervals:
        ax.axvspan(low, high, color=theme.grid, alpha=0.6, linewidth=0)
    chosen = np.array([one.theta for one in suggestion.chosen])
    rows = (
        ("items", 0.0, np.asarray(b), theme.muted),
        ("models", 1.0, np.asarray(theta), theme.item),
        ("chosen", 2.0, chosen, theme.empty),
    )
    for name, row, places, colour in rows:
        ax.vlines(
            places, row - 0.32, row + 0.32, color=colour,
            linewidth=1.8 if name == "chosen" else 0.9,
            alpha=max(0.15, min(1.0, 60 / max(len(places), 1))),
        )  # fmt: skip
        write(
            ax, -0.01, row, name, transform=ax.get_yaxis_transform(), ha="right", va="center",
            color=theme.ink,
        )  # fmt: skip
    ax.set_ylim(-0.6, 2.6)
    label_axes(ax, theme, x="logits; the shaded range is where difficulties are to be told apart")
    _title(ax, "The suggested models among all models and items", theme)
    return figure


def _title(ax: Axes, text: str, theme: Theme) -> None:
    write(
        ax, 0, 1.06, text, transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5,
        fontweight="bold", va="bottom",
    )  # fmt: skip
