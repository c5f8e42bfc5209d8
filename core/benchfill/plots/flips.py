"""Which pairs of models may change places under the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from .labels import fitting
from .style import LIGHT, SIZE, WIDTH, Theme, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MOST_MAPPED = 45
MOST_FIGURES = 14  # models up to which cells are wide enough for their figure
NAMES, RIGHT, TOP, BOTTOM = 2.35, 0.15, 0.75, 0.42  # inches


def flip_map(
    ranked: Sequence[str], p_flip: Mapping[tuple[str, str], float], *, theme: Theme = LIGHT
) -> Figure:
    """Draw P(flip) of all pairs as a triangle of cells.

    Parameters
    ----------
    ranked
        Models, best on the benchmark first, at most `MOST_MAPPED`.
    p_flip
        P(flip) by pair of models, in either order; a pair without one stays hatched.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        The row is the one that is ahead on the benchmark, the column the one behind, by rank.
    """
    count = len(ranked)
    values = np.full((count, count), np.nan)
    for i, one in enumerate(ranked):
        for j in range(i + 1, count):
            found = p_flip.get((one, ranked[j]), p_flip.get((ranked[j], one)))
            values[i, j] = np.nan if found is None else found
    cell = min((WIDTH - NAMES - RIGHT) / count, 0.36)
    tall = max(cell, 0.15) * count
    height = TOP + tall + BOTTOM
    figure = new_figure(height, theme)
    wide = cell * count
    ax = figure.add_axes((NAMES / WIDTH, BOTTOM / height, wide / WIDTH, tall / height))
    tidy(ax, theme, sides=())
    ax.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    ax.set_xlim(0, count)
    ax.set_ylim(count, 0)
    shades = LinearSegmentedColormap.from_list("flips", [theme.paper, theme.empty])
    edges = np.arange(count + 1)
    ax.pcolormesh(edges, edges, values, cmap=shades, vmin=0, vmax=1, edgecolor=theme.grid, lw=0.4)
    every = 1 if cell > 0.2 else 5
    for i, name in enumerate(ranked):
        label = f"{fitting(name, NAMES - 0.55)}  {i + 1}"
        write(ax, -0.08 / cell, i + 0.5, label, color=theme.ink, ha="right", va="center")
        if i and (i + 1) % every == 0:
            write(ax, i + 0.5, -0.25, str(i + 1), color=theme.muted, ha="center", va="bottom")
        for j in range(i + 1, count):
            _cell(ax, (i, j), values[i, j], theme)
    _key(figure, shades, theme)
    write(
        ax, -(NAMES - 0.12) / cell, -(TOP - 0.25) * count / tall,
        "Which pairs may change places under the target", color=theme.ink, fontsize=SIZE + 1.5,
        fontweight="bold", va="center",
    )  # fmt: skip
    return figure


def _cell(ax: Axes, place: tuple[int, int], value: float, theme: Theme) -> None:
    """Hatch a cell without a value, and write the value where cells are wide."""
    i, j = place
    if np.isnan(value):
        ax.fill_between(
            [j, j + 1], i, i + 1, facecolor="none", edgecolor=theme.muted, hatch="////", linewidth=0
        )
    elif ax.get_xlim()[1] <= MOST_FIGURES and value >= 0.005:
        write(
            ax, j + 0.5, i + 0.5, f"{value:.2f}".removeprefix("0"), ha="center", va="center",
            color=theme.ink, fontsize=SIZE - 1,
        )  # fmt: skip


def _key(figure: Figure, shades: Colormap, theme: Theme) -> None:
    height = figure.get_size_inches()[1]
    ax = figure.add_axes((NAMES / WIDTH, 0.16 / height, 1.5 / WIDTH, 0.1 / height))
    tidy(ax, theme, sides=())
    ax.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    ax.imshow(np.linspace(0, 1, 64)[None], cmap=shades, aspect="auto", extent=(0, 1, 0, 1))
    for x, side, text in ((-0.06, "right", "P(flip)  0"), (1.06, "left", "1")):
        write(ax, x, 0.5, text, color=theme.muted, ha=side, va="center")
