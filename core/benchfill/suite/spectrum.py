"""How many independent directions a suite measures: its eigenvalues, against those of noise.

docs/suite; paper arXiv 2606.05169, section 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .resampling import resampled_correlations, resampled_rank_correlations
from .result import Resampled, Spectrum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .correlation import Correlations

PERMUTATIONS, FEWER_PERMUTATIONS = 200, 50
LARGE = 50_000  # scores from which fewer permutations serve: the edge hardly varies there
PERMUTATION_LEVEL = 0.95


def participation_ratio(eigenvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``(sum l)^2 / sum l^2`` along the last axis; 0 where all are 0.

    Between 1 (one direction) and the number of eigenvalues (all alike).
    """
    total, squares = eigenvalues.sum(-1), (eigenvalues**2).sum(-1)
    return np.asarray(np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0))


def mp_edge(models: float, benchmarks: int) -> float:
    """Return the upper Marchenko-Pastur edge ``(1 + sqrt(k / n))^2``.

    Up to it reach the eigenvalues of n models' correlations when k benchmarks are independent noise
    (Marchenko & Pastur 1967; for large n and k).
    """
    return float((1 + math.sqrt(benchmarks / models)) ** 2)


def corrected_ratio(eigenvalues: NDArray[np.float64], edge: float) -> NDArray[np.float64]:
    """Return the participation ratio of the eigenvalues above an edge; 0 when none is."""
    return participation_ratio(np.where(eigenvalues > edge, eigenvalues, 0.0))


def eigenvalues_of(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return eigenvalues of semidefinite matrices, largest first, shape (..., k)."""
    return np.asarray(np.maximum(np.linalg.eigvalsh(matrix)[..., ::-1], 0.0))


def permuted_eigenvalues(
    z: NDArray[np.float64], rng: np.random.Generator, *, permutations: int | None = None
) -> NDArray[np.float64]:
    """Return eigenvalues after permuting each column by itself, shape (P, k): parallel analysis.

    Horn (1965), doi:10.1007/BF02289447. z is standardised, shape (n, k), whole rows. There are 200
    permutations, or 50 where z holds 50,000 scores or more.
    """
    if permutations is None:
        permutations = PERMUTATIONS if z.size < LARGE else FEWER_PERMUTATIONS
    matrices = np.empty((permutations, z.shape[1], z.shape[1]))
    columns = np.ascontiguousarray(z.T)
    for p in range(permutations):
        mixed = rng.permuted(columns, axis=1)
        matrices[p] = mixed @ mixed.T / len(z)
    return eigenvalues_of(matrices)


def spectrum_of(
    z: NDArray[np.float64],
    pearson: Correlations,
    spearman: Correlations,
    picks: tuple[NDArray[np.int64], int],
    rng: np.random.Generator,
) -> tuple[Spectrum, NDArray[np.float64]]:
    """Describe the eigenvalues of the correlations between benchmarks.

    Parameters
    ----------
    z
        Standardised scores, shape (n, k); NaN where missing.
    pearson, spearman
        Correlations of scores and of ranks.
    picks
        How often each model was drawn in each resample, shape (B, n), and how many of the
        resamples are ranked anew for the interval of the Spearman figure, which is dear.
    rng
        For the permutations.

    Returns
    -------
    The spectrum, and the correlations in the resamples, shape (B', k, k). Where scores are missing
    no interval of the Spearman figure is given, and the permutations stay within each column.
    """
    k = z.shape[1]
    found = eigenvalues_of(pearson.matrix)
    edge = mp_edge(pearson.models, k)
    resampled = resampled_correlations(z, picks[0])
    drawn = eigenvalues_of(resampled)
    ranked = np.empty((0, k, k))
    if not np.isnan(z).any():
        ranked = resampled_rank_correlations(z, picks[0][: picks[1]])
    noise = permuted_eigenvalues(_filled(z, rng), rng)
    permutation_edge = float(np.quantile(noise[:, 0], PERMUTATION_LEVEL))
    d_eff = float(participation_ratio(found))
    spectrum = Spectrum(
        models=len(z),
        benchmarks=k,
        eigenvalues=tuple(found.tolist()),
        d_eff=Resampled.of(d_eff, participation_ratio(drawn)),
        d_eff_spearman=Resampled.of(
            float(participation_ratio(eigenvalues_of(spearman.matrix))),
            k**2 / (ranked**2).sum((1, 2)),
        ),
        d_eff_independent=float(participation_ratio(noise).mean()),
        mp_edge=edge,
        above_mp=int((found > edge).sum()),
        d_eff_corrected=Resampled.of(
            float(corrected_ratio(found, edge)), corrected_ratio(drawn, edge)
        ),
        above_kaiser=int((found > 1 + 1e-9).sum()),
        permutation_edge=permutation_edge,
        above_permutation=int((found > permutation_edge).sum()),
        leading=leading_of(d_eff),
    )
    return spectrum, resampled


def leading_of(d_eff: float) -> int:
    """Return the number of components that count as leading: d_eff, rounded up."""
    return max(1, math.ceil(d_eff - 1e-9))


def _filled(z: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Put scores of the same column, drawn at random, where one is missing."""
    holes = np.isnan(z)
    if not holes.any():
        return z
    whole = z.copy()
    for column, hole in zip(whole.T, holes.T, strict=True):
        column[hole] = rng.choice(column[~hole], int(hole.sum()))
    centred = whole - whole.mean(0)
    return np.asarray(centred / np.sqrt((centred**2).mean(0)))
