"""Models that stand in the matrix twice: pairs that agree beyond what their abilities explain."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom, median_abs_deviation

from .reference import ALPHA, family_chances, pair_products
from .result import PairFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..responses import ResponseMatrix
    from .reference import FittedModel, Simulated

MOST_PAIRS = 50
_SHORTEST_NAME = 6


def most_alike(
    model: FittedModel, simulated: Simulated, names: tuple[str, ...]
) -> tuple[PairFit, ...]:
    """Return the pairs of models most alike for their abilities, most alike first.

    The 50 furthest beyond chance, and those whose names are alike as far as chance is no reason.
    """
    first, second = np.triu_indices(len(names), 1)
    z, p = family_chances(pair_products(model.residuals), simulated.pairs)
    alike = np.array([_named_alike(names[j], names[k]) for j, k in zip(first, second, strict=True)])
    p_alike = np.full(len(z), np.nan)
    if alike.any():
        # few pairs, so that chance has few tries: what is known beforehand counts
        p_alike[alike] = family_chances(
            pair_products(model.residuals)[alike], simulated.pairs[:, alike]
        )[1]
    ranked = np.argsort(-np.where(np.isnan(z), -np.inf, z), kind="stable")
    ranked = ranked[~np.isnan(z[ranked])]
    chosen = [*ranked[:MOST_PAIRS], *(k for k in ranked[MOST_PAIRS:] if p_alike[k] <= ALPHA)]
    agreement, expected, common, correlation = _agreements(model)
    fence = _fence(correlation[first, second])
    found = (
        PairFit(
            first=names[j],
            second=names[k],
            items=int(common[j, k]),
            agreement=float(agreement[j, k]),
            expected=float(expected[j, k]),
            correlation=float(correlation[j, k]),
            stands_out=bool(correlation[j, k] > fence),
            z=float(z[at]),
            p=float(p[at]),
            named_alike=bool(alike[at]),
            p_named_alike=float(p_alike[at]) if alike[at] else None,
        )
        for at in chosen
        for j, k in [(int(first[at]), int(second[at]))]
    )
    return tuple(sorted(found, key=lambda one: (one.p > ALPHA, -one.correlation)))


def _fence(correlation: NDArray[np.float64]) -> float:
    """Return what a pair must exceed to stand out from the others: four robust sd over the median.

    Where models form families, no pair is as the 1PL expects, and chance is no measure.
    """
    return float(np.median(correlation) + 4 * median_abs_deviation(correlation, scale="normal"))


def _named_alike(first: str, second: str) -> bool:
    """Whether one name, without case and punctuation, holds the other."""
    short, long = sorted(
        ("".join(char for char in name.lower() if char.isalnum()) for name in (first, second)),
        key=len,
    )
    return len(short) >= _SHORTEST_NAME and short in long


def _agreements(model: FittedModel) -> tuple[NDArray[np.float64], ...]:
    """Return agreement, its expectation, common items and residual correlation, (J, J) each."""
    residuals, cells = model.residuals, model.cells
    seen = residuals.observed.astype(np.float64)
    rate = cells.right / np.maximum(model.n, 1)

    def agreeing(p: NDArray[np.float64]) -> NDArray[np.float64]:
        right, wrong = p * seen, (1 - p) * seen
        return np.asarray(right.T @ right + wrong.T @ wrong)

    common = seen.T @ seen
    tried = np.maximum(common, 1)
    square = (residuals.residual**2).T @ seen
    scale = np.sqrt(np.maximum(square * square.T, 1e-300))
    correlation = (residuals.residual.T @ residuals.residual) / scale
    return agreeing(rate) / tried, agreeing(residuals.p) / tried, common, correlation


def identical_models(responses: ResponseMatrix) -> tuple[tuple[int, ...], ...]:
    """Return groups of models with the very same counts in every cell.

    Models that solve everything or nothing are left out: they are equal for want of anything to
    differ in.
    """
    groups: dict[bytes, list[int]] = {}
    for j, (correct, n) in enumerate(zip(responses.correct, responses.n, strict=True)):
        if 0 < correct.sum(dtype=np.int64) < n.sum(dtype=np.int64):
            counts = np.concatenate([correct, n]).astype(np.int64)
            key = hashlib.blake2b(counts.tobytes()).digest()
            groups.setdefault(key, []).append(j)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def chance_of_identity(
    n: NDArray[np.integer[Any]], p: NDArray[np.float64], q: NDArray[np.float64]
) -> float:
    """Return how likely two models with success probabilities p and q (I,) give equal counts."""
    log_chance = 0.0
    for trials in np.unique(n[n > 0]):
        same = n == trials
        counts = np.arange(int(trials) + 1)[:, None]
        equal = (binom.pmf(counts, trials, p[same]) * binom.pmf(counts, trials, q[same])).sum(0)
        log_chance += float(np.log(np.maximum(equal, 1e-300)).sum())
    return float(np.exp(log_chance))
