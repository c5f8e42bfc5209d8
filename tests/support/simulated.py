"""Simulated benchmarks whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchfill import ResponseMatrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def matrix_of(correct: ArrayLike, n: ArrayLike) -> ResponseMatrix:
    """A matrix with made-up names; n may be one number."""
    y = np.asarray(correct)
    return ResponseMatrix(
        models=tuple(f"m{j}" for j in range(y.shape[0])),
        items=tuple(f"i{i}" for i in range(y.shape[1])),
        correct=y.copy(),
        n=np.broadcast_to(np.asarray(n), y.shape).copy(),
    )


def respond(
    rng: np.random.Generator,
    theta: NDArray[np.float64],
    b: NDArray[np.float64],
    n: ArrayLike,
    guessing: float = 0.0,
) -> ResponseMatrix:
    """Responses of the 1PL model."""
    p = guessing + (1 - guessing) / (1 + np.exp(b - theta[:, None]))
    trials = np.broadcast_to(np.asarray(n), p.shape)
    return matrix_of(rng.binomial(trials, p), trials)


def abilities(rng: np.random.Generator, models: int = 12, sd: float = 1.5) -> NDArray[np.float64]:
    """Normal abilities that sum to zero, as the fitted ones do."""
    theta = rng.normal(0, sd, models)
    return np.asarray(theta - theta.mean())
