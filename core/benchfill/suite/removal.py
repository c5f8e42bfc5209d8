"""What each benchmark is for: what the others and the kept ones tell of it, what goes with it.

docs/suite; paper arXiv 2606.05169, section on counterfactuals (removal disruption).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from .correlation import mean_ranks
from .result import Association, Resampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_RANK = 1e-10
_SINGULAR = 1e-7  # 1 - R^2 below this is 0, but for the diagonal


def explained(matrices: NDArray[np.float64], by: Sequence[int]) -> NDArray[np.float64]:
    """Return R^2 of every benchmark on some of them, from correlations.

    Parameters
    ----------
    matrices
        Shape (..., k, k).
    by
        The benchmarks that explain, as indices; they need not be independent.

    Returns
    -------
    Shape (..., k), within [0, 1]; 1 of those that explain.
    """
    others = list(by)
    blocks = matrices[..., others, :]
    values, vectors = np.linalg.eigh(blocks[..., others])
    there = values > _RANK * values[..., -1:]
    held = vectors.swapaxes(-1, -2) @ blocks
    weight = np.divide(1, values, out=np.zeros_like(values), where=there)
    return np.asarray(np.clip((held**2 * weight[..., None]).sum(-2), 0, 1))


def irreplaceability(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``1 - R_j^2 = 1 / [C^-1]_jj`` of each benchmark on all others, shape (..., k).

    Where C (..., k, k) has no inverse, it is 0 of the benchmarks that others tell exactly.
    """
    k = matrices.shape[-1]
    # so little on the diagonal moves the result by as little, and every C can be inverted
    inverse = np.linalg.inv(matrices + _RANK * np.eye(k))
    alone = 1 / np.diagonal(inverse, axis1=-2, axis2=-1)
    return np.asarray(np.where(alone < _SINGULAR, 0.0, np.clip(alone, 0, 1)))


def mass_outside(matrix: NDArray[np.float64], leading: int) -> NDArray[np.float64]:
    """Return the squared eigenvector entries of each benchmark outside the leading ones, (k,)."""
    _, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors[:, : len(matrix) - leading] ** 2).sum(1))


def disruptions(z: NDArray[np.float64]) -> list[Resampled]:
    """Return the mean change of the models' ranks when each benchmark is left out.

    Parameters
    ----------
    z
        Standardised scores, whole rows, shape (n, k), k >= 2. Models are ranked by their mean.

    Returns
    -------
    For each benchmark the mean over models of the absolute change, with 1.96 standard errors.
    """
    n, k = z.shape
    total = z.sum(1)
    before = mean_ranks(total[:, None])
    after = mean_ranks((total[:, None] - z) / (k - 1))
    change = np.abs(after - before)
    mean = change.mean(0)
    error = 1.96 * change.std(0, ddof=1) / np.sqrt(n)
    return [
        Resampled(value=float(m), q025=max(float(m - e), 0.0), q975=float(m + e))
        for m, e in zip(mean, error, strict=True)
    ]


def association(first: NDArray[np.float64], second: NDArray[np.float64]) -> Association:
    """Return Spearman's rank correlation of two columns (k,) with its two-sided p."""
    ranks = mean_ranks(np.stack([first, second], 1))
    k = len(ranks)
    if k < 3 or (np.ptp(ranks, axis=0) == 0).any():
        return Association(rho=None, p=None)
    first_rank, second_rank = (ranks - ranks.mean(0)).T
    lengths = np.sqrt((first_rank @ first_rank) * (second_rank @ second_rank))
    rho = float(np.clip(first_rank @ second_rank / lengths, -1, 1))
    if abs(rho) >= 1 - 1e-12:
        return Association(rho=rho, p=0.0)
    t = rho * np.sqrt((k - 2) / (1 - rho**2))
    return Association(rho=rho, p=float(2 * stdtr(k - 2, -abs(t))))
