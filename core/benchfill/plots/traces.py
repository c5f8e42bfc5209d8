"""Trace and rank plots of the sampler, to see whether the chains tell the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from .style import BLUE, GREEN, LIGHT, ORANGE, PURPLE, SIZE, Theme, new_figure, plain, tidy, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ..onepl import Fit1PL

CHAINS = 4
BINS = 20
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


def trace_plots(fit: Fit1PL, *, theme: Theme = LIGHT) -> Figure:
    """Draw traces and rank histograms of the parameters whose chains agree least.

    Parameters
    ----------
    fit
        A fit by ``mcmc`` or ``plain``.
    theme
        Colours.

    Returns
    -------
    matplotlib.figure.Figure
        A row each for mu_b, s_b and the three abilities with the largest difference between chains
        (Vehtari et al. 2021, doi:10.1214/20-BA1221). Where the chains agree the rank histograms are
        level.

    Raises
    ------
    ValueError
        The engine has no chains.
    """
    if fit.max_rhat is None:
        raise ValueError(f"engine {fit.engine} has no chains to draw")
    draws = fit.draws
    length = len(draws.mu_b) // CHAINS * CHAINS
    theta = draws.theta[:length].reshape(CHAINS, -1, draws.theta.shape[1])
    apart = theta.mean(1).std(0) / np.maximum(theta.std(1).mean(0), 1e-12)
    named = 3 if theta.shape[2] > 1 else 0
    worst = [int(j) for j in np.argsort(-apart, kind="stable")[:named]]
    rows = [
        ("mu_b", draws.mu_b),
        ("s_b", draws.s_b),
        *((f"theta {plain(fit.responses.models[j], 22)}", draws.theta[:, j]) for j in worst),
    ]
    figure = new_figure(0.7 + 1.05 * len(rows), theme)
    axes = figure.subplots(len(rows), 2, squeeze=False, width_ratios=(1.5, 1))
    top = 1 - 0.55 / figure.get_figheight()
    figure.subplots_adjust(left=0.07, right=0.98, top=top, bottom=0.06, hspace=0.75, wspace=0.12)
    for (trace, ranks), (name, values) in zip(axes, rows, strict=True):
        chains = values[:length].reshape(CHAINS, -1)
        for chain, colour in zip(chains, _COLOURS, strict=True):
            trace.plot(chain, color=colour, linewidth=0.5, alpha=0.8)
        _ranks(ranks, chains, theme)
        tidy(trace, theme)
        write(trace, 0, 1.06, name, transform=trace.transAxes, color=theme.ink)
        write(ranks, 0, 1.06, "ranks by chain", transform=ranks.transAxes, color=theme.muted)
    write(
        axes[0, 0], 0, 1.38, "Chains of the sampler: traces, and ranks among all draws",
        transform=axes[0, 0].transAxes, color=theme.ink, fontsize=SIZE + 1.5, fontweight="bold",
    )  # fmt: skip
    return figure


def _ranks(ax: Axes, chains: NDArray[np.float64], theme: Theme) -> None:
    tidy(ax, theme, sides=("bottom",))
    ax.tick_params(left=False, labelleft=False)
    ranks = rankdata(chains).reshape(chains.shape)
    edges = np.linspace(0.5, chains.size + 0.5, BINS + 1)
    for row, (chain, colour) in enumerate(zip(ranks, _COLOURS, strict=True)):
        counts, _ = np.histogram(chain, edges)
        level = chains.shape[1] / BINS
        base = 2.4 * level * (CHAINS - 1 - row)
        ax.bar(edges[:-1], counts, np.diff(edges) * 0.92, bottom=base, align="edge", color=colour)
        ax.axhline(base + level, color=theme.muted, linewidth=0.6, linestyle=(0, (4, 2)))
