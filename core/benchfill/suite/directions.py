"""Directions of ability: where benchmarks point, and where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIRECTIONS = 2048
_ROUNDS, _SURVIVORS, _CHILDREN, _SHRINK = 30, 32, 8, 0.8


def leading_components(
    matrix: NDArray[np.float64], leading: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues (d,) and their eigenvectors (k, d), each with positive sum."""
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    signs = np.where(vectors.sum(0) < 0, -1, 1)
    return values[:leading], (vectors * signs)[:, :leading]


def loadings(matrix: NDArray[np.float64], leading: int) -> NDArray[np.float64]:
    """Return correlations of the benchmarks with the leading components, shape (k, d)."""
    values, vectors = leading_components(matrix, leading)
    return np.asarray(vectors * np.sqrt(values))


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows to length 1, shape (..., k, d)."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))


def covering_radius(
    rows: NDArray[np.float64], rng: np.random.Generator, *, signed: bool = False
) -> tuple[float, NDArray[np.float64]]:
    """Return the angle to the nearest row from where that is largest, and the direction there.

    Parameters
    ----------
    rows
        Unit vectors, shape (k, d).
    rng
        For 2,048 random unit vectors; the 32 farthest are then moved about, ever less.
    signed
        Take the angle to the row itself, at most pi, as the paper's tables do; otherwise to the
        line through it, at most pi / 2, since a benchmark that falls along a direction measures it
        as well as one that rises.

    Returns
    -------
    The angle in radians, a lower bound of the covering radius, and a unit vector, shape (d,).
    """
    angles, points = covering_radii(rows[None], rng, signed=signed)
    return float(angles[0]), points[0]


def covering_radii(
    rows: NDArray[np.float64], rng: np.random.Generator, *, signed: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same for B sets of rows (B, k, d) at once: angles (B,) and unit vectors (B, d)."""
    sets, _, d = rows.shape
    lines = np.ascontiguousarray(rows.swapaxes(1, 2))

    def nearest(points: NDArray[np.float64]) -> NDArray[np.float64]:
        cosines = points @ lines
        return np.asarray((cosines if signed else np.abs(cosines, out=cosines)).max(2))

    points = unit_rows(rng.standard_normal((sets, DIRECTIONS, d)))
    step = 0.5
    for _ in range(_ROUNDS):
        order = np.argsort(nearest(points), axis=1, kind="stable")[:, :_SURVIVORS, None]
        far = np.take_along_axis(points, order, 1)
        moved = far[:, :, None] + step * rng.standard_normal((sets, _SURVIVORS, _CHILDREN, d))
        points = np.concatenate([far, unit_rows(moved.reshape(sets, -1, d))], axis=1)
        step *= _SHRINK
    found = nearest(points)
    best = np.argmin(found, axis=1)
    every = np.arange(sets)
    return np.arccos(np.clip(found[every, best], -1, 1)), points[every, best]
