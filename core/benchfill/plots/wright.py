"""The Wright map: abilities of models and difficulties of items on one axis of logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from .labels import fitting, spread
from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

MOST_NAMES = 40
LINE = 0.165  # height of a name, inches
LEFT, RIGHT, TOP, BOTTOM = 0.62, 0.15, 0.75, 0.6  # margins, inches
ROOM = 2.95  # for names, inches


def wright_map(
    abilities: Mapping[str, float], difficulties: ArrayLike, *, theme: Theme = LIGHT
) -> Figure:
    """Draw how the items' difficulties and the models' abilities face one another.

    Parameters
    ----------
    abilities
        Logits by model name. Up to 40 models are named, more become a histogram.
    difficulties
        Logits of the items, shape (I,).
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Items left, models right. A model solves an item on its own height half of the time, when
        nothing can be guessed.
    """
    b = np.asarray(difficulties, dtype=np.float64)
    theta = np.array(list(abilities.values()), dtype=np.float64)
    named = len(theta) <= MOST_NAMES
    tall = max(3.2, LINE * len(theta)) if named else 3.8
    height = tall + TOP + BOTTOM
    figure = new_figure(height, theme)
    half = (WIDTH - LEFT - RIGHT) / 2
    box = BOTTOM / height, half / WIDTH, tall / height
    items = figure.add_axes((LEFT / WIDTH, *box))
    models = figure.add_axes(((LEFT + half) / WIDTH, *box))
    low, high = _limits(np.concatenate([b, theta]))
    for ax in (items, models):
        ax.set_ylim(low, high)
    _items(items, b, (low, high), theme)
    if named:
        _names(models, abilities, tall, theme)
    else:
        _bars(models, theta, (low, high), theme)
    for ax, title in ((items, f"{len(b):,} items"), (models, f"{len(theta):,} models")):
        write(
            ax, 0.02, 1.02, title, transform=ax.transAxes, color=theme.ink, fontweight="bold",
            va="bottom",
        )  # fmt: skip
    write(
        items,
        0,
        1 + 0.38 / tall,
        "Who meets what: difficulties and abilities on one axis",
        transform=items.transAxes,
        color=theme.ink,
        fontsize=SIZE + 1.5,
        fontweight="bold",
    )
    return figure


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.06 * max(high - low, 1.0)
    return low - room, high + room


def _edges(limits: tuple[float, float], count: int) -> NDArray[np.float64]:
    """Fewer items, wider bins: twelve items in forty bins would tell nothing."""
    return np.linspace(*limits, int(np.clip(2 * np.sqrt(count), 12, 48)) + 1)


def _items(ax: Axes, b: NDArray[np.float64], limits: tuple[float, float], theme: Theme) -> None:
    tidy(ax, theme)
    counts, edges = np.histogram(b, _edges(limits, len(b)))
    ax.barh(edges[:-1], counts, np.diff(edges) * 0.92, align="edge", color=theme.item, linewidth=0)
    ax.set_xlim(max(counts.max(), 1) * 1.08, 0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    ax.spines["right"].set(visible=True, color=theme.muted)
    label_axes(ax, theme, x="items", y="logits (up: harder items, abler models)")


def _bars(ax: Axes, theta: NDArray[np.float64], limits: tuple[float, float], theme: Theme) -> None:
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    counts, edges = np.histogram(theta, _edges(limits, len(theta)))
    ax.barh(edges[:-1], counts, np.diff(edges) * 0.92, align="edge", color=theme.empty, linewidth=0)
    ax.set_xlim(0, counts.max() * 1.08)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, prune="lower"))
    label_axes(ax, theme, x="models")


def _names(ax: Axes, abilities: Mapping[str, float], tall: float, theme: Theme) -> None:
    ax.set_axis_off()
    wide = (WIDTH - LEFT - RIGHT) / 2
    ax.set_xlim(0, wide)
    ranked = sorted(abilities.items(), key=lambda pair: pair[1])
    theta = np.array([value for _, value in ranked])
    low, high = ax.get_ylim()
    places = spread(theta, LINE * (high - low) / tall, (low, high))
    ax.plot(
        np.full(len(theta), 0.12), theta, linestyle="none", marker="o", markersize=4.5,
        color=theme.empty, zorder=3,
    )  # fmt: skip
    for (name, value), place in zip(ranked, places, strict=True):
        ax.plot([0.12, 0.38, 0.46], [value, place, place], color=theme.muted, linewidth=0.6)
        text = f"{fitting(name, ROOM - 0.95)}  {round(value, 2) + 0.0:+.2f}"
        write(ax, 0.5, place, text, color=theme.ink, va="center")
