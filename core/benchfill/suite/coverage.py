"""How much of a suite a subset of its benchmarks tells: f, F, and the ways to choose by them.

``f(T) = tr(P_T C) / tr C``, P_T the projector on the columns T of the correlation matrix C.
``F(T) = log det(I + C_TT / s^2)``. F is submodular and monotone, so the greedy choice by F has at
least 1 - 1/e of the best F (Nemhauser, Wolsey & Fisher 1978). f is not submodular, whatever the
paper says; docs/suite.
"""

from __future__ import annotations

import heapq
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NOTHING_LEFT = 1e-10  # of a column's squared length: it lies in the span of those before it
_BLOCK = 4096


def coverage(matrix: NDArray[np.float64], subset: Sequence[int]) -> float:
    """Return f of a subset of benchmarks, between 0 (none) and 1 (all); C has shape (k, k)."""
    return float(subset_coverages(matrix, np.array([list(subset)], dtype=np.int64))[0])


def coverages(matrices: NDArray[np.float64], subset: Sequence[int]) -> NDArray[np.float64]:
    """Return f of one subset by each of some correlation matrices (B, k, k), shape (B,)."""
    columns = matrices[:, :, list(subset)]
    across = columns.swapaxes(1, 2)
    # tr(P C) by the eigenvectors of C_T' C_T: a third of the time of singular values of C_T
    lengths, vectors = np.linalg.eigh(across @ columns)
    there = lengths > _NOTHING_LEFT * lengths[:, -1:]
    held = (vectors * (across @ (matrices @ columns) @ vectors)).sum(1)
    share = np.divide(held, lengths, out=np.zeros_like(held), where=there)
    return np.asarray(share.sum(1) / np.trace(matrices, axis1=1, axis2=2))


