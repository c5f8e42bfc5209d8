"""Simulated benchmarks with one flaw planted, for the check to find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import expit

from support.simulated import abilities, matrix_of

if TYPE_CHECKING:
    from benchfill import ResponseMatrix

Flaw = Literal["none", "flipped key", "copied model", "same weights", "guessing model"]
FLAWS: tuple[Flaw, ...] = ("none", "flipped key", "copied model", "same weights", "guessing model")


def flawed_matrix(
    rng: np.random.Generator, size: tuple[int, int, int], flaw: Flaw, spread: float = 0.0
) -> tuple[ResponseMatrix, set[str]]:
    """A matrix of models x items x rollouts, and the names of what is wrong in it.

    `spread` is the sd of the log slopes. A flipped key turns the answers to an item of middling
    difficulty round; same weights answer nine cells in ten as their original does.
    """
    models, items, rollouts = size
    theta, b = abilities(rng, models), rng.normal(0, 1.5, items)
    a = np.exp(spread * rng.standard_normal(items))
    b[0] = 0.0
    right = rng.binomial(rollouts, expit(a * (theta[:, None] - b)))
    if flaw == "flipped key":
        right[:, 0] = rollouts - right[:, 0]
        return matrix_of(right, rollouts), {"i0"}
    if flaw == "copied model":
        right[1] = right[0]
        return matrix_of(right, rollouts), {"m0", "m1"}
    if flaw == "same weights":
        own = rng.binomial(rollouts, expit(theta[0] - b))
        right[1] = np.where(rng.random(items) < 0.9, right[0], own)
        return matrix_of(right, rollouts), {"m0", "m1"}
    if flaw == "guessing model":
        right[0] = rng.binomial(rollouts, 0.5, items)
        return matrix_of(right, rollouts), {"m0"}
    return matrix_of(right, rollouts), set()
