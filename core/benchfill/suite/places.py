"""Each benchmark's place in the suite: kept or not, told by the kept ones or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .coverage import coverage
from .removal import association, disruptions, explained, irreplaceability, mass_outside
from .result import Place, Removal, Resampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .correlated import CorrelatedBenchmarks
    from .result import Coverage, Spectrum, Verdict

NOTHING, LITTLE = 0.9, 0.75  # shares of a benchmark that the kept ones explain; ours


def places_of(
    benchmarks: CorrelatedBenchmarks, chosen: Coverage, whole: NDArray[np.float64]
) -> tuple[Place, ...]:
    """Describe every benchmark.

    Parameters
    ----------
    benchmarks
        The k benchmarks.
    chosen
        Which are kept.
    whole
        z-scores of the models with every score, shape (n', k), perhaps none.

    Returns
    -------
    The kept ones first, those that lose most of f first, then the others by what they add. A
    benchmark that is not kept `adds nothing` when the kept ones explain at least .9 of its
    variance, `adds little` from .75 on.
    """
    names, matrix = benchmarks.names, benchmarks.matrix
    k, leading = len(matrix), benchmarks.spectrum.leading
    kept = [names.index(name) for name in chosen.kept]
    alone, outside = irreplaceability(matrix), mass_outside(matrix, leading)
    alone_drawn = irreplaceability(benchmarks.resampled)
    moved: Sequence[Resampled | None] = disruptions(whole) if len(whole) else [None] * k
    shares = {one.benchmark: one.share for one in chosen.core}
    off = np.abs(matrix) - 2 * np.eye(k)
    told_of, drawn = explained(matrix, kept), explained(benchmarks.resampled, kept)
    found = []
    for j, name in enumerate(names):
        told = None if j in kept else Resampled.of(float(told_of[j]), drawn[:, j])
        nearest = int(np.argmax(off[j]))
        found.append(
            Place(
                benchmark=name,
                verdict=_verdict(told),
                core_share=shares.get(name),
                explained=told,
                gain=_gain(matrix, kept, j),
                nearest=names[nearest],
                nearest_r=float(matrix[j, nearest]),
                irreplaceability=Resampled.of(float(alone[j]), alone_drawn[:, j]),
                mass_outside=float(outside[j]),
                disruption=moved[j],
            )
        )
    return tuple(sorted(found, key=lambda one: (one.explained is not None, -one.gain)))


def removal_of(places: Sequence[Place], spectrum: Spectrum) -> Removal:
    """Correlate what goes wrong without a benchmark with what was expected of it."""
    k = spectrum.benchmarks
    told = [one for one in places if one.disruption is not None]
    moved = np.array([one.disruption.value for one in told if one.disruption is not None])
    return Removal(
        disruption_and_mass=association(moved, np.array([one.mass_outside for one in told])),
        disruption_and_irreplaceability=association(
            moved, np.array([one.irreplaceability.value for one in told])
        ),
        irreplaceability_by_chance=max(1 - (k - 1) / (spectrum.models - 1), 0.0),
        mass_by_chance=(k - min(spectrum.leading, k)) / k,
    )


def _verdict(told: Resampled | None) -> Verdict:
    if told is None:
        return "kept"
    if told.value >= NOTHING:
        return "adds nothing"
    return "adds little" if told.value >= LITTLE else "adds something"


def _gain(matrix: NDArray[np.float64], kept: Sequence[int], j: int) -> float:
    """Return f that is lost without a kept benchmark, or that another one would add."""
    other = [one for one in kept if one != j] if j in kept else [*kept, j]
    return abs(coverage(matrix, other) - coverage(matrix, kept))
