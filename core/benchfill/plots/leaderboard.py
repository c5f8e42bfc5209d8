"""The leaderboard twice: on the benchmark, and under the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .labels import fitting
from .style import (
    LIGHT,
    SIZE,
    WIDTH,
    Theme,
    label_axes,
    legend,
    new_figure,
    tidy,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..ranking import RankedModel
    from ..ranking.result import Standing

MOST_MODELS = 60
LINE = 0.215  # height of a model, inches
NAMES, RANKS, RIGHT, TOP, BOTTOM = 2.35, 0.85, 0.12, 0.86, 0.5  # inches


def leaderboard_scores(models: Sequence[RankedModel], *, theme: Theme = LIGHT) -> Figure:
    """Draw each model's score on the benchmark and under the target, with 90% intervals.

    Parameters
    ----------
    models
        Models, best on the benchmark first; the first 60 are drawn.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        A line a model; its ranks on both stand at the right.
    """
    drawn = models[:MOST_MODELS]
    tall = LINE * len(drawn)
    height = TOP + tall + BOTTOM
    figure = new_figure(height, theme)
    wide = WIDTH - NAMES - RANKS - RIGHT
    ax = figure.add_axes((NAMES / WIDTH, BOTTOM / height, wide / WIDTH, tall / height))
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    ax.grid(axis="x", color=theme.grid, linewidth=0.7)
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    for row in range(0, len(drawn), 2):
        ax.axhspan(row - 0.5, row + 0.5, color=theme.grid, alpha=0.35, linewidth=0)
    for look, standings in (
        (_Look("on the benchmark", -0.17, theme.item, "o"), [one.benchmark for one in drawn]),
        (_Look("under the target", 0.17, theme.empty, "D"), [one.target for one in drawn]),
    ):
        _standings(ax, standings, look)
    _names_and_ranks(ax, drawn, wide, theme)
    label_axes(ax, theme, x="score, with 90% interval")
    legend(
        ax, theme, loc="lower left", ncols=2, borderaxespad=0, handlelength=1.6,
        bbox_to_anchor=(0, 1 + 0.06 / tall),
    )  # fmt: skip
    which = "The best " if len(drawn) < len(models) else ""
    shown = f"{which}{len(drawn)} model{'s' if len(drawn) != 1 else ''}"
    _title(ax, f"{shown} on the benchmark and under the target", tall, theme)
    return figure


class _Look(NamedTuple):
    label: str
    shift: float
    colour: str
    marker: str


def _standings(ax: Axes, standings: Sequence[Standing], look: _Look) -> None:
    y = np.arange(len(standings)) + look.shift
    scores = [one.score for one in standings]
    left, right = [one.q05 for one in scores], [one.q95 for one in scores]
    ax.hlines(y, left, right, look.colour, linewidth=1.6)
    ax.plot(
        [one.value for one in scores], y, linestyle="none", marker=look.marker, markersize=3.6,
        color=look.colour, label=look.label,
    )  # fmt: skip


def _names_and_ranks(ax: Axes, models: Sequence[RankedModel], wide: float, theme: Theme) -> None:
    """Write names left and ranks right of axes that are `wide` inches wide; moves are bold."""
    beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
    right = 1 + 0.12 / wide
    write(ax, right, -0.85, "rank", color=theme.muted, **beside)
    for row, one in enumerate(models):
        name = fitting(one.model, NAMES - 0.2)
        write(ax, -0.1 / wide, row, name, color=theme.ink, ha="right", **beside)
        moved = one.benchmark.rank != one.target.rank
        write(
            ax, right, row, f"{one.benchmark.rank} → {one.target.rank}",
            color=theme.ink if moved else theme.muted,
            fontweight="bold" if moved else "normal", **beside,
        )  # fmt: skip


def _title(ax: Axes, text: str, tall: float, theme: Theme) -> None:
    write(
        ax, -(NAMES - 0.12) / (WIDTH - NAMES - RANKS - RIGHT), 1 + 0.5 / tall, text,
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
        va="bottom",
    )  # fmt: skip
