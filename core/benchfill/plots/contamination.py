"""How often models guess what is hidden, on a benchmark and on items known to be new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .labels import fitting
from .style import LIGHT, SIZE, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..textbook.contamination import ModelGuesses
    from ..textbook.shares import Share

MOST_MODELS = 30
_ROW, _TOP, _BOTTOM, _NAMES = 0.3, 0.4, 0.75, 0.3  # inches, and the share that names take


def guess_picture(models: Sequence[ModelGuesses], *, theme: Theme = LIGHT) -> Figure:
    """Draw exact matches by model with their 95% intervals.

    Parameters
    ----------
    models
        Results, at most `MOST_MODELS` models; one panel for each protocol that they have.
    theme
        Colours.
    """
    protocols = list(dict.fromkeys(one.protocol for one in models))
    names = list(dict.fromkeys(one.model for one in models))[:MOST_MODELS]
    height = _TOP + _ROW * max(len(names), 2) + _BOTTOM
    figure = new_figure(height, theme)
    panels = figure.subplots(1, len(protocols), squeeze=False, sharey=True)[0]
    figure.subplots_adjust(
        left=_NAMES, right=0.97, top=1 - _TOP / height, bottom=_BOTTOM / height, wspace=0.12
    )
    for ax, protocol in zip(panels, protocols, strict=True):
        tidy(ax, theme, sides=("bottom",))
        ax.tick_params(left=False)
        ax.set_yticks(range(len(names)), [fitting(name, 2.0) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlim(0, 1)
        ax.grid(axis="x", color=theme.grid, linewidth=0.6)
        for one in models:
            if one.protocol == protocol and one.model in names:
                row = names.index(one.model)
                _bar(ax, row - 0.13, one.items.exact, theme.empty, "o")
                if one.baseline is not None:
                    _bar(ax, row + 0.13, one.baseline.exact, theme.item, "s")
        label_axes(ax, theme, x="exact matches")
        write(
            ax, 0, 1.04, protocol, transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1,
            fontweight="bold",
        )  # fmt: skip
    panels[0].plot([], [], "o", color=theme.empty, label="these items")
    if any(one.baseline is not None for one in models):
        panels[0].plot([], [], "s", color=theme.item, label="items known to be new")
    legend(panels[0], theme, loc="upper left", bbox_to_anchor=(0, -0.45 / height * 2), ncols=2)
    return figure


def _bar(ax: Axes, row: float, share: Share, colour: str, marker: str) -> None:
    if share.share is None or share.low is None or share.high is None:
        return
    ax.plot([share.low, share.high], [row, row], color=colour, linewidth=1.6)
    ax.plot([share.share], [row], marker, color=colour, markersize=4)
