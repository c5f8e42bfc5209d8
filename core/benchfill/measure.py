"""A benchmark as an empirical measure over difficulty: its scale, mismatch and spacings.

docs/method, section 3; paper arXiv 2610.29927, sections 2 and C.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .errors import FitError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .targets import Target


@dataclass(frozen=True)
class DifficultyScale:
    """The frozen z scale: the benchmark's easiest item is 0, its hardest 1.

    Frozen at the posterior means of the fit, so that gaps and children keep their places; a child
    may fall outside [0, 1].

    Parameters
    ----------
    low, high
        Difficulties in logits that are z = 0 and z = 1; ``low < high``.
    """

    low: float
    high: float

    @classmethod
    def of(cls, b: NDArray[np.float64]) -> DifficultyScale:
        """Freeze the scale of difficulties b, shape (I,).

        Raises
        ------
        FitError
            All items are equally difficult, or there is only one: no scale, no gap.
        """
        low, high = float(b.min()), float(b.max())
        if high - low < 1e-9:
            what = "there is only one item" if len(b) == 1 else "all items have the same difficulty"
            raise FitError(
                f"{what}, so the benchmark has no difficulty scale; "
                "a diagnosis needs at least two items that differ."
            )
        return cls(low, high)

    @property
    def width(self) -> float:
        """Logits that one unit of z spans."""
        return self.high - self.low

    def to_z(self, b: ArrayLike) -> NDArray[np.float64]:
        """Turn logits into z."""
        return (np.asarray(b, dtype=np.float64) - self.low) / self.width

    def to_b(self, z: ArrayLike) -> NDArray[np.float64]:
        """Turn z into logits."""
        return self.low + self.width * np.asarray(z, dtype=np.float64)


def own_scale(b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Min-max scale each draw by its own extremes, sorted; shape (S, I) to (S, I)."""
    ordered = np.sort(b, axis=-1)
    low, high = ordered[..., :1], ordered[..., -1:]
    return np.asarray((ordered - low) / (high - low), dtype=np.float64)


def spacings(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the widths between neighbours, borders 0 and 1 included; they sum to 1.

    Parameters
    ----------
    z
        Sorted along the last axis and inside [0, 1], shape (..., I).

    Returns
    -------
    Shape (..., I + 1).
    """
    shape = (*z.shape[:-1], 1)
    return np.diff(np.concatenate([np.zeros(shape), z, np.ones(shape)], axis=-1), axis=-1)


def max_gap(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return G, the widest spacing of sorted z (..., I); shape (...)."""
    return np.asarray(spacings(z).max(-1))


def top_k_sum(z: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the sum of the k widest spacings of sorted z (..., I); shape (...)."""
    return np.asarray(np.sort(spacings(z), axis=-1)[..., -k:].sum(-1))


def grid_mismatch(z: NDArray[np.float64], target: Target) -> float:
    """Return the paper's same-size DDM: mean distance of sorted z (I,) to target quantiles."""
    n = len(z)
    return float(np.mean(np.abs(z - target.quantile((np.arange(n) + 0.5) / n))))
