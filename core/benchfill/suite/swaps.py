"""Do the best models stay the best on other benchmarks? Random halves of a suite, with their null.

docs/suite; paper arXiv 2606.05169, section 5. A null is needed: models without any true difference
in what they are best at swap too, since each half holds few benchmarks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .result import Resampled, SwapRate, Swaps
from .shares import share_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPLITS = 500
WORLDS, SPLITS_OF_WORLD = 100, 50
TOP = 5


def swaps_of(
    z: NDArray[np.float64], matrix: NDArray[np.float64], rng: np.random.Generator
) -> Swaps:
    """Split the suite 500 times into halves, and do so in worlds of made-up models.

    Parameters
    ----------
    z
        Standardised scores, whole rows, shape (n, k).
    matrix
        Correlations that the made-up models have, shape (k, k).
    rng
        For splits and models.
    """
    n, k = z.shape
    first, top = split_swaps(z, random_halves(k, SPLITS, rng), min(TOP, n))
    low, high = share_interval(int(first.sum()), len(first))
    error = 1.96 * float(top.std() / np.sqrt(len(top)))
    mean = float(top.mean())
    gaussian, gaussian_rate = _worlds(n, _root(matrix), min(TOP, n), rng)
    _, single_rate = _worlds(n, _one_factor(matrix), min(TOP, n), rng)
    share = float(first.mean())
    return Swaps(
        splits=SPLITS,
        visible=k // 2,
        held_out=k - k // 2,
        top=min(TOP, n),
        observed=SwapRate(
            another_first=Resampled(value=share, q025=low, q975=high),
            top_changed=Resampled(value=mean, q025=max(mean - error, 0.0), q975=mean + error),
            changes=_shares(top, min(TOP, n)),
        ),
        gaussian=gaussian_rate,
        single_factor=single_rate,
        p_gaussian=float((1 + (gaussian >= share).sum()) / (1 + WORLDS)),
    )


def random_halves(k: int, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which benchmarks are visible in each split: half of them, rounded down, (k, S)."""
    order = rng.permuted(np.tile(np.arange(k)[:, None], (1, count)), axis=0)
    return np.asarray(order < k // 2)


def split_swaps(
    z: NDArray[np.float64], visible: NDArray[np.bool_], top: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Compare both halves' mean scores in each split.

    Returns
    -------
    Whether another model is first, and how many of the first `top` are others, both (S,).
    """
    rows = np.ascontiguousarray(z.T)
    seen = (visible / visible.sum(0)).T @ rows
    unseen = (~visible / (~visible).sum(0)).T @ rows
    first = np.argmax(seen, 1) != np.argmax(unseen, 1)
    if top >= len(z):
        return first, np.zeros(visible.shape[1], np.int64)
    best = np.argpartition(seen, -top, axis=1)[:, -top:]
    other = np.argpartition(unseen, -top, axis=1)[:, -top:]
    stay = (best[:, :, None] == other[:, None]).any(2).sum(1)
    return first, np.asarray(top - stay)


def _worlds(
    n: int, root: NDArray[np.float64], top: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], SwapRate]:
    """Return the share with another first in each world of n models, z = noise @ root; and rates.

    The shares have shape (WORLDS,); the rates' intervals are those of worlds.
    """
    firsts = np.empty(WORLDS)
    changed = np.empty((WORLDS, SPLITS_OF_WORLD), np.int64)
    for world in range(WORLDS):
        rows = root.T @ rng.standard_normal((len(root), n))
        rows /= rows.std(1, keepdims=True)  # their means move all models alike
        halves = random_halves(root.shape[1], SPLITS_OF_WORLD, rng)
        first, changed[world] = split_swaps(rows.T, halves, top)
        firsts[world] = first.mean()
    rate = SwapRate(
        another_first=Resampled.of(float(firsts.mean()), firsts),
        top_changed=Resampled.of(float(changed.mean()), changed.mean(1)),
        changes=_shares(changed.ravel(), top),
    )
    return firsts, rate


def _root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))).T)


def _one_factor(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Root of correlations that come from the first component alone; all else is noise."""
    values, vectors = np.linalg.eigh(matrix)
    loading = np.clip(vectors[:, -1] * np.sqrt(values[-1]), -1, 1)
    return np.vstack([loading, np.diag(np.sqrt(1 - loading**2))])


def _shares(changed: NDArray[np.int64], top: int) -> tuple[float, ...]:
    return tuple((np.bincount(changed, minlength=top + 1) / len(changed)).tolist())
