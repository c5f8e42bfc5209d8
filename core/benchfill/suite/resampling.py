"""Correlations of resampled models: what every interval of an analysis rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .correlation import pairwise, semidefinite, unit_diagonal

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLAT = 1e-10  # variance of a standardised column below which a resample does not vary
_FLOATS = 1 << 22  # of one block of products


def resampled_correlations(z: NDArray[np.float64], picks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Correlate benchmarks in each resample of the models.

    Parameters
    ----------
    z
        Standardised scores, shape (n, k); NaN where missing.
    picks
        How often each model was drawn, shape (B, n).

    Returns
    -------
    Shape (B', k, k). Resamples in which a benchmark does not vary are left out, so B' <= B. With
    missing scores the correlations are pairwise, and one that is not semidefinite is projected
    once and scaled back to unit diagonal, which costs less than the nearest correlation matrix.
    """
    if np.isnan(z).any():
        return _pairwise(z, picks)
    return _from_products(z, picks)


def resampled_rank_correlations(
    scores: NDArray[np.float64], picks: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Correlate ranks in each resample, ranked anew with mean ranks for ties, (B', k, k).

    Scores must be whole. A model that was drawn twice ties with itself.
    """
    order = np.argsort(scores, axis=0, kind="stable")
    first, last = _ties(scores, order)
    n, k = scores.shape
    below = np.zeros((n + 1, k))  # models drawn among the lowest 0, 1, ..., n of each column
    found = np.empty((len(picks), k, k))
    good = np.empty(len(picks), dtype=bool)
    for b, times in enumerate(picks):
        weight = times.astype(np.float64)
        np.cumsum(weight[order], axis=0, out=below[1:])
        drawn = np.flatnonzero(times)
        # the mean rank of ties is (below + below or tied + 1) / 2, here less the mean (n + 1) / 2
        rank = (below.take(first[drawn]) + below.take(last[drawn]) - n) / (2 * n)
        good[b] = _weighted(rank, weight[drawn], found[b])
    return found[good]


def _ties(
    scores: NDArray[np.float64], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many scores of a column are below each, and how many are below or equal, (n, k).

    As indices into an array of shape (n + 1, k) that was made flat: the number times k plus column.
    """
    n, k = scores.shape
    lowest_first = np.take_along_axis(scores, order, 0)
    first, last = np.empty((2, n, k), np.int64)
    for j in range(k):
        first[:, j] = np.searchsorted(lowest_first[:, j], scores[:, j], "left")
        last[:, j] = np.searchsorted(lowest_first[:, j], scores[:, j], "right")
    return first * k + np.arange(k), last * k + np.arange(k)


def draw_models(n: int, replicates: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each of n models is drawn in each resample, shape (B, n)."""
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(replicates)])


def _from_products(x: NDArray[np.float64], picks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Correlate weighted rows: all resamples in one matrix product over the rows' products."""
    n, k = x.shape
    first, second = np.triu_indices(k)
    share = picks / n
    mean = share @ x
    products = np.zeros((len(picks), len(first)))
    rows = max(1, _FLOATS // len(first))
    for start in range(0, n, rows):
        block = x[start : start + rows]
        products += share[:, start : start + rows] @ (block[:, first] * block[:, second])
    covariance = np.empty((len(picks), k, k))
    covariance[:, first, second] = covariance[:, second, first] = products
    covariance -= mean[:, :, None] * mean[:, None, :]
    good = (np.diagonal(covariance, axis1=1, axis2=2) >= _FLAT).all(1)
    return unit_diagonal(covariance[good])


def _weighted(
    x: NDArray[np.float64], weight: NDArray[np.float64], out: NDArray[np.float64]
) -> bool:
    """Write the correlations of weighted rows into `out`; False where a column does not vary."""
    share = weight / weight.sum()
    mean = share @ x
    rooted = x * np.sqrt(share)[:, None]  # times itself: half the work of another matrix
    covariance = rooted.T @ rooted - np.outer(mean, mean)
    variance = np.diagonal(covariance)
    if (variance < _FLAT).any():
        return False
    out[:] = unit_diagonal(covariance)
    return True


def _pairwise(z: NDArray[np.float64], picks: NDArray[np.int64]) -> NDArray[np.float64]:
    found = []
    for times in picks:
        matrix, _ = pairwise(np.repeat(z, times, axis=0))
        if not np.isnan(matrix).any():
            found.append(matrix)
    if not found:
        return np.empty((0, z.shape[1], z.shape[1]))
    matrices = np.stack(found)
    broken = np.linalg.eigvalsh(matrices)[:, 0] < 0
    matrices[broken] = unit_diagonal(semidefinite(matrices[broken]))
    return matrices
