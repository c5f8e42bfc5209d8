"""The posterior of the measures of coverage: mismatch, widest gap, sum of the widest gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..measure import DifficultyScale, max_gap, own_scale, top_k_sum
from .style import LIGHT, SIZE, Theme, label_axes, legend, new_figure, tidy, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..onepl import Fit1PL
    from ..targets import Target

TOP_K = 5


def measure_posteriors(fit: Fit1PL, target: Target, *, theme: Theme = LIGHT) -> Figure:
    """Draw how sure the measures are.

    Parameters
    ----------
    fit
        A fit of at least two items that differ.
    target
        What the mismatch is measured against.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        Histograms over the draws, each scaled by its own extremes; 90% interval shaded, median
        solid, the plain figure from posterior means dashed.
    """
    z = np.sort(DifficultyScale.of(fit.b).to_z(fit.b))
    drawn = own_scale(fit.draws.b)
    k = min(TOP_K, len(z) - 1)
    panels = (
        ("mismatch (DDM)", target.wasserstein(drawn), float(target.wasserstein(z))),
        ("widest gap G", max_gap(drawn), float(max_gap(z))),
        (f"sum of the {k} widest gaps", top_k_sum(drawn, k), float(top_k_sum(z, k))),
    )
    figure = new_figure(2.75, theme)
    axes = figure.subplots(1, 3)
    figure.subplots_adjust(left=0.03, right=0.97, top=0.84, bottom=0.33, wspace=0.12)
    for ax, (name, values, plugin) in zip(axes, panels, strict=True):
        tidy(ax, theme, sides=("bottom",))
        ax.tick_params(left=False, labelleft=False)
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        ax.hist(values, bins=40, color=theme.item, alpha=0.85, linewidth=0)
        ax.axvspan(low, high, color=theme.item, alpha=0.15, linewidth=0, label="90% interval")
        ax.axvline(middle, color=theme.ink, linewidth=1.4, label="median")
        ax.axvline(plugin, color=theme.empty, linewidth=1.4, linestyle=(0, (4, 2)), label="plain")
        ax.locator_params(axis="x", nbins=5)
        label_axes(ax, theme, x=name)
    write(
        axes[0], 0, 1.08, f"Posterior of the measures, {len(drawn):,} draws",
        transform=axes[0].transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    legend(axes[0], theme, loc="upper left", bbox_to_anchor=(-0.02, -0.32), ncols=3)
    return figure
