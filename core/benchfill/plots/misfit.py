"""Which items do not fit the 1PL: infit against outfit, the ones to look at named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .labels import fitting, spread
from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ..check import FitCheck

MOST_NAMED = 14
HEIGHT, TALL = 4.4, 3.2  # of the picture, of its axes, inches
LEFT, NAMES, RIGHT, BOTTOM = 0.62, 2.35, 0.1, 0.75  # inches; NAMES is the room for names
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_KINDS = {"inverted_item": ("D", "better models do worse"), "misfit_item": ("^", "misfits")}


def misfit_picture(check: FitCheck, *, theme: Theme = LIGHT) -> Figure:
    """Draw infit against outfit of the items.

    Parameters
    ----------
    check
        A check of a fit.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Logarithmic axes; 1 is what the 1PL expects, and the box is where the middle of 95% of the
        fitted model's own items lies. Up to 14 listed items are named, the most serious first.
    """
    known = [one for one in check.item_fits if one.infit is not None and one.outfit is not None]
    figures = {one.item: (max(one.infit or 0, 1e-3), max(one.outfit or 0, 1e-3)) for one in known}
    kinds = {one.names[0]: one.kind for one in check.findings if one.kind in _KINDS}
    listed = {item: kind for item, kind in kinds.items() if item in figures}
    figure = new_figure(HEIGHT, theme)
    wide = WIDTH - LEFT - NAMES - RIGHT
    ax = figure.add_axes((LEFT / WIDTH, BOTTOM / HEIGHT, wide / WIDTH, TALL / HEIGHT))
    tidy(ax, theme)
    _limits(ax, np.array(list(figures.values())) if figures else np.ones((1, 2)))
    _expected(ax, check, theme)
    plain = np.array([xy for item, xy in figures.items() if item not in listed]).reshape(-1, 2)
    size = 5.0 if len(plain) <= 100 else 3.2 if len(plain) <= 1500 else 2.2
    ax.plot(
        *plain.T, linestyle="none", marker="o", markersize=size, markeredgewidth=0,
        alpha=0.75 if len(plain) <= 100 else 0.35, color=theme.item, label="items",
    )  # fmt: skip
    for kind, (marker, label) in _KINDS.items():
        points = np.array([figures[item] for item, own in listed.items() if own == kind])
        if len(points):
            ax.plot(
                *points.T, linestyle="none", marker=marker, markersize=5.5, color=theme.empty,
                markeredgecolor=theme.paper, markeredgewidth=0.5, label=label, zorder=4,
            )  # fmt: skip
    _names(ax, {item: figures[item] for item in listed}, theme)
    label_axes(ax, theme, x="infit", y="outfit")
    legend(ax, theme, loc="upper left", bbox_to_anchor=(-0.02, -0.13), ncols=4, handletextpad=0.3)
    write(
        ax, 0, 1.05, f"How {len(figures):,} items fit: 1 is expected, more is surprising",
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    return figure


def _limits(ax: Axes, points: NDArray[np.float64]) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis, values, limit in (
        (ax.xaxis, points[:, 0], ax.set_xlim),
        (ax.yaxis, points[:, 1], ax.set_ylim),
    ):
        low, high = min(values.min(), 0.7) / 1.15, max(values.max(), 1.5) * 1.15
        limit(low, high)
        # every second tick where they would crowd
        inside = [tick for tick in _TICKS if low <= tick <= high]
        step = 1 if len(inside) <= 9 else 3
        at_one = inside.index(1) % step
        axis.set_major_locator(FixedLocator(inside[at_one::step]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _expected(ax: Axes, check: FitCheck, theme: Theme) -> None:
    for line in (ax.axvline, ax.axhline):
        line(1, color=theme.muted, linewidth=0.8, zorder=1)
    infit = [one.infit_range for one in check.item_fits if one.infit_range is not None]
    outfit = [one.outfit_range for one in check.item_fits if one.outfit_range is not None]
    if not infit or not outfit:
        return
    sides = [
        (float(np.median([one.low for one in part])), float(np.median([one.high for one in part])))
        for part in (infit, outfit)
    ]
    (left, right), (low, high) = sides
    ax.fill_between(
        [left, right], low, high, color=theme.muted, alpha=0.16, linewidth=0, zorder=0.5,
        label="chance, typical item",
    )  # fmt: skip


def _names(ax: Axes, listed: Mapping[str, tuple[float, float]], theme: Theme) -> None:
    """Write names in a column right of the axes, each with a line to its point."""
    named = list(listed.items())[:MOST_NAMED]
    if not named:
        return
    # heights in shares of the axes, where lines and names share one scale
    places = ax.transScale.transform([xy for _, xy in named])
    box = ax.transScale.transform([(ax.get_xlim()[0], ax.get_ylim()[0]), _upper(ax)])
    shares = (places - box[0]) / (box[1] - box[0])
    order = np.argsort(shares[:, 1], kind="stable")
    heights = spread(shares[order, 1], 0.175 / TALL, (0.0, 1.0))
    for k, height in zip(order, heights, strict=True):
        ax.plot(
            [shares[k, 0], 1.02, 1.05], [shares[k, 1], height, height],
            transform=ax.transAxes, color=theme.muted, linewidth=0.5, clip_on=False, zorder=3,
        )  # fmt: skip
        name = fitting(named[int(k)][0], NAMES - 0.3)
        write(ax, 1.06, height, name, transform=ax.transAxes, color=theme.ink, va="center")
    left = len(listed) - len(named)
    if left:
        write(
            ax, 1.06, -0.09, f"and {left:,} more", transform=ax.transAxes, color=theme.muted,
            va="center",
        )  # fmt: skip


def _upper(ax: Axes) -> tuple[float, float]:
    return ax.get_xlim()[1], ax.get_ylim()[1]
