"""How much of a suite so many of its benchmarks tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..suite.result import Coverage

HEIGHT = 3.3
LEFT, RIGHT, TOP, BOTTOM = 0.68, 0.15, 0.72, 0.5  # inches


def coverage_curve(coverage: Coverage, *, theme: Theme = LIGHT) -> Figure:
    """Draw f over the number of benchmarks, by each way of choosing them.

    Parameters
    ----------
    coverage
        What was found.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        The band holds 95% of random subsets; the chosen size is marked.
    """
    figure = new_figure(HEIGHT, theme)
    ax = figure.add_axes(
        (LEFT / WIDTH, BOTTOM / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / HEIGHT)
    )
    tidy(ax, theme)
    curve = coverage.curve
    sizes = np.array([point.size for point in curve])
    ax.fill_between(
        sizes, [point.random_q025 for point in curve], [point.random_q975 for point in curve],
        color=theme.muted, alpha=0.25, linewidth=0,
    )  # fmt: skip
    lines: list[tuple[str, list[float], str, Any, float]] = [
        ("random", [point.random for point in curve], theme.muted, "-", 1.2),
        ("greedy by f", [point.greedy_f for point in curve], theme.empty, "-", 2.6),
        ("greedy by F", [point.greedy_log_det for point in curve], theme.item, (0, (4, 2)), 1.7),
    ]
    if coverage.exact:
        best = [point.optimum or 0.0 for point in curve]
        lines.append(("best", best, theme.ink, (0, (1, 1.5)), 1.7))
    for label, values, colour, style, width in lines:
        ax.plot(sizes, values, color=colour, linestyle=style, linewidth=width, label=label)
    ax.plot(
        coverage.size, coverage.f.value, marker="D", markersize=7, color=theme.chosen,
        linestyle="none", label=f"kept: {coverage.size}", zorder=4,
    )  # fmt: skip
    ax.set_xlim(0.5, len(curve) + 0.5)
    ax.set_ylim(0, 1.04)
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    label_axes(ax, theme, x="benchmarks kept", y="share of the suite covered (f)")
    tall = HEIGHT - TOP - BOTTOM
    write(
        ax, 0, 1 + 0.4 / tall, "How much of the suite so many benchmarks cover",
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
        va="bottom",
    )  # fmt: skip
    legend(
        ax, theme, loc="lower left", bbox_to_anchor=(-0.01, 1 + 0.04 / tall), ncols=5,
        handlelength=1.8, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
    return figure
