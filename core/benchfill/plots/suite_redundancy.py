"""Which benchmarks tell the same: their correlations, like beside like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from .labels import fitting
from .style import BLUE, LIGHT, SIZE, VERMILLION, WIDTH, Theme, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

MOST_FIGURES = 14  # benchmarks up to which cells are wide enough for their figure
NAMES, RIGHT, TOP, BOTTOM = 2.0, 0.15, 0.62, 0.42  # inches
LEAST_LINE = 0.155


def redundancy_map(
    names: Sequence[str],
    matrix: ArrayLike,
    *,
    kept: Collection[str] = (),
    theme: Theme = LIGHT,
) -> Figure:
    """Draw the correlations between benchmarks.

    Parameters
    ----------
    names
        Of the k benchmarks, like beside like.
    matrix
        Correlations in the same order, shape (k, k).
    kept
        Benchmarks whose names are bold.
    theme
        Colours: blue where benchmarks go together, orange where one falls as the other rises.
    """
    values = np.asarray(matrix, np.float64)
    count = len(names)
    cell = min((WIDTH - NAMES - RIGHT) / count, 0.42)
    line = max(cell, LEAST_LINE)
    height = TOP + line * count + BOTTOM
    figure = new_figure(height, theme)
    ax = figure.add_axes(
        (NAMES / WIDTH, BOTTOM / height, cell * count / WIDTH, line * count / height)
    )
    tidy(ax, theme, sides=())
    ax.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    ax.set_xlim(0, count)
    ax.set_ylim(count, 0)
    shades = LinearSegmentedColormap.from_list("together", [VERMILLION, theme.paper, BLUE])
    edges = np.arange(count + 1)
    ax.pcolormesh(edges, edges, values, cmap=shades, vmin=-1, vmax=1, edgecolor=theme.paper, lw=0.4)
    every = 1 if cell > 0.2 else 5
    for i, name in enumerate(names):
        write(
            ax, -0.08 / cell, i + 0.5, f"{fitting(name, NAMES - 0.5)}  {i + 1}", color=theme.ink,
            ha="right", va="center", fontweight="bold" if name in kept else "normal",
            fontsize=SIZE - 0.5,
        )  # fmt: skip
        if (i + 1) % every == 0:
            write(
                ax, i + 0.5, -0.06 / line, str(i + 1), color=theme.muted, ha="center", va="bottom",
                fontsize=SIZE - 1,
            )  # fmt: skip
        for j in range(count if count <= MOST_FIGURES else 0):
            dark = abs(values[i, j]) > 0.55
            write(
                ax, j + 0.5, i + 0.5, _figure(values[i, j]), ha="center", va="center",
                color="#ffffff" if dark else theme.ink, fontsize=SIZE - 1.5,
            )  # fmt: skip
    _key(figure, shades, theme)
    write(
        ax, -(NAMES - 0.12) / cell, -(TOP - 0.2) / line, "Which benchmarks tell the same",
        color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold", va="center",
    )  # fmt: skip
    return figure


def _figure(value: float) -> str:
    text = f"{value:.2f}"
    return "0" if text in {"0.00", "-0.00"} else text.replace("0.", ".", 1)


def _key(figure: Figure, shades: Colormap, theme: Theme) -> None:
    height = figure.get_size_inches()[1]
    ax = figure.add_axes(((NAMES + 0.35) / WIDTH, 0.16 / height, 1.5 / WIDTH, 0.1 / height))
    tidy(ax, theme, sides=())
    ax.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    ax.imshow(np.linspace(-1, 1, 64)[None], cmap=shades, aspect="auto", extent=(0, 1, 0, 1))
    for x, side, text in ((-0.06, "right", "correlation  −1"), (1.06, "left", "1; bold: kept")):
        write(ax, x, 0.5, text, color=theme.muted, ha=side, va="center")
