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
    sorted_scores = np.take_along_axis(scores, order, 0)
    n, k = scores.shape
    differs = sorted_scores[1:] != sorted_scores[:-1]
    step = np.concatenate([np.zeros((1, k), np.int64), np.cumsum(differs, axis=0)])
    # each column's ties get numbers of their own, so that one bincount serves all columns
    offsets = np.concatenate([[0], np.cumsum(step[-1] + 1)])
    groups = step + offsets[:-1]
    group_of = np.empty((n, k), np.int64)
    np.put_along_axis(group_of, order, groups, 0)
    found = np.empty((len(picks), k, k))
    good = np.empty(len(picks), dtype=bool)
    for b, times in enumerate(picks):
        weight = times.astype(np.float64)
        size = np.bincount(groups.ravel(), weights=weight[order].ravel(), minlength=offsets[-1])
        below = np.cumsum(size) - size - n * np.repeat(np.arange(k), np.diff(offsets))
        rank = (below + (size + 1) / 2 - (n + 1) / 2) / n
        drawn = np.flatnonzero(times)
        good[b] = _weighted(rank[group_of[drawn]], weight[drawn], found[b])
    return found[good]


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
    covariance = (x * share[:, None]).T @ x - np.outer(mean, mean)
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
