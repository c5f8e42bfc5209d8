"""A first guess of an item's difficulty from its text, learned from the measured items at hand.

Ridge regression of z on sentence embeddings and surface features, each item weighted by how well
its z is known. How far off it is, is what it misses when each item is left out. It is used as the
mean of a prior with that error as its spread, and only where it tells more than the benchmark's
own spread does (docs/validation.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from benchfill.child_likelihoods import Expected

from ..embeddings import text_of
from .surface import surface_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item
    from benchfill.measure import DifficultyScale

    from ..embeddings import Embedder
    from ..memory import MemoryEntry

ENOUGH = 30
"""Items below which nothing is learned."""
MIN_R = 0.3
"""Leave-one-out correlation below which the guess is not used."""
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1e4)
"""Noise over signal, of each of the two blocks of features; the last switches a block off."""
_RESAMPLES = 2_000


class LearnedReport(BaseModel):
    """How well difficulty can be told from the text, and whether that was used."""

    model_config = ConfigDict(frozen=True)

    used: bool
    why_off: str | None = Field(None, description="one sentence; null when it was used")
    items: int = Field(0, description="measured items that it was learned from")
    r: float | None = Field(None, description="of z with its guesses, each item left out in turn")
    r_q05: float | None = Field(None, description="90% interval of r, by a bootstrap of the items")
    r_q95: float | None = None
    sd: float | None = Field(None, description="root mean square of what those guesses miss, in z")
    prior_sd: float | None = Field(None, description="the benchmark's own spread of z")


@dataclass(frozen=True)
class Guess:
    """Where an item may lie on the frozen z scale, before anybody answered it."""

    mean: float
    sd: float

    def on(self, scale: DifficultyScale) -> Expected:
        """Return it in logits, as what a child is expected to be."""
        return Expected(mean=float(scale.to_b(self.mean)), sd=self.sd * scale.width)


def narrower(one: Expected | None, other: Expected | None) -> Expected | None:
    """Return the one that says more. They are not multiplied: their errors hang together."""
    known = [expected for expected in (one, other) if expected is not None]
    return min(known, key=lambda expected: expected.sd, default=None)


@dataclass(frozen=True, eq=False)
class Ridge:
    """A weighted ridge regression whose intercept is not penalised.

    Attributes
    ----------
    coefficients
        Intercept first, shape (1 + p,).
    left_out
        Prediction of each row by the regression without it, shape (n,).
    """

    coefficients: NDArray[np.float64]
    left_out: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        weights: NDArray[np.float64],
        penalty: NDArray[np.float64],
    ) -> Ridge:
        """Fit rows X (n, p) to y (n,), with positive weights (n,) and a penalty a feature (p,).

        Notes
        -----
        With H = X (X'WX + P)^-1 X'W and residuals e = y - Hy, leaving row i out misses it by
        e_i / (1 - H_ii), exactly, for weights and penalties that stay.
        """
        rows = np.column_stack([np.ones(len(X)), X])
        root = np.sqrt(weights)[:, None] * rows
        lower, _ = cho_factor(root.T @ root + np.diag([0.0, *penalty]), lower=True)
        coefficients = cho_solve((lower, True), rows.T @ (weights * y))
        leverage = (solve_triangular(lower, root.T, lower=True) ** 2).sum(0)
        missed = (y - rows @ coefficients) / np.maximum(1 - leverage, 1e-12)
        return cls(coefficients, y - missed)

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions of other rows, shape (m,)."""
        return np.asarray(self.coefficients[0] + X @ self.coefficients[1:])


class LearnedDifficulty:
    """Guesses the z of items; `report` says how good that is, and whether it is used.

    Parameters
    ----------
    entries
        Measured items; their embedding may take seconds, see `Embedder.embed`.
    embedder
        Makes the vectors.
    prior_sd
        Standard deviation of z that an item of the benchmark has before it is measured.
    """

    def __init__(
        self, entries: Sequence[MemoryEntry], embedder: Embedder, *, prior_sd: float
    ) -> None:
        self._embedder = embedder
        self._ridge: Ridge | None = None
        if len(entries) < ENOUGH:
            self.report = LearnedReport(
                used=False,
                why_off=f"{len(entries)} measured items are too few to learn from; {ENOUGH} do.",
                items=len(entries),
            )
            return
        items = [entry.item for entry in entries]
        blocks = self._described(items)
        self._centres = [block.mean(0) for block in blocks]
        self._scales = [_scale(block) for block in blocks]
        z = np.array([entry.z for entry in entries])
        measured = np.array([entry.sd for entry in entries])
        ridge = fit_best(self._features(blocks), z, measured, [block.shape[1] for block in blocks])
        self.report = judged(ridge.left_out, z, prior_sd)
        if self.report.used:
            self._ridge = ridge

    def guess(self, items: Sequence[Item]) -> tuple[Guess, ...] | None:
        """Return a guess an item, or None when guesses are off."""
        if self._ridge is None or self.report.sd is None or not items:
            return None
        means = self._ridge.predict(self._features(self._described(items)))
        return tuple(Guess(float(mean), self.report.sd) for mean in means)

    def _described(self, items: Sequence[Item]) -> list[NDArray[np.float64]]:
        vectors = self._embedder.embed([text_of(item) for item in items]).astype(float)
        return [vectors, surface_features(items)]

    def _features(self, blocks: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.column_stack(
            [
                (block - centre) / scale
                for block, centre, scale in zip(blocks, self._centres, self._scales, strict=True)
            ]
        )


def _scale(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what to divide columns by, so that a row of the block has length 1 on average.

    Columns of embeddings are of one kind and stay as they are to one another; those of the surface
    features, which are few, are brought to the same spread first.
    """
    spread = block.std(0)
    if len(spread) > 100:
        return np.full(len(spread), np.sqrt((spread**2).sum()))
    varying = max(int((spread > 0).sum()), 1)
    return np.asarray(np.where(spread > 0, spread, np.inf) * np.sqrt(varying))


def fit_best(
    X: NDArray[np.float64],
    z: NDArray[np.float64],
    measured: NDArray[np.float64],
    sizes: Sequence[int],
) -> Ridge:
    """Return the ridge whose left-out guesses miss least, over penalties of each block.

    Parameters
    ----------
    X
        Features, the blocks beside each other, shape (n, p).
    z
        Difficulties, shape (n,).
    measured
        Their standard deviations, shape (n,).
    sizes
        Columns of each block.
    """
    noise = 0.7 * float(z.var())
    for _ in range(2):  # how much each item counts hangs on how much is missed at best
        weights = 1 / (noise + measured**2)
        weights /= weights.mean()
        found = [
            Ridge.fit(X, z, weights, np.repeat(penalties, sizes))
            for penalties in product(PENALTIES, repeat=len(sizes))
        ]
        missed = [float(weights @ (z - one.left_out) ** 2) for one in found]
        best = found[int(np.argmin(missed))]
        noise = max(float(((z - best.left_out) ** 2).mean() - (measured**2).mean()), 1e-6)
    return best


def judged(left_out: NDArray[np.float64], z: NDArray[np.float64], prior_sd: float) -> LearnedReport:
    """Say how good left-out guesses (n,) of z (n,) are, and whether they are worth using."""
    r = _r(left_out, z)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(z), size=(_RESAMPLES, len(z)))
    low, high = np.quantile([_r(left_out[rows], z[rows]) for rows in drawn], [0.05, 0.95])
    sd = float(np.sqrt(np.mean((z - left_out) ** 2)))
    why = None
    if r < MIN_R:
        why = f"its leave-one-out correlation with z is {r:.2f}, below {MIN_R}."
    elif sd >= prior_sd:
        why = f"it misses z by {sd:.3f}, no less than the benchmark's own spread of {prior_sd:.3f}."
    return LearnedReport(
        used=why is None,
        why_off=why,
        items=len(z),
        r=r,
        r_q05=float(low),
        r_q95=float(high),
        sd=sd,
        prior_sd=prior_sd,
    )


def _r(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return Pearson's r; 0 where one of them does not vary."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0
