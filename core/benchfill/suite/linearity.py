"""Whether the width model holds: each benchmark a linear function of the leading components.

docs/suite; paper arXiv 2606.05169, proposition 1. The components are computed without the benchmark
itself, or it would explain itself.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from .result import Linearity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_SQUARED = 10  # components whose squares and products are looked at
_NO_ROOM = 2  # residual degrees of freedom that a fit needs


def linearity_of(
    z: NDArray[np.float64], names: Sequence[str], leading: int
) -> tuple[tuple[Linearity, ...], NDArray[np.float64]]:
    """Regress each benchmark on the leading components of the others, linearly and with squares.

    Parameters
    ----------
    z
        Standardised scores, whole rows, shape (n, k).
    names
        Of the benchmarks.
    leading
        Components of the others to use; fewer where there are fewer others or models.

    Returns
    -------
    What was found for each benchmark, and the residuals of the linear fits in units of its standard
    deviation, shape (n, k).
    """
    n, k = z.shape
    found, residuals = [], np.empty_like(z)
    for j, name in enumerate(names):
        parts = _components(np.delete(z, j, axis=1), min(leading, k - 1, n - 1 - _NO_ROOM))
        squares = [
            parts[:, a] * parts[:, b]
            for a, b in combinations_with_replacement(range(min(parts.shape[1], MOST_SQUARED)), 2)
        ]
        linear = np.column_stack([np.ones(n), parts])
        quadratic = np.column_stack([linear, *squares])
        residuals[:, j] = _residual(linear, z[:, j])
        unexplained = float(np.mean(residuals[:, j] ** 2))
        gain = p_value = chance = None
        if squares and n - quadratic.shape[1] >= _NO_ROOM:
            left = float(np.mean(_residual(quadratic, z[:, j]) ** 2))
            gain = max(unexplained - left, 0.0)
            chance = unexplained * len(squares) / (n - linear.shape[1])
            p_value = _f_test(unexplained, left, len(squares), n - quadratic.shape[1])
        found.append(
            Linearity(
                benchmark=name,
                r2=1 - unexplained,
                r2_by_chance=(linear.shape[1] - 1) / (n - 1),
                quadratic_gain=gain,
                quadratic_by_chance=chance,
                quadratic_p=p_value,
            )
        )
    return tuple(found), residuals


def _components(z: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return scores of the models on the leading components, with unit variance, shape (n, d)."""
    values, vectors = np.linalg.eigh(z.T @ z / len(z))
    values, vectors = values[::-1], vectors[:, ::-1]
    there = (values > 1e-12 * values[0]) & (np.arange(len(values)) < count)
    return np.asarray(z @ vectors[:, there] / np.sqrt(values[there]))


def _residual(design: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(design.T @ design)
    there = values > 1e-12 * values[-1]
    held = vectors[:, there].T @ (design.T @ y) / values[there]
    return np.asarray(y - design @ (vectors[:, there] @ held))


def _f_test(before: float, after: float, added: int, free: int) -> float | None:
    """Return P(a gain at least so large) when squares and products have nothing to say."""
    if after <= 1e-12:
        return None
    return float(fdtrc(added, free, max(before - after, 0.0) / added / (after / free)))
