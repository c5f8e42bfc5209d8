"""Many children at once: posteriors of their difficulties averaged over draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .child import child_posterior, require_draws

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .onepl import Draws

_STEPS_PER_SD = 6.0  # quantiles are read off the grid
_REACH = 6.0  # standard deviations of the prior


class ChildSummaries(NamedTuple):
    """Posterior mean, standard deviation and 5%, 50%, 95% quantiles in logits, each (N,)."""

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    q05: NDArray[np.float64]
    median: NDArray[np.float64]
    q95: NDArray[np.float64]


def child_summaries(
    correct: ArrayLike, n: ArrayLike, draws: Draws, *, guessing: float = 0.0
) -> ChildSummaries:
    """Summarise the posteriors of many children that the same models answered equally often.

    The same posterior as `child_posterior`. Without guessing a child's likelihood under a draw is
    a constant times a function of its total, so that children with equal totals share their grid.

    Parameters
    ----------
    correct
        Successes of N children on J models, shape (N, J).
    n
        Rollouts on each model, shape (J,), the same for all children.
    draws
        At least 200 joint draws, models in the same order.
    guessing
        Probability of a right answer by chance; with it each child is done by itself.

    Raises
    ------
    ValueError
        2 to 199 draws.
    """
    y, trials = np.atleast_2d(np.asarray(correct, float)), np.asarray(n, float)
    if guessing > 0:
        found = [child_posterior(one, trials, draws, guessing=guessing) for one in y]
        rows = [(one.mean, one.sd, *(one.quantile(q) for q in (0.05, 0.5, 0.95))) for one in found]
        return ChildSummaries(*np.array(rows).T)
    require_draws(draws)
    sure = trials.sum() / 4 + draws.s_b.min() ** -2
    low = float((draws.mu_b - _REACH * draws.s_b).min())
    high = float((draws.mu_b + _REACH * draws.s_b).max())
    grid = np.arange(low, high, 1 / (_STEPS_PER_SD * np.sqrt(sure)))
    shared = -0.5 * ((grid - draws.mu_b[:, None]) / draws.s_b[:, None]) ** 2
    shared -= np.log(draws.s_b)[:, None]
    for theta, rollouts in zip(draws.theta.T, trials, strict=True):
        if rollouts:
            shared -= rollouts * np.logaddexp(0.0, theta[:, None] - grid)
    constant = y @ draws.theta.T
    totals = y.sum(1)
    summaries = np.empty((5, len(y)))
    for total in np.unique(totals):
        alike = totals == total
        log_mass = shared - total * grid
        peak = log_mass.max(1)
        weight = constant[alike] + peak
        weight = np.exp(weight - weight.max(1, keepdims=True))
        density = weight @ np.exp(log_mass - peak[:, None])
        density /= density.sum(1, keepdims=True)
        summaries[:, alike] = _summaries(density, grid)
    return ChildSummaries(*summaries)


def _summaries(density: NDArray[np.float64], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = density @ grid
    sd = np.sqrt(np.maximum(density @ grid**2 - mean**2, 0))
    middles = np.cumsum(density, axis=1) - density / 2
    quantiles = [np.interp([0.05, 0.5, 0.95], one, grid) for one in middles]
    return np.concatenate([[mean, sd], np.transpose(quantiles)])
