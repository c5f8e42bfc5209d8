"""What most parts of an analysis look at: the benchmarks and how they go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .result import Spectrum


@dataclass(frozen=True)
class CorrelatedBenchmarks:
    """Benchmarks and their correlations.

    Parameters
    ----------
    names
        Of the k benchmarks.
    matrix
        Correlations, shape (k, k).
    resampled
        Correlations in resamples of the models, shape (B, k, k), perhaps none.
    spectrum
        Of `matrix`.
    """

    names: tuple[str, ...]
    matrix: NDArray[np.float64]
    resampled: NDArray[np.float64]
    spectrum: Spectrum

    def named(self, members: list[int]) -> tuple[str, ...]:
        """Return the names of some benchmarks."""
        return tuple(self.names[j] for j in members)
