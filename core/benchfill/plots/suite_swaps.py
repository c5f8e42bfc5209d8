"""How many of the best models change between two halves of a suite, against made-up models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..suite.result import Swaps

HEIGHT = 3.1
LEFT, RIGHT, TOP, BOTTOM = 0.68, 0.15, 0.72, 0.5  # inches
BAR = 0.27


def swap_histogram(swaps: Swaps, *, theme: Theme = LIGHT) -> Figure:
    """Draw in what share of splits none, one, two, ... of the best models change.

    Parameters
    ----------
    swaps
        Of the suite, with its nulls.
    theme
        Colours.
    """
    figure = new_figure(HEIGHT, theme)
    ax = figure.add_axes(
        (LEFT / WIDTH, BOTTOM / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / HEIGHT)
    )
    tidy(ax, theme)
    count = np.arange(swaps.top + 1)
    for shift, (rate, label, face, hatch) in enumerate(
        (
            (swaps.observed, "these models", theme.item, ""),
            (swaps.gaussian, "made-up models, same correlations", theme.paper, "////"),
            (swaps.single_factor, "made-up models, one factor", theme.paper, "...."),
        )
    ):
        ax.bar(
            count + (shift - 1) * BAR, rate.changes, BAR * 0.92, facecolor=face, hatch=hatch,
            edgecolor=theme.item if not hatch else theme.muted, linewidth=0.8, label=label,
        )  # fmt: skip
    ax.set_xticks(count)
    ax.set_xlim(-0.6, swaps.top + 0.6)
    ax.set_ylim(0, None)
    label_axes(
        ax, theme, x=f"of the {swaps.top} best on one half, so many are not on the other",
        y="share of splits",
    )  # fmt: skip
    tall = HEIGHT - TOP - BOTTOM
    write(
        ax, 0, 1 + 0.4 / tall,
        f"Halves of the suite: another first in {swaps.observed.another_first.value:.0%} of "
        f"splits, by chance {swaps.gaussian.another_first.value:.0%}",
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
        va="bottom",
    )  # fmt: skip
    legend(
        ax, theme, loc="lower left", bbox_to_anchor=(-0.01, 1 + 0.04 / tall), ncols=3,
        handlelength=1.8, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
    return figure
