"""The Bayesian one-parameter logistic (1PL, Rasch) model: priors, items' data, response function.

``P(Y=1) = g_i + (1 - g_i) sigmoid(theta_j - b_i)``, with a known guessing probability ``g_i``.
Priors: ``theta ~ ZeroSumNormal(s_theta)``, ``s_theta ~ HalfNormal(2)``; ``b_i ~ N(mu_b, s_b)``,
``mu_b ~ N(0, 2.5)``, ``s_b ~ HalfNormal(2.5)``. The zero sum of theta fixes the location, the slope
of 1 the scale (docs/method, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from .merging import equal_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..responses import ResponseMatrix

THETA_SCALE = 2.0
MU_SCALE = 2.5
B_SCALE = 2.5


@dataclass(frozen=True)
class ItemPatterns:
    """Items with equal data, merged into rows.

    Without guessing the total is sufficient for b, also with missing cells, so a row stands for all
    items with the same n-vector and total, and holds the *mean* of their successes: the likelihood
    is linear in them, so the sum over the row's items is exact. With guessing a row stands for
    items with the same n, successes and guessing probability.

    Parameters
    ----------
    correct, n
        Successes and rollouts, shape (R, J).
    guessing
        Guessing probability of each row, shape (R,).
    weight
        Number of items in each row, shape (R,).
    row
        Row of each item, shape (I,).
    """

    correct: NDArray[np.float64]
    n: NDArray[np.float64]
    guessing: NDArray[np.float64]
    weight: NDArray[np.float64]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, responses: ResponseMatrix, guessing: NDArray[np.float64]) -> ItemPatterns:
        """Merge the items of a matrix; `guessing` has shape (I,)."""
        totals = responses.correct.sum(0, dtype=np.int64)
        guess_class = np.unique(guessing, return_inverse=True)[1].reshape(-1)
        parts = [np.stack([guess_class, totals]), responses.n]
        if guessing.any():
            parts.append(np.where(guessing > 0, responses.correct, 0))
        first, row, copies = equal_columns(parts)
        weight = copies.astype(np.float64)
        mean = np.stack(
            [np.bincount(row, weights=one, minlength=len(first)) for one in responses.correct], 1
        )
        return cls(
            correct=mean / weight[:, None],
            n=responses.n[:, first].T.astype(np.float64, order="C"),
            guessing=guessing[first],
            weight=weight,
            row=row,
        )


@dataclass(frozen=True)
class ResponseCurves:
    """Logarithms of P(Y=1) and P(Y=0) on a grid, with derivatives in theta; each of one shape."""

    log_p: NDArray[np.float64]
    log_q: NDArray[np.float64]
    d_log_p: NDArray[np.float64]
    d_log_q: NDArray[np.float64]
    dd_log_p: NDArray[np.float64]
    dd_log_q: NDArray[np.float64]


def log_probabilities(
    logit: NDArray[np.float64], guessing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log P(Y=1) and log P(Y=0) where ``theta - b`` is `logit` (any shape)."""
    log_wrong = -np.logaddexp(0.0, logit)
    if guessing == 0:
        return log_wrong + logit, log_wrong
    return np.log(guessing + (1 - guessing) * expit(logit)), np.log1p(-guessing) + log_wrong


def outer_log_probabilities(
    theta: NDArray[np.float64], b: NDArray[np.float64], guessing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log P(Y=1) and log P(Y=0) of all abilities (J,) on all difficulties (G,), (J, G).

    As `log_probabilities`, at a quarter of its price: exp(theta - b) is a product, and absolute
    precision is all that a log likelihood needs.
    """
    if max(np.abs(theta).max(), np.abs(b).max()) > 300:  # where the exponentials would overflow
        return log_probabilities(theta[:, None] - b, guessing)
    log_wrong = outer_log_failure(theta, b)
    if guessing == 0:
        return log_wrong + theta[:, None] - b, log_wrong
    odds = np.exp(theta)[:, None] * np.exp(-b)
    return np.log(guessing + odds) + log_wrong, np.log1p(-guessing) + log_wrong


def outer_log_failure(theta: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(Y=0) of all abilities (J,) on all difficulties (G,) without guessing, (J, G)."""
    if max(np.abs(theta).max(), np.abs(b).max()) > 300:
        return log_probabilities(theta[:, None] - b, 0.0)[1]
    either = np.exp(theta)[:, None] * np.exp(-b)
    either += 1
    return np.asarray(-np.log(either, out=either))


def summed_log_failure(theta: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `outer_log_failure` summed over the abilities, shape (G,).

    As logarithms of products of sixteen, since it is the logarithm that takes time.
    """
    if theta.max() - b.min() > 40:  # where the products would overflow
        return np.asarray(outer_log_failure(theta, b).sum(0))
    either = np.exp(theta)[:, None] * np.exp(-b)
    either += 1
    products = np.multiply.reduceat(either, np.arange(0, len(theta), 16), axis=0)
    return np.asarray(-np.log(products).sum(0))


def response_curves(logit: NDArray[np.float64], guessing: float) -> ResponseCurves:
    """Evaluate the response function and its derivatives where ``theta - b`` is `logit`."""
    log_p, log_q = log_probabilities(logit, guessing)
    s = expit(logit)
    slope = s * (1 - s)
    # without guessing this is 1 - s, with no division where P underflows
    d_log_p = (1 - guessing) * slope / np.exp(log_p) if guessing > 0 else 1 - s
    return ResponseCurves(
        log_p=log_p,
        log_q=log_q,
        d_log_p=d_log_p,
        d_log_q=-s,
        dd_log_p=d_log_p * (1 - 2 * s) - d_log_p**2,
        dd_log_q=-slope,
    )


def guessing_vector(responses: ResponseMatrix, guessing: ArrayLike) -> NDArray[np.float64]:
    """Return one guessing probability an item, shape (I,), from a number or a vector.

    Raises
    ------
    ValueError
        A value outside [0, 1), or a vector of another length.
    """
    given = np.asarray(guessing, dtype=np.float64)
    if given.ndim and given.shape != (len(responses.items),):
        raise ValueError(f"guessing has shape {given.shape}, expected ({len(responses.items)},)")
    if not ((given >= 0) & (given < 1)).all():
        raise ValueError("guessing probabilities must lie in [0, 1)")
    return np.broadcast_to(given, (len(responses.items),)).astype(np.float64)
