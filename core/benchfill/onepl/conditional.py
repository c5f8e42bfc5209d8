"""Rasch difficulties by conditional maximum likelihood: abilities drop out with the total scores.

Given its total score, a model's answers depend on the difficulties alone, through elementary
symmetric functions (Andersen 1972, doi:10.1111/j.2517-6161.1972.tb00887.x; as R's eRm, Mair &
Hatzinger 2007, doi:10.18637/jss.v020.i09).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from ..errors import FitError
from .model import ItemPatterns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..responses import ResponseMatrix

_STEP = 1e-4  # of central differences, logits


@dataclass(frozen=True, eq=False)
class ConditionalFit:
    """Rasch difficulties by conditional maximum likelihood.

    Parameters
    ----------
    b, b_se
        Difficulties, sum zero over those that are finite, and their standard errors, shape (I,).
        Infinite for items that every rollout solved (-) or none did (+), NaN without a rollout.
    log_likelihood
        Of the single rollouts given each model's total.
    """

    b: NDArray[np.float64]
    b_se: NDArray[np.float64]
    log_likelihood: float


def fit_conditional(responses: ResponseMatrix) -> ConditionalFit:
    """Fit Rasch difficulties by conditional maximum likelihood, without any prior.

    Parameters
    ----------
    responses
        Successes and rollouts of J models on I items; cells may be missing. The cost grows with the
        square of the rollouts of a model: meant for hundreds of items, not for thousands.

    Returns
    -------
    ConditionalFit

    Raises
    ------
    FitError
        Fewer than two items that some rollouts solved and others did not, or models whose results
        are on disjoint sets of items, so that no order of all difficulties follows.
    """
    kept = np.flatnonzero(~responses.extreme_items)
    if len(kept) < 2:
        raise FitError("a conditional fit needs two items that some rollouts solved, others not.")
    some = responses.select(items=kept.tolist())
    groups, right = _groups(some), some.correct.sum(0, dtype=np.int64)

    def loss(b: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, score = float(right @ b), right.astype(np.float64)
        for totals, weights, item in groups:
            logs, expected = _symmetric(-b[item], totals, weights)
            value += logs
            score -= np.bincount(item, expected, len(b))
        return value, score

    rate = right / some.n.sum(0)
    start = np.log(1 / rate - 1)
    b = minimize(loss, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-4}).x
    row = ItemPatterns.of(some, np.zeros(len(kept))).row
    values, vectors = np.linalg.eigh(_hessian(lambda at: loss(at)[1], b, row))
    # a common shift of all b changes nothing: the smallest eigenvalue is that of the constant
    if values[1] < 1e-8 * values[-1]:
        raise FitError("the difficulties have no common scale: some models share no item.")
    covariance = (vectors[:, 1:] / values[1:]) @ vectors[:, 1:].T
    b = b - b.mean() - covariance @ loss(b)[1]
    tried, solved = responses.n.any(0), responses.correct.any(0)
    at_limit = np.where(tried, np.where(solved, -np.inf, np.inf), np.nan)
    b_se = np.full(len(responses.items), np.nan)
    at_limit[kept], b_se[kept] = b, np.sqrt(np.diag(covariance))
    return ConditionalFit(at_limit, b_se, -loss(b)[0])


def _hessian(
    gradient: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    b: NDArray[np.float64],
    row: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the Hessian from differences of the exact gradient, one a row of equal items."""
    _, first, copies = np.unique(row, return_index=True, return_counts=True)
    base, own = np.empty((len(first), len(first))), np.empty(len(first))
    for r, i in enumerate(first):
        step = np.zeros(len(b))
        step[i] = _STEP
        line = (gradient(b + step) - gradient(b - step)) / (2 * _STEP)
        base[r], own[r] = line[first], line[i]
        if copies[r] > 1:
            base[r, r] = line[np.flatnonzero(row == r)[1]]
    full = base[np.ix_(row, row)]
    full[np.diag_indices(len(b))] = own[row]
    return (full + full.T) / 2


_Group = tuple["NDArray[np.int64]", "NDArray[np.float64]", "NDArray[np.int64]"]


def _groups(responses: ResponseMatrix) -> list[_Group]:
    """Return, for each pattern of rollouts, totals, their models, and the rollouts' items."""
    groups = []
    for pattern in np.unique(responses.n, axis=0):
        alike = (responses.n == pattern).all(1)
        scores = responses.correct[alike].sum(1, dtype=np.int64)
        totals, models = np.unique(scores, return_counts=True)
        groups.append((totals, models.astype(float), np.repeat(np.arange(len(pattern)), pattern)))
    return groups


def _symmetric(
    log_e: NDArray[np.float64], totals: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the weighted sum of log symmetric functions at the totals, and its gradient (N,).

    Summation algorithm: terms are positive, so nothing cancels; in logarithms nothing overflows.
    The gradient is the same recursion read backwards.
    """
    levels = np.full((len(log_e) + 1, len(log_e) + 1), -np.inf)
    levels[0, 0] = 0.0
    for i, e in enumerate(log_e):
        levels[i + 1] = levels[i]
        levels[i + 1, 1:] = np.logaddexp(levels[i, 1:], e + levels[i, :-1])
    weight = np.zeros(len(log_e) + 1)
    weight[totals] = weights
    gradient = np.empty(len(log_e))
    for i in range(len(log_e) - 1, -1, -1):
        with np.errstate(invalid="ignore"):
            chosen = np.exp(log_e[i] + levels[i, :-1] - levels[i + 1, 1:])
        through = weight[1:] * np.where(np.isfinite(levels[i + 1, 1:]), chosen, 0.0)
        gradient[i] = through.sum()
        weight[1:] -= through
        weight[:-1] += through
    return float(weights @ levels[-1, totals]), gradient
