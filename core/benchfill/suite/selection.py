"""Which benchmarks to keep: by f, by F, by looking at all subsets; and how steady that is.

docs/suite; paper arXiv 2606.05169, theorem 4 (its guarantee holds for F, not for f).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from .coverage import (
    all_coverages,
    all_log_dets,
    coverage,
    coverages,
    greedy_coverage,
    greedy_log_det,
    log_det,
)
from .removal import explained
from .result import Choice, Core, Coverage, CoveragePoint, Optimum, Resampled, Returns
from .submodularity import MOST_TRIPLES, submodularity_ratio, violations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .correlated import CorrelatedBenchmarks
    from .result import Spectrum

MOST_ENUMERATED = 16  # benchmarks up to which all subsets are looked at
MOST_RATIO = 15
RANDOM_ORDERS = 200
LEAST_NOISE = 1e-3
WANTED = 0.9
_BLOCK = 64  # resamples at a time, so that they stay in the processor's cache


@dataclass(frozen=True)
class Wanted:
    """What is to be kept: so many benchmarks, or so much of f. One of both, or neither (90%)."""

    size: int | None = None
    coverage: float | None = None

    def refuse_wrong(self, benchmarks: int) -> None:
        """Refuse what cannot be. Raises InputError."""
        if self.size is not None and self.coverage is not None:
            raise InputError("give either a number of benchmarks or a coverage.", field="--select")
        if self.size is not None and not 1 <= self.size <= benchmarks:
            raise InputError(
                f"{self.size} of {benchmarks} benchmarks cannot be kept; give 1 to {benchmarks}.",
                field="--select",
            )
        if self.coverage is not None and not 0 < self.coverage <= 1:
            raise InputError(
                f"{self.coverage:g} is no share; give one above 0 and at most 1.",
                field="--coverage",
            )


@dataclass(frozen=True)
class _All:
    """f and F of every subset, and how many benchmarks each holds."""

    f: NDArray[np.float64]
    log_det: NDArray[np.float64]
    count: NDArray[np.int64]

    def best(self, values: NDArray[np.float64], size: int) -> list[int]:
        """Return the members of the subset of a size with the largest value."""
        mask = int(np.argmax(np.where(self.count == size, values, -1)))
        return [j for j in range(mask.bit_length()) if mask >> j & 1]


def choose(benchmarks: CorrelatedBenchmarks, wanted: Wanted, rng: np.random.Generator) -> Coverage:
    """Choose the benchmarks to keep.

    Parameters
    ----------
    benchmarks
        The k benchmarks. The noise s^2 of F is the mean of their eigenvalues up to the edge.
    wanted
        How many, or how much.
    rng
        For random subsets where not all are looked at.

    Returns
    -------
    What was found. Kept is the exact best subset by f up to 16 benchmarks, beyond that the better
    one of the two greedy choices.
    """
    matrix, resampled = benchmarks.matrix, benchmarks.resampled
    k = len(matrix)
    noise = noise_of(benchmarks.spectrum)
    order, values = (one[0] for one in greedy_coverage(matrix[None], k))
    by_log_det, evaluations = greedy_log_det(matrix, k, noise)
    known = _enumerated(matrix, noise)
    size = wanted.size or _size_for(known, values, wanted.coverage or WANTED)
    chosen = (order[:size].tolist(), by_log_det[:size])
    kept = known.best(known.f, size) if known else max(chosen, key=lambda s: coverage(matrix, s))
    return Coverage(
        size=size,
        kept=benchmarks.named(kept),
        exact=known is not None,
        f=Resampled.of(coverage(matrix, kept), coverages(resampled, kept)),
        foretold=Resampled.of(
            float(explained(matrix, kept).mean()), explained(resampled, kept).mean(-1)
        ),
        noise=noise,
        greedy_f=_choice(benchmarks, chosen[0], noise, known.f if known else None),
        greedy_log_det=_choice(benchmarks, chosen[1], noise, known.log_det if known else None),
        gains_worked_out=evaluations,
        gains_without_laziness=k * (k + 1) // 2,
        optimum_f=_optimum(benchmarks, known, "f", size),
        optimum_log_det=_optimum(benchmarks, known, "log_det", size),
        size_for_90=int(np.argmax(values >= WANTED - 1e-9)) + 1,
        size_for_90_exact=_size_for(known, values, WANTED) if known else None,
        core=_core(resampled, size, benchmarks.names),
        resamples=len(resampled),
        returns=_returns(matrix) if k <= MOST_TRIPLES else None,
        curve=_curve(matrix, values, by_log_det, known, rng),
    )


def noise_of(spectrum: Spectrum) -> float:
    """Return s^2 of F: the mean of the eigenvalues up to the Marchenko-Pastur edge.

    What probabilistic principal components take for noise (Tipping & Bishop 1999), at least .001.
    """
    rest = [one for one in spectrum.eigenvalues if one <= spectrum.mp_edge]
    return max(float(np.mean(rest)) if rest else 0.0, LEAST_NOISE)


def _enumerated(matrix: NDArray[np.float64], noise: float) -> _All | None:
    k = len(matrix)
    if k > MOST_ENUMERATED:
        return None
    count = np.array([mask.bit_count() for mask in range(1 << k)])
    return _All(all_coverages(matrix), all_log_dets(matrix, noise), count)


def _size_for(known: _All | None, greedy: NDArray[np.float64], wanted: float) -> int:
    """Return the least size whose best known f reaches what is wanted."""
    k = len(greedy)
    best = greedy
    if known is not None:
        best = np.array([known.f[known.count == size].max() for size in range(1, k + 1)])
    return int(np.argmax(best >= min(wanted, best[-1]) - 1e-9)) + 1


def _choice(
    benchmarks: CorrelatedBenchmarks,
    chosen: list[int],
    noise: float,
    values: NDArray[np.float64] | None,
) -> Choice:
    gamma = None
    if values is not None and len(benchmarks.names) <= MOST_RATIO:
        gamma = submodularity_ratio(values, chosen, len(chosen))
    return Choice(
        benchmarks=benchmarks.named(chosen),
        f=coverage(benchmarks.matrix, chosen),
        log_det=log_det(benchmarks.matrix, chosen, noise),
        gamma=gamma,
        guarantee=None if gamma is None else float(1 - np.exp(-gamma)),
    )


def _optimum(
    benchmarks: CorrelatedBenchmarks, known: _All | None, measure: str, size: int
) -> Optimum | None:
    if known is None:
        return None
    values = known.f if measure == "f" else known.log_det
    best = known.best(values, size)
    return Optimum(
        benchmarks=benchmarks.named(best), value=float(values[sum(1 << j for j in best)])
    )


def _returns(matrix: NDArray[np.float64]) -> Returns:
    pairs_growing, pairs, triples_growing, triples = violations(matrix)
    return Returns(
        pairs_growing=pairs_growing,
        pairs=pairs,
        triples_growing=triples_growing,
        triples=triples,
    )


def _core(resampled: NDArray[np.float64], size: int, names: Sequence[str]) -> tuple[Core, ...]:
    """Return how often each benchmark is chosen by f over resampled models, oftenest first."""
    if not len(resampled):
        return ()
    blocks = np.array_split(resampled, -(-len(resampled) // _BLOCK))
    chosen = np.concatenate([greedy_coverage(block, size)[0] for block in blocks])
    share = np.bincount(chosen.ravel(), minlength=len(names)) / len(resampled)
    return tuple(
        Core(benchmark=names[j], share=float(share[j])) for j in np.argsort(-share, kind="stable")
    )


def _curve(
    matrix: NDArray[np.float64],
    greedy: NDArray[np.float64],
    by_log_det: Sequence[int],
    known: _All | None,
    rng: np.random.Generator,
) -> tuple[CoveragePoint, ...]:
    k = len(matrix)
    _, along = greedy_coverage(matrix[None], k, order=np.array([by_log_det]))
    if known is None:
        orders = np.stack([rng.permutation(k) for _ in range(RANDOM_ORDERS)])
        copies = np.broadcast_to(matrix, (RANDOM_ORDERS, k, k))
        _, nested = greedy_coverage(copies, k, order=orders)
        random = [nested[:, size] for size in range(k)]
    else:
        random = [known.f[known.count == size] for size in range(1, k + 1)]
    return tuple(
        CoveragePoint(
            size=size + 1,
            greedy_f=float(greedy[size]),
            greedy_log_det=float(along[0, size]),
            optimum=float(random[size].max()) if known else None,
            random=float(random[size].mean()),
            random_q025=float(np.quantile(random[size], 0.025)),
            random_q975=float(np.quantile(random[size], 0.975)),
        )
        for size in range(k)
    )
