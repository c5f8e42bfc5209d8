"""Where this rewriter's children come to lie in this run, learned as they are measured.

A child's difficulty is between its parent's and the target's, off by something of the rewriter's
own: b = target + shift + pull (parent - target) + noise. Shift, pull and noise are learned from the
children measured so far, by empirical Bayes, with their own error; before there are enough of them
nothing is expected, and a child's prior is the benchmark's (docs/method, section 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchfill.child_likelihoods import Expected
from benchfill.onepl.model import outer_log_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from .bench import Bench
    from .calibration import Measurement

ENOUGH = 6
"""Measured children from which on something is expected of the next."""
STRAY = 0.1
_GRID = np.linspace(-8.0, 8.0, 401)  # logits from the target
_STEPS = 30
_PULL, _PULL_SD, _SHIFT_SD = 0.5, 0.5, 1.0
_NOISE, _NOISE_WEIGHT = 0.7, 3.0  # as if so many children had been off by so much


@dataclass(frozen=True, eq=False)
class Seen:
    """A measured child: how far its parent lay from the target, and its likelihood on the grid."""

    parent: float
    likelihood: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Learned:
    coefficients: NDArray[np.float64]
    covariance: NDArray[np.float64]
    noise: float


class RewriterHabits:
    """Learns over all gaps of a run."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._learned: _Learned | None = None

    def note(
        self, bench: Bench, target: float, measured: Iterable[tuple[Measurement, float]]
    ) -> None:
        """Take note of children written for a target, each with its parent's difficulty; logits."""
        for measurement, parent in measured:
            likelihood = _likelihood(bench, target, measurement)
            self._seen[measurement.item] = Seen(parent - target, likelihood)
        self._learned = _learn(list(self._seen.values())) if len(self._seen) >= ENOUGH else None

    def expected(self, target: float, parent: float) -> Expected | None:
        """Return where a child of a parent is expected, logits; None before there is experience."""
        if self._learned is None:
            return None
        row = np.array([1.0, parent - target])
        own = float(row @ self._learned.covariance @ row)
        return Expected(
            mean=target + float(row @ self._learned.coefficients),
            sd=float(np.sqrt(self._learned.noise**2 + own)),
            stray=STRAY,
        )


def _likelihood(bench: Bench, target: float, measured: Measurement) -> NDArray[np.float64]:
    """Return a child's likelihood at the grid, abilities at their means; its largest is 1."""
    log_p, log_q = outer_log_probabilities(bench.theta, target + _GRID, measured.guessing)
    log_likelihood = measured.correct @ log_p + (measured.n - measured.correct) @ log_q
    return np.asarray(np.exp(log_likelihood - log_likelihood.max()))


def _learn(seen: list[Seen]) -> _Learned:
    """Find shift, pull and noise by expectation and maximisation, strays apart."""
    rows = np.column_stack([np.ones(len(seen)), [one.parent for one in seen]])
    likelihood = np.stack([one.likelihood for one in seen])
    anywhere = likelihood.mean(1)
    prior_precision = np.diag([_SHIFT_SD**-2, _PULL_SD**-2])
    coefficients, noise = np.array([0.0, _PULL]), _NOISE
    covariance = np.linalg.inv(prior_precision)
    for _ in range(_STEPS):
        mass = (
            likelihood
            * np.exp(-0.5 * ((_GRID - (rows @ coefficients)[:, None]) / noise) ** 2)
            / (noise * np.sqrt(2 * np.pi))
        )
        evidence = mass.sum(1) * (_GRID[1] - _GRID[0])
        kept = (1 - STRAY) * evidence
        kept /= kept + STRAY * anywhere + 1e-300
        mass /= mass.sum(1, keepdims=True) + 1e-300
        mean = mass @ _GRID
        variance = np.clip(mass @ _GRID**2 - mean**2, 0, None)
        precision = prior_precision + (rows * kept[:, None]).T @ rows / noise**2
        covariance = np.linalg.inv(precision)
        wanted = (rows * kept[:, None]).T @ mean / noise**2
        coefficients = covariance @ (wanted + prior_precision @ np.array([0.0, _PULL]))
        off = kept @ ((mean - rows @ coefficients) ** 2 + variance)
        noise = float(np.sqrt((off + _NOISE_WEIGHT * _NOISE**2) / (kept.sum() + _NOISE_WEIGHT)))
    # a child whose own place is vague tells less: observed, not complete, information (Louis 1982)
    known = kept * np.clip(1 - variance / noise**2, 0, 1)
    observed = prior_precision + (rows * known[:, None]).T @ rows / noise**2
    return _Learned(coefficients, np.linalg.inv(observed), noise)
