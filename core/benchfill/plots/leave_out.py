"""How far difficulties move when one model is left out, and which models move them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .labels import fitting
from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, new_figure, tidy, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..check import FitCheck

MOST_ROWS = 14
ROW = 0.2  # height of a model's row, inches
LEFT, RIGHT, TOP, BOTTOM = 0.62, 0.15, 0.5, 0.55  # margins, inches
ITEMS, NAMES = 3.1, 1.75  # widths of the left axes and of the names, inches


def leave_out_picture(check: FitCheck, *, theme: Theme = LIGHT) -> Figure:
    """Draw the items' movement left, and the models that move them most right.

    Parameters
    ----------
    check
        A check of a fit.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Left a line for each item, from the lowest to the highest change of its difficulty over all
        refits without one model; right the root mean square change that each model makes, for at
        most 14 models.
    """
    models = check.leave_one_out.models[:MOST_ROWS]
    tall = max(2.3, ROW * (len(models) + 0.5))
    height = tall + TOP + BOTTOM
    figure = new_figure(height, theme)
    box = BOTTOM / height, tall / height
    start = (LEFT + ITEMS + NAMES + 0.25) / WIDTH
    items = figure.add_axes((LEFT / WIDTH, box[0], ITEMS / WIDTH, box[1]))
    movers = figure.add_axes((start, box[0], 1 - start - RIGHT / WIDTH, box[1]))
    _items(items, check, theme)
    tidy(movers, theme, sides=("bottom",))
    rows = np.arange(len(models))[::-1]
    shifts = [one.shift for one in models]
    movers.hlines(rows, 0, shifts, color=theme.item, linewidth=1.6)
    movers.plot(shifts, rows, linestyle="none", marker="o", markersize=5, color=theme.item)
    movers.set_xlim(0, max([*shifts, 1e-3]) * 1.12)
    movers.set_ylim(len(models) - 1 - (tall / ROW - 0.5), len(models) - 0.5)
    movers.tick_params(left=False, labelleft=False)
    movers.locator_params(axis="x", nbins=3)
    movers.grid(axis="x", color=theme.grid, linewidth=0.7)
    for row, one in zip(rows, models, strict=True):
        write(
            movers, -0.06, float(row), fitting(one.model, NAMES),
            transform=movers.get_yaxis_transform(), color=theme.ink, ha="right", va="center",
        )  # fmt: skip
    label_axes(movers, theme, x="change, logits")
    write(
        items, 0, 1 + 0.2 / tall, "How much the difficulties hang on one model",
        transform=items.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    return figure


def _items(ax: Axes, check: FitCheck, theme: Theme) -> None:
    tidy(ax, theme)
    b = np.array([one.b for one in check.item_fits])
    low = np.array([one.moved_low for one in check.item_fits])
    high = np.array([one.moved_high for one in check.item_fits])
    ax.axhline(0, color=theme.muted, linewidth=0.8)
    few = len(b) <= 60
    # equal items lie on one another; many lines would be a smear if they were opaque
    ax.vlines(
        b, low, high, color=theme.item, linewidth=2.0 if few else 0.9,
        alpha=0.8 if few else max(0.08, min(0.5, 60 / len(b))),
    )  # fmt: skip
    if few:
        ax.plot(np.repeat(b, 2), np.stack([low, high], 1).ravel(), linestyle="none",
                marker="_", markersize=6, color=theme.item)  # fmt: skip
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    label_axes(ax, theme, x="difficulty from all models, logits", y="change without a model")
