"""The eigenvalues of a suite against those of noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..suite.result import Spectrum

HEIGHT = 3.3
LEFT, RIGHT, TOP, BOTTOM = 0.62, 0.15, 0.72, 0.5  # inches
MOST_TICKS = 15


def suite_spectrum(spectrum: Spectrum, *, theme: Theme = LIGHT) -> Figure:
    """Draw eigenvalues, largest first, with the edges up to which noise reaches.

    Parameters
    ----------
    spectrum
        Of the models in use.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Eigenvalues above the Marchenko-Pastur edge are filled, the others hollow.
    """
    figure = new_figure(HEIGHT, theme)
    ax = figure.add_axes(
        (LEFT / WIDTH, BOTTOM / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / HEIGHT)
    )
    tidy(ax, theme)
    values = np.array(spectrum.eigenvalues)
    rank = np.arange(1, len(values) + 1)
    above = values > spectrum.mp_edge
    ax.vlines(rank, 0, values, color=theme.grid, linewidth=1.2, zorder=1)
    for shown, face, label in (
        (above, theme.item, "above the edge"),
        (~above, theme.paper, "within noise"),
    ):
        ax.plot(
            rank[shown], values[shown], linestyle="none", marker="o", markersize=5,
            markerfacecolor=face, markeredgecolor=theme.item, label=label, zorder=3,
        )  # fmt: skip
    for edge, colour, dashes, label in (
        (spectrum.mp_edge, theme.empty, (0, ()), "Marchenko-Pastur edge"),
        (spectrum.permutation_edge, theme.ink, (0, (4, 2)), "permuted, 95%"),
        (1.0, theme.muted, (0, (1, 2)), "1 (Kaiser)"),
    ):
        ax.axhline(edge, color=colour, linewidth=1.3, linestyle=dashes, label=label, zorder=2)
    every = max(1, -(-len(values) // MOST_TICKS))
    ax.set_xticks(rank[::every])
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.set_ylim(0, max(values[0], spectrum.mp_edge) * 1.08)
    label_axes(ax, theme, x="component", y="eigenvalue")
    tall = HEIGHT - TOP - BOTTOM
    write(
        ax, 0, 1 + 0.4 / tall,
        f"{spectrum.d_eff.value:.2f} directions, "
        f"{spectrum.d_eff_corrected.value:.2f} without noise",
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
        va="bottom",
    )  # fmt: skip
    legend(
        ax, theme, loc="lower left", bbox_to_anchor=(-0.01, 1 + 0.04 / tall), ncols=5,
        handlelength=1.6, columnspacing=1.2, borderaxespad=0, handletextpad=0.5,
    )  # fmt: skip
    return figure
