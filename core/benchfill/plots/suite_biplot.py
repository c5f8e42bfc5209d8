"""Models and benchmarks in the plane of the two leading components."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .labels import fitting, spread
from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

NAMES, TOP, BOTTOM = 1.55, 0.5, 0.5  # inches; names stand on both sides
LEAST_TALL, LINE = 3.3, 0.165
ONE_SIDED = 18  # names that one side takes before both share them
_MODEL_REACH = 3.0  # standard deviations that fill the plane


class _Side(NamedTuple):
    members: NDArray[np.int64]
    x: float
    ha: str


def suite_biplot(
    names: Sequence[str],
    loadings: ArrayLike,
    models: ArrayLike,
    *,
    kept: Collection[str] = (),
    theme: Theme = LIGHT,
) -> Figure:
    """Draw benchmarks as arrows and models as dots.

    Parameters
    ----------
    names
        Of the k benchmarks.
    loadings
        Their correlations with the two leading components, shape (k, 2).
    models
        Scores of the models on both, unit variance, shape (n, 2); drawn at a third of their size.
    kept
        Benchmarks whose names are bold.
    theme
        Colours.
    """
    tips = np.asarray(loadings, np.float64)
    right = tips[:, 0] >= 0
    if max(right.sum(), (~right).sum()) > ONE_SIDED:
        right = tips[:, 0] >= np.median(tips[:, 0])
    most = max(int(right.sum()), int((~right).sum()))
    tall = max(LEAST_TALL, LINE * (most + 1))
    height = TOP + tall + BOTTOM
    figure = new_figure(height, theme)
    wide = WIDTH - 2 * NAMES
    ax = figure.add_axes((NAMES / WIDTH, BOTTOM / height, wide / WIDTH, tall / height))
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    ax.set_xlim(-1.08, 1.08)
    ax.set_ylim(-1.08, 1.08)
    ax.axhline(0, color=theme.grid, linewidth=0.8, zorder=0)
    ax.axvline(0, color=theme.grid, linewidth=0.8, zorder=0)
    dots = np.clip(np.asarray(models, np.float64) / _MODEL_REACH, -1.05, 1.05)
    ax.plot(
        dots[:, 0], dots[:, 1], linestyle="none", marker="o", markersize=2.4, color=theme.muted,
        alpha=0.45, markeredgewidth=0, zorder=1,
    )  # fmt: skip
    for x, y in tips:
        ax.annotate(
            "", (x, y), (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": theme.item, "lw": 1.1, "shrinkA": 0,
                        "shrinkB": 0, "mutation_scale": 8},
            zorder=3,
        )  # fmt: skip
    for side in (
        _Side(np.flatnonzero(right), 1.12, "left"),
        _Side(np.flatnonzero(~right), -1.12, "right"),
    ):
        _label(ax, names, tips, side, (kept, 2.16 * LINE / tall, theme))
    label_axes(ax, theme, x="first component across, second up; arrows: benchmarks, dots: models")
    write(
        ax, -(NAMES - 0.12) / wide, 1 + 0.16 / tall, "What benchmarks have in common",
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
        va="bottom",
    )  # fmt: skip
    return figure


def _label(
    ax: Axes,
    names: Sequence[str],
    tips: NDArray[np.float64],
    side: _Side,
    look: tuple[Collection[str], float, Theme],
) -> None:
    """Write the names of one side under one another, each with a line to its arrow."""
    if not len(side.members):
        return
    kept, apart, theme = look
    members = side.members[np.argsort(tips[side.members, 1], kind="stable")]
    heights = spread(tips[members, 1], apart, (-1.08, 1.08))
    for j, y in zip(members, heights, strict=True):
        ax.plot(
            [tips[j, 0], side.x * 0.985], [tips[j, 1], y], color=theme.muted, linewidth=0.5,
            alpha=0.7, clip_on=False, zorder=2,
        )  # fmt: skip
        write(
            ax, side.x, y, fitting(names[j], NAMES - 0.3), color=theme.ink, ha=side.ha,
            va="center", fontsize=SIZE - 0.5,
            fontweight="bold" if names[j] in kept else "normal",
        )  # fmt: skip
