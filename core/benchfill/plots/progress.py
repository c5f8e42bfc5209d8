"""A model before and after, along the difficulty of the items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from ..progress import BlindZone, ModelProgress
    from ..progress.result import Band

MOST_TICKS = 250  # single items beyond this are a smear: bins are drawn instead
BINS = 80
LEFT, RIGHT, TOP, BOTTOM = 0.62, 0.15, 0.62, 0.95  # margins, inches
RATES, STRIP, BETWEEN = 2.3, 0.5, 0.08  # heights, inches


def progress_picture(
    z: ArrayLike,
    model: ModelProgress,
    blind: Sequence[BlindZone],
    *,
    title: str,
    theme: Theme = LIGHT,
) -> Figure:
    """Draw success rates before and after by difficulty, the interval under test, blind zones.

    Parameters
    ----------
    z
        Difficulties of the items in use, shape (I,).
    model
        The test of one model.
    blind
        Stretches without an item, which are hatched.
    title
        One line over the picture; no name from a file.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Legible from 3 to many thousand items.
    """
    places = np.sort(np.asarray(z, dtype=np.float64))
    height = TOP + RATES + BETWEEN + STRIP + BOTTOM
    figure = new_figure(height, theme)
    wide = (LEFT / WIDTH, 1 - (LEFT + RIGHT) / WIDTH)
    rates = figure.add_axes((wide[0], (BOTTOM + STRIP + BETWEEN) / height, wide[1], RATES / height))
    strip = figure.add_axes((wide[0], BOTTOM / height, wide[1], STRIP / height))
    for ax in (rates, strip):
        ax.set_xlim(-0.02, 1.02)
        for zone in blind:
            ax.axvspan(
                zone.z_left, zone.z_right, facecolor="none", edgecolor=theme.unresolved,
                hatch="////", alpha=0.4, linewidth=0, zorder=0.5,
            )  # fmt: skip
        if model.local is not None:
            ax.axvspan(
                model.local.z_left, model.local.z_right, color=theme.chosen,
                alpha=0.3 if model.detected else 0.13, linewidth=0, zorder=0.4,
            )  # fmt: skip
    _rates(rates, model.bands, theme)
    _strip(strip, places, theme)
    _keys(strip, model, theme)
    write(
        rates, 0, 1 + 0.2 / RATES, title, transform=rates.transAxes, color=theme.ink,
        fontsize=SIZE + 1.5, fontweight="bold", va="bottom",
    )  # fmt: skip
    return figure


def _rates(ax: Axes, bands: Sequence[Band], theme: Theme) -> None:
    """Draw each band's rates from its easiest to its hardest item, and nothing between bands."""
    tidy(ax, theme, sides=("left",))
    ax.tick_params(labelbottom=False, bottom=False)
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    ax.set_ylim(-0.03, 1.05)
    label_axes(ax, theme, y="success rate")
    for band in bands:
        # a band of equal items is a point, which would not show
        left, right = _wide(band.z_left, band.z_right)
        ax.fill_between(
            [left, right], band.gain.before, band.gain.after, linewidth=0, alpha=0.25,
            color=theme.item if band.gain.gain >= 0 else theme.empty,
        )  # fmt: skip
        ax.plot(
            [left, right], [band.gain.before] * 2, color=theme.muted, linewidth=2,
            linestyle=(0, (2, 1)),
        )  # fmt: skip
        ax.plot([left, right], [band.gain.after] * 2, color=theme.item, linewidth=2)


def _wide(left: float, right: float) -> tuple[float, float]:
    lacking = max(0.012 - (right - left), 0.0) / 2
    return left - lacking, right + lacking


def _strip(ax: Axes, z: NDArray[np.float64], theme: Theme) -> None:
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    label = "difficulty z (0: easiest item, 1: hardest)"
    if len(z) <= MOST_TICKS:
        ax.vlines(z, 0.08, 0.92, color=theme.item, linewidth=1.1 if len(z) <= 80 else 0.7)
        ax.set_ylim(0, 1)
    else:
        counts, edges = np.histogram(z, BINS, (0, 1))
        ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=theme.item, linewidth=0)
        ax.set_ylim(0, counts.max() * 1.05)
        label += f"; at most {counts.max():,} items a bar"
    label_axes(ax, theme, x=label, y="items")


def _keys(ax: Axes, model: ModelProgress, theme: Theme) -> None:
    keys = [
        ax.plot([], [], color=theme.muted, linewidth=2, linestyle=(0, (2, 1)), label="before")[0],
        ax.plot([], [], color=theme.item, linewidth=2, label="after")[0],
        Patch(
            facecolor="none", edgecolor=theme.unresolved, hatch="////", alpha=0.4, linewidth=0,
            label="widest gaps: no item",
        ),
    ]  # fmt: skip
    if model.local is not None:
        which = "interval tested" if model.scanned is None else "interval with the clearest gain"
        keys.append(
            Patch(
                color=theme.chosen, alpha=0.3 if model.detected else 0.13, linewidth=0, label=which
            )
        )
    legend(
        ax, theme, handles=keys, loc="upper left", bbox_to_anchor=(-0.02, -0.95), ncols=4,
        handlelength=1.8, columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
