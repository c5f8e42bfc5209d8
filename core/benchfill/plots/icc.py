"""Item characteristic curves with what was observed: whether the model describes the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from .style import LIGHT, SIZE, Theme, label_axes, legend, new_figure, plain, tidy, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..onepl import Fit1PL

PANELS = 6
BINS = 16
_HEIGHT, _COLUMNS = 5.4, 3


def item_curves(fit: Fit1PL, items: Sequence[str] = (), *, theme: Theme = LIGHT) -> Figure:
    """Draw the expected success of single items against ability, with the observed rates.

    Parameters
    ----------
    fit
        A fit.
    items
        Ids of up to six items; without them six that spread over the difficulties.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        A panel an item: the curve with its 90% band over the posterior, and each model's share of
        successes as a dot whose area grows with its rollouts. Legible for any number of items.

    Raises
    ------
    ValueError
        An item is not one of the fit's.
    """
    names = fit.responses.items
    unknown = [item for item in items if item not in names]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not an item of the fit")
    order = np.argsort(fit.b, kind="stable")
    spaced = order[np.linspace(0, len(order) - 1, min(PANELS, len(order))).round().astype(int)]
    chosen = [names.index(item) for item in items[:PANELS]] or [int(i) for i in spaced]
    figure = new_figure(_HEIGHT, theme)
    rows = -(-len(chosen) // _COLUMNS)
    axes = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.86, bottom=0.1, hspace=0.3, wspace=0.1)
    for ax in axes.ravel()[len(chosen) :]:
        ax.set_axis_off()
    for ax, item in zip(axes.ravel(), chosen, strict=False):
        _panel(ax, fit, item, theme)
    for ax in axes[:, 0]:
        label_axes(ax, theme, y="share solved")
    for column, ax in enumerate(axes[-1]):
        if (rows - 1) * _COLUMNS + column < len(chosen):
            label_axes(ax, theme, x="ability, logits")
    write(
        axes[0, 0], 0, 1.32, "Expected success against ability, and what was observed",
        transform=axes[0, 0].transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    return figure


def _panel(ax: Axes, fit: Fit1PL, item: int, theme: Theme) -> None:
    tidy(ax, theme)
    ax.grid(color=theme.grid, linewidth=0.7)
    low, high = float(fit.theta.min()), float(fit.theta.max())
    room = 0.15 * max(high - low, 1.0)
    theta = np.linspace(low - room, high + room, 120)
    guess = fit.guessing[item]
    drawn = fit.draws.b[:: max(1, len(fit.draws.b) // 400), item]
    curves = guess + (1 - guess) * expit(theta - drawn[:, None])
    below, above = np.quantile(curves, [0.05, 0.95], axis=0)
    ax.fill_between(theta, below, above, color=theme.item, alpha=0.2, linewidth=0)
    ax.plot(
        theta, guess + (1 - guess) * expit(theta - fit.b[item]), color=theme.item, linewidth=1.5
    )
    n = fit.responses.n[:, item]
    asked = n > 0
    rates = fit.responses.correct[asked, item] / n[asked]
    ax.scatter(
        fit.theta[asked],
        rates,
        s=10 + 14 * n[asked] / max(int(fit.responses.n.max()), 1),
        color=theme.empty,
        edgecolor=theme.paper,
        linewidth=0.5,
        alpha=0.85,
        zorder=3,
    )
    ax.set_ylim(-0.06, 1.06)
    title = f"{plain(fit.responses.items[item], 24)}   b {fit.b[item]:+.2f}"
    write(ax, 0, 1.04, title, transform=ax.transAxes, color=theme.ink)


def pooled_curve(fit: Fit1PL, *, theme: Theme = LIGHT) -> Figure:
    """Draw all cells together: share solved against ability minus difficulty.

    Parameters
    ----------
    fit
        A fit; cells are put into 16 bins with equal rollouts.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Observed shares with 95% intervals (Wilson) against the logistic curve, where nothing can
        be guessed, or against the expected share of each bin.
    """
    figure = new_figure(3.3, theme)
    ax = figure.add_axes((0.09, 0.16, 0.88, 0.7))
    tidy(ax, theme)
    ax.grid(color=theme.grid, linewidth=0.7)
    logit = (fit.theta[:, None] - fit.b).ravel()
    n = fit.responses.n.ravel().astype(np.float64)
    order = np.argsort(logit, kind="stable")
    order = order[n[order] > 0]
    share = np.cumsum(n[order]) / n.sum()
    bins = np.minimum((share * BINS).astype(int), BINS - 1)
    total = np.bincount(bins, n[order], BINS)
    held = total > 0
    right = np.bincount(bins, fit.responses.correct.ravel()[order], BINS)[held]
    total = total[held]
    place = np.bincount(bins, (logit * n)[order], BINS)[held] / total
    guess = np.broadcast_to(fit.guessing, fit.responses.n.shape).ravel()
    p = guess + (1 - guess) * expit(logit)
    expected = np.bincount(bins, (p * n)[order], BINS)[held] / total
    rate, z2 = right / total, 1.96**2
    centre = (rate + z2 / (2 * total)) / (1 + z2 / total)
    half = 1.96 * np.sqrt(rate * (1 - rate) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    ax.plot(place, expected, color=theme.item, linewidth=1.5, label="expected")
    ax.errorbar(
        place, rate, yerr=[rate - (centre - half), centre + half - rate], linestyle="none",
        marker="o", markersize=4, color=theme.empty, elinewidth=1, label="observed",
    )  # fmt: skip
    label_axes(ax, theme, x="ability minus difficulty, logits", y="share solved")
    write(
        ax, 0, 1.06, f"All {int(total.sum()):,} rollouts: expected and observed success",
        transform=ax.transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    legend(ax, theme, loc="upper left")
    return figure
