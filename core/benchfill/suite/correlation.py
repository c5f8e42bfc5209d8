"""How benchmarks go together: correlations, whole rows or pair by pair, repaired where needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_COMMON = 3
_ROUNDS = 2000
_CONVERGED = 1e-10


class Correlations(NamedTuple):
    """A correlation matrix and what was done to get it.

    Parameters
    ----------
    matrix
        Positive semidefinite with unit diagonal, shape (k, k).
    models
        Number of models behind a correlation; the mean over pairs where they differ.
    smallest_before
        Smallest eigenvalue before the repair; None where none could be needed.
    moved
        Frobenius norm of the repair; 0 where none was made.
    """

    matrix: NDArray[np.float64]
    models: float
    smallest_before: float | None = None
    moved: float = 0.0


def correlations(
    scores: NDArray[np.float64], names: tuple[str, ...], *, spearman: bool = False
) -> Correlations:
    """Correlate benchmarks over models.

    Parameters
    ----------
    scores
        Shape (n, k). Without NaN the plain correlation; with NaN each pair over the models that
        have both, then the nearest correlation matrix (Higham 2002, doi:10.1093/imanum/22.3.329).
    names
        Of the benchmarks, for errors.
    spearman
        Correlate ranks (mean ranks for ties). With missing scores ranks are taken within each
        column, once.

    Raises
    ------
    InputError
        Two benchmarks share fewer than three models, or do not vary over those they share.
    """
    values = mean_ranks(scores) if spearman else scores
    if not np.isnan(values).any():
        return Correlations(_plain(values), len(values))
    matrix, common = pairwise(values)
    wrong = np.argwhere(np.triu((common < LEAST_COMMON) | np.isnan(matrix), 1))
    if len(wrong):
        i, j = wrong[0]
        raise InputError(
            f"{names[i]!r} and {names[j]!r} cannot be correlated: models that have both: "
            f"{int(common[i, j])}, and {LEAST_COMMON} whose scores differ are needed; name "
            "--columns without one of them."
        )
    pairs = common[np.triu_indices(len(names), 1)]
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest >= -1e-12:
        return Correlations(matrix, float(pairs.mean()), smallest)
    repaired = nearest_correlation(matrix)
    moved = float(np.linalg.norm(repaired - matrix))
    return Correlations(repaired, float(pairs.mean()), smallest, moved)


def pairwise(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return correlations over the models that two columns share, and how many those are, (k, k).

    NaN where one of the two does not vary over them.
    """
    known = ~np.isnan(values)
    there = known.astype(np.float64)
    # centred and scaled first, so that the sums below lose no digits
    centre = np.nanmean(values, axis=0)
    scale = np.nanstd(values, axis=0)
    x = np.where(known, (values - centre) / np.where(scale > 0, scale, 1), 0.0)
    n = there.T @ there
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = x.T @ there / n
        variance = (x**2).T @ there / n - mean**2
        variance[variance < 1e-12] = np.nan
        matrix = (x.T @ x / n - mean * mean.T) / np.sqrt(variance * variance.T)
    np.fill_diagonal(matrix, 1.0)
    return np.clip(matrix, -1, 1), n.astype(np.int64)


def nearest_correlation(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlation matrix nearest to a symmetric one in Frobenius norm, shape (k, k).

    Alternating projections onto the semidefinite matrices, with Dykstra's correction, and onto
    those with unit diagonal: Higham, N. J. (2002), doi:10.1093/imanum/22.3.329, algorithm 3.3.
    """
    found = matrix.copy()
    correction = np.zeros_like(matrix)
    for _ in range(_ROUNDS):
        before = found
        shifted = found - correction
        positive = semidefinite(shifted)
        correction = positive - shifted
        found = positive.copy()
        np.fill_diagonal(found, 1.0)
        if np.linalg.norm(found - before) <= _CONVERGED * np.linalg.norm(found):
            break
    return unit_diagonal(semidefinite(found))


def semidefinite(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest positive-semidefinite matrix, shape (..., k, k)."""
    values, vectors = np.linalg.eigh((matrix + matrix.swapaxes(-1, -2)) / 2)
    lifted = vectors * np.maximum(values, 0)[..., None, :]
    return np.asarray(lifted @ vectors.swapaxes(-1, -2))


def unit_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a covariance matrix to unit diagonal, shape (..., k, k)."""
    spread = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    scaled = matrix / (spread[..., :, None] * spread[..., None, :])
    scaled = (scaled + scaled.swapaxes(-1, -2)) / 2
    own = np.arange(matrix.shape[-1])
    scaled[..., own, own] = 1.0
    return np.asarray(scaled)


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks within each column, ties sharing their mean, NaN kept; shape (n, k)."""
    return np.stack([_ranked(column) for column in values.T], axis=1)


def _ranked(column: NDArray[np.float64]) -> NDArray[np.float64]:
    known = ~np.isnan(column)
    _, place, count = np.unique(column[known], return_inverse=True, return_counts=True)
    ranks = np.full(len(column), np.nan)
    ranks[known] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def _plain(values: NDArray[np.float64]) -> NDArray[np.float64]:
    matrix = np.asarray(np.corrcoef(values, rowvar=False))
    np.fill_diagonal(matrix, 1.0)
    return np.clip(matrix, -1, 1)