def subset_coverages(matrix: NDArray[np.float64], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return f of subsets of one size by one correlation matrix.

    Parameters
    ----------
    matrix
        Shape (k, k).
    chosen
        N subsets of t benchmarks, shape (N, t).

    Returns
    -------
    Shape (N,). Columns that lie in the span of the others of their subset add nothing.
    """
    found = np.zeros(len(chosen))
    if chosen.shape[1] == 0:
        return found
    for start in range(0, len(chosen), _BLOCK):
        columns = matrix[chosen[start : start + _BLOCK]].swapaxes(1, 2)
        basis, lengths, _ = np.linalg.svd(columns, full_matrices=False)
        spans = lengths > _NOTHING_LEFT * lengths[:, :1]  # singular values are exact to 1e-15
        held = (basis * (matrix @ basis)).sum(1)
        found[start : start + _BLOCK] = (held * spans).sum(1)
    return np.asarray(found / np.trace(matrix))


def log_det(matrix: NDArray[np.float64], subset: Sequence[int], noise: float) -> float:
    """Return F of a subset, not negative; `noise` is s^2 > 0."""
    block = matrix[np.ix_(list(subset), list(subset))]
    return float(np.linalg.slogdet(np.eye(len(block)) + block / noise)[1])


def all_coverages(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return f of every subset, shape (2^k,): bit j of the index says whether j is in it."""
    k = len(matrix)
    values = np.zeros(1 << k)
    for size in range(1, k + 1):
        chosen = np.array(list(combinations(range(k), size)))
        values[(1 << chosen).sum(1)] = subset_coverages(matrix, chosen)
    return values


def all_log_dets(matrix: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Return F of every subset, shape (2^k,), indexed as in `all_coverages`."""
    k = len(matrix)
    values = np.zeros(1 << k)
    for size in range(1, k + 1):
        chosen = np.array(list(combinations(range(k), size)))
        blocks = matrix[chosen[:, :, None], chosen[:, None, :]]
        values[(1 << chosen).sum(1)] = np.linalg.slogdet(np.eye(size) + blocks / noise)[1]
    return values


def greedy_coverage(
    matrices: NDArray[np.float64], size: int, *, order: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add, one after another, the benchmark that raises f most, in each of some matrices.

    Parameters
    ----------
    matrices
        Correlation matrices, shape (B, k, k).
    size
        How many to add, at most k.
    order
        Benchmarks to add instead of the greedy ones, shape (B, size).

    Returns
    -------
    The benchmarks in the order in which they were added, and f after each, both (B, size). Every
    gain is worked out anew in each step: lazy evaluation would need f to be submodular. Equal gains
    go to the first benchmark.
    """
    count, k, _ = matrices.shape
    basis = np.zeros((count, size, k))  # unit vectors that span the chosen columns of C
    seen = np.zeros((count, size, k))  # C times each, which is each column's part along it
    # r of each column, what is left of it beside that span: its squared length, and r' C r
    length = (matrices**2).sum(1)
    held = (matrices * (matrices @ matrices)).sum(1)
    start, total = length.copy(), np.trace(matrices, axis1=1, axis2=2)
    every = np.arange(count)
    free = np.ones(length.shape, dtype=bool)
    chosen = np.empty((count, size), np.int64)
    value = np.zeros(count)
    values = np.empty((count, size))
    for step in range(size):
        left = length > _NOTHING_LEFT * start
        gain = np.maximum(np.divide(held, length, out=np.zeros_like(held), where=left), 0)
        pick = np.argmax(np.where(free, gain, -1), 1) if order is None else order[:, step]
        unit = _units_beside(matrices[every, pick], basis[:, :step])
        unit[~left[every, pick]] = 0
        image = _rows(unit, matrices)
        height = (unit * image).sum(1)  # what the pick adds, without the errors of `held`
        across = _rows(image, matrices)
        across -= _rows(_rows(image, basis[:, :step].swapaxes(1, 2)), seen[:, :step])
        held += image * (image * height[:, None] - 2 * across)
        length -= image**2
        value += height / total
        chosen[:, step], values[:, step] = pick, value
        basis[:, step], seen[:, step] = unit, image
        free[every, pick] = False
    return chosen, values


def _units_beside(columns: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is left of vectors (B, k) beside a basis (B, t, k), scaled to length 1."""
    for _ in range(2):  # once leaves rounding errors
        columns = columns - _rows(_rows(columns, basis.swapaxes(1, 2)), basis)
    return np.asarray(columns / np.maximum(np.linalg.norm(columns, axis=1, keepdims=True), 1e-300))


def _rows(vectors: NDArray[np.float64], matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each vector times its matrix, (B, a) and (B, a, b) to (B, b)."""
    return np.asarray((vectors[:, None] @ matrices)[:, 0])


def greedy_log_det(matrix: NDArray[np.float64], size: int, noise: float) -> tuple[list[int], int]:
    """Add, one after another, the benchmark that raises F most; lazily.

    A gain of F never grows as benchmarks are added, so a gain that was worked out earlier is an
    upper bound: only benchmarks at the head of the queue are worked out again (Minoux 1978).

    Returns
    -------
    The benchmarks in their order, and how many gains were worked out.
    """
    whole = np.eye(len(matrix)) + matrix / noise
    chosen: list[int] = []
    factor = np.empty((0, 0))
    queue = [(-float(whole[j, j]), j, 0) for j in range(len(matrix))]
    heapq.heapify(queue)
    evaluations = len(matrix)
    while len(chosen) < size:
        bound, j, known = heapq.heappop(queue)
        if known == len(chosen):
            factor = _extended(factor, whole[chosen, j], -bound)
            chosen.append(j)
            continue
        # exp of the gain: the variance of j that the chosen ones do not explain
        row = np.linalg.solve(factor, whole[chosen, j])
        heapq.heappush(queue, (-float(whole[j, j] - row @ row), j, len(chosen)))
        evaluations += 1
    return chosen, evaluations


def _extended(
    factor: NDArray[np.float64], column: NDArray[np.float64], variance: float
) -> NDArray[np.float64]:
    """Add a row to a Cholesky factor (t, t): the new benchmark's, of which `variance` is left."""
    t = len(factor)
    larger = np.zeros((t + 1, t + 1))
    larger[:t, :t] = factor
    if t:
        larger[t, :t] = np.linalg.solve(factor, column)
    larger[t, t] = np.sqrt(variance)
    return larger
