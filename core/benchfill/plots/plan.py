"""A plan for new items: where they go, and what the benchmark is then expected to cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import LIGHT, SIZE, WIDTH, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from ..plan.result import Coverage, ItemPlan

MOST_TICKS = 250  # single items beyond this are a smear: bins are drawn instead
MOST_LINES = 40  # new items beyond this are marked without a line through the picture
BINS = 80
LEFT, RIGHT = 0.82, 0.15  # margins, inches
_NAMES = {
    "max_gap": "widest gap",
    "ddm": "mismatch",
    "top_k_sum": "sum of the five widest gaps",
}
_FIGURES_AT = 0.72  # where the figures stand, share of the width


def plan_picture(z: ArrayLike, plan: ItemPlan, *, theme: Theme = LIGHT) -> Figure:
    """Draw the planned places among the items, and the expected coverage before and after.

    Parameters
    ----------
    z
        Difficulties of the items on the frozen z scale, shape (I,).
    plan
        Where new items go.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Above: how wide the spacing around each place is on average over the posterior, now and
        after the plan. Middle: the items and the planned places. Below: G, DDM and the sum of the
        five widest gaps with their 90% intervals, now, after plain midpoints and after the plan.
    """
    height = 6.1
    figure = new_figure(height, theme)
    wide = 1 - (LEFT + RIGHT) / WIDTH
    curve = figure.add_axes((LEFT / WIDTH, 3.72 / height, wide, 1.85 / height))
    strip = figure.add_axes((LEFT / WIDTH, 3.1 / height, wide, 0.55 / height))
    bars = figure.add_axes((LEFT / WIDTH, 0.45 / height, wide, 1.75 / height))
    places = np.array([item.z for item in plan.items])
    for ax in (curve, strip):
        ax.set_xlim(-0.02, 1.02)
        if len(places) <= MOST_LINES:
            for place in places:
                ax.axvline(place, color=theme.chosen, linewidth=1.0, alpha=0.8, zorder=3)
    _profile(curve, plan, theme)
    _strip(strip, np.asarray(z, dtype=np.float64), places, theme)
    _bars(bars, plan, theme)
    count = len(places)
    write(
        curve, 0, 1.06, f"Where {count:,} new item{'' if count == 1 else 's'} would go",
        transform=curve.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    return figure


def _profile(ax: Axes, plan: ItemPlan, theme: Theme) -> None:
    z = np.array(plan.profile.z)
    before, after = (
        np.array(values, dtype=np.float64) for values in (plan.profile.before, plan.profile.after)
    )
    tidy(ax, theme, sides=("left",))
    ax.tick_params(labelbottom=False, bottom=False)
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    ax.plot(z, before, color=theme.empty, linewidth=1.5, linestyle=(0, (4, 2)), label="now")
    ax.plot(z, after, color=theme.item, linewidth=1.7, label="after the plan")
    ax.fill_between(z, after, before, color=theme.empty, alpha=0.12, linewidth=0)
    ax.set_ylim(0, 1.12 * float(np.nanmax([*before, *after, 1e-9])))
    label_axes(ax, theme, y="expected spacing")
    legend(ax, theme, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.2)


def _strip(ax: Axes, z: NDArray[np.float64], places: NDArray[np.float64], theme: Theme) -> None:
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    scale = "difficulty z (0: easiest item, 1: hardest)"
    if len(z) <= MOST_TICKS:
        ax.vlines(z, 0.08, 0.92, color=theme.item, linewidth=1.1 if len(z) <= 80 else 0.7)
        ax.set_ylim(0, 1)
    else:
        counts, edges = np.histogram(z, BINS)
        ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=theme.item, linewidth=0)
        ax.set_ylim(0, counts.max() * 1.05)
        scale += f"; at most {counts.max():,} items a bar"
    label_axes(ax, theme, x=f"{scale}; diamonds: new items", y="items")
    middle = sum(ax.get_ylim()) / 2
    few = len(places) <= MOST_LINES
    ax.plot(
        places, np.full(len(places), middle), linestyle="none", marker="D",
        markersize=7 if few else 3.5, color=theme.chosen,
        markeredgecolor=theme.paper if few else "none", zorder=4, clip_on=False,
    )  # fmt: skip


def _bars(ax: Axes, plan: ItemPlan, theme: Theme) -> None:
    """Draw mean and 90% interval of each figure; the figures themselves stand to the right."""
    states: Sequence[tuple[str, Coverage, str, str]] = (
        ("now", plan.before, theme.empty, "o"),
        ("plain midpoints", plan.plain.coverage, theme.muted, "s"),
        ("the plan", plan.after, theme.item, "D"),
    )
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    ax.grid(axis="x", color=theme.grid, linewidth=0.7)
    largest = max(getattr(coverage, name).q95 for _, coverage, _, _ in states for name in _NAMES)
    low, high = 0.0, max(largest, 1e-9)
    # the left quarter is for names, the right one for figures
    span = (high - low) / (_FIGURES_AT - 0.27)
    ax.set_xlim(low - 0.27 * span, low + 0.73 * span)
    ax.set_xticks([tick for tick in ax.get_xticks() if low <= tick <= high * 1.0001])
    for group, (name, title) in enumerate(_NAMES.items()):
        top = group * 4.1
        write(
            ax, 0.0, top, title, transform=ax.get_yaxis_transform(), color=theme.ink, va="center",
            fontweight="bold",
        )  # fmt: skip
        for row, (state, coverage, colour, marker) in enumerate(states):
            figure, y = getattr(coverage, name), top + row + 1
            ax.plot([figure.q05, figure.q95], [y, y], color=colour, linewidth=2.4, alpha=0.55)
            ax.plot(figure.mean, y, marker=marker, color=colour, markersize=5.5)
            write(
                ax, 0.02, y, state, transform=ax.get_yaxis_transform(), color=theme.ink,
                va="center",
            )  # fmt: skip
            write(
                ax, _FIGURES_AT + 0.02, y,
                f"{figure.mean:.3f}  ({figure.q05:.3f} – {figure.q95:.3f})",
                transform=ax.get_yaxis_transform(), color=theme.ink, va="center",
            )  # fmt: skip
    ax.set_ylim(3 * 4.1 - 0.2, -0.7)
    label_axes(ax, theme, x="expected value with its 90% interval; smaller is better")
