"""What a benchmark covers before and after new items, over posterior draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..diagnosis import TOP_K
from ..gaps import covering_widths
from ..measure import max_gap, own_scale, top_k_sum
from .result import Coverage, Expected, Profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ..targets import Target

_CHUNK = 1 << 21  # floats of scratch memory
PROFILE_POINTS = 201
PROFILE_DRAWS = 100
FIGURES = ("max_gap", "ddm", "top_k_sum")


def coverage_draws(
    z: NDArray[np.float64], landed: NDArray[np.float64], target: Target
) -> NDArray[np.float64]:
    """Return G, DDM and the sum of the five widest spacings in each draw, shape (S, 3).

    Parameters
    ----------
    z
        Difficulties of the items in each draw, shape (S, I), in any order.
    landed
        Where new items lie in each draw, on the same scale, shape (S, T).
    target
        Distribution that the difficulties should have.
    """
    figures = []
    for some in chunks(len(z), z.shape[1] + landed.shape[1]):
        own = own_scale(np.concatenate([z[some], landed[some]], axis=1))
        figures.append(
            np.stack([max_gap(own), target.wasserstein(own), top_k_sum(own, TOP_K)], axis=1)
        )
    return np.concatenate(figures)


def coverage_of(figures: NDArray[np.float64]) -> Coverage:
    """Summarise the figures of draws, shape (S, 3)."""
    return Coverage(**{name: expected(figures[:, k]) for k, name in enumerate(FIGURES)})


def expected(values: NDArray[np.float64]) -> Expected:
    """Summarise one figure of draws, shape (S,)."""
    q05, q95 = np.quantile(values, [0.05, 0.95])
    return Expected(mean=float(values.mean()), q05=float(q05), q95=float(q95))


def spacing_profile(z: NDArray[np.float64], landed: NDArray[np.float64]) -> Profile:
    """Return the mean width of the spacing around places from 0 to 1, before and after."""
    places = np.linspace(0, 1, PROFILE_POINTS)
    some = slice(0, PROFILE_DRAWS)
    after = np.concatenate([z[some], landed[some]], axis=1)
    return Profile(
        z=tuple(places.tolist()),
        before=_known(mean_widths(z[some], places)),
        after=_known(mean_widths(after, places)),
    )


def mean_widths(z: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean width of the spacing around each place, shape (T,).

    Over the draws in which items lie on both sides; NaN where there is none.
    """
    widths = [covering_widths(z[some], places) for some in chunks(*z.shape)]
    return _mean(np.concatenate(widths))


def mean_reach(z: NDArray[np.float64], landed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean distance between the two neighbours of each new item, shape (T,).

    Neighbours are items and other new items; NaN where no draw has one on both sides.
    """
    reach = np.empty(landed.shape)
    for s, (draw, new) in enumerate(zip(z, landed, strict=True)):
        whole = np.concatenate([[-np.inf], draw, new, [np.inf]])
        order = np.argsort(whole, kind="stable")
        rank = np.empty(len(whole), dtype=np.intp)
        rank[order] = np.arange(len(whole))
        own = rank[1 + len(draw) : -1]
        reach[s] = whole[order[own + 1]] - whole[order[own - 1]]
    return _mean(reach)


def _mean(widths: NDArray[np.float64]) -> NDArray[np.float64]:
    closed = np.isfinite(widths)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(closed, widths, 0).sum(0) / closed.sum(0))


def _known(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(value if np.isfinite(value) else None for value in values.tolist())


def chunks(draws: int, items: int) -> Iterator[slice]:
    """Return slices of draws small enough for their items to be copied."""
    size = max(1, _CHUNK // items)
    return (slice(start, start + size) for start in range(0, draws, size))
