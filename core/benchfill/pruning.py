"""A smaller benchmark whose difficulties follow a target.

docs/method, section 4; paper arXiv 2610.29927, section D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from .diagnosis import Estimate
from .errors import InputError
from .fitted import FittedResult, fit_facts
from .measure import DifficultyScale, grid_mismatch
from .quantile_matching import (
    TRIALS,
    greedy_items,
    optimal_items,
    random_items,
    target_quantiles,
)
from .reference import Spread
from .targets import Target, Uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .onepl import Fit1PL

PruningMethod = Literal["greedy", "optimal"]
CURVE_SIZES = 20
_CHOOSE = {"greedy": greedy_items, "optimal": optimal_items}
_FLOATS = 1 << 21  # of one block of draws


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeptItem(_Frozen):
    """An item that stays, on the frozen scale of the whole benchmark."""

    item: str
    z: float
    quantile: float = Field(description="the quantile of the target that it stands for")


class CurvePoint(_Frozen):
    """Plug-in W1 to the target after pruning to a size, by each way of pruning."""

    size: int
    optimal: float
    greedy: float
    random: Spread


class Pruning(FittedResult):
    """A benchmark pruned to a target (docs/method, section 4)."""

    size: int
    method: PruningMethod
    w1_before: Estimate = Field(description="W1 of all items to the target")
    w1_after: Estimate = Field(description="W1 of the kept items to the target")
    p_closer: float = Field(
        description="share of posterior draws in which the kept items are nearer to the target"
    )
    distance_before: float = Field(
        description="mean distance of all items to as many quantiles of the target, plug-in"
    )
    distance_after: float = Field(
        description="the same of the kept items: what the optimal choice makes least"
    )
    trials: int = Field(description="random prunings to each size")
    random: Spread = Field(description="plug-in W1 after random pruning to this size")
    curve: tuple[CurvePoint, ...] = Field(description="W1 over sizes, this size among them")
    kept: tuple[KeptItem, ...] = Field(description="easiest first")


def prune(
    fit: Fit1PL,
    size: int,
    *,
    target: Target | None = None,
    method: PruningMethod = "optimal",
    seed: int = 0,
) -> Pruning:
    """Keep the items whose difficulties follow a target best.

    Parameters
    ----------
    fit
        A fit from `fit_1pl`.
    size
        Number M of items to keep, from 1 to one fewer than there are.
    target
        The wanted distribution of difficulty; uniform by default.
    method
        ``optimal`` gives each of the target's quantiles (k - 1/2)/M an item of its own so that the
        mean distance is least; ``greedy`` (the paper's) goes through the quantiles from the easiest
        on and takes the nearest item that is left.
    seed
        Seed of the random prunings, 30 of each size.

    Returns
    -------
    Pruning
        The kept items with W1 before, after, and after random pruning. Of items of equal z it is
        their order in the data that settles which ones stay.

    Raises
    ------
    FitError
        All items have one difficulty, so that there is no scale.
    InputError
        A size that is none.

    Notes
    -----
    docs/method, section 4. The kept items stay on the frozen scale of the whole benchmark: a scale
    of their own would begin and end with whatever items were kept. For the posterior of W1, too,
    each draw is scaled by the extremes of all its items, so W1 before is the diagnosis' DDM. The
    plug-in figures are those of the choice itself and flatter it, since it looked at them; the
    median does not. Where all or none solved an item its place is a guess of the model's: with many
    of those, a choice that looks near the target may lie farther from it than all items do
    (`p_closer`).

    The optimal choice never has a larger mean distance to the quantiles than the greedy one. W1 to
    a continuous target differs from that by at most the quantiles' own distance to the target, so
    in W1 the greedy choice may by chance be better in the third decimal.
    """
    data = fit.responses
    _check_size(size, len(data.items))
    wanted = target or Uniform()
    scale = DifficultyScale.of(fit.b)
    z = scale.to_z(fit.b)
    ordered = np.sort(z)
    places = target_quantiles(size, wanted)
    kept = _CHOOSE[method](z, places)
    drawn_before, drawn_after = _drawn(fit, kept, wanted)
    curve = tuple(_point(z, one, wanted, seed) for one in _sizes(len(z), size))
    return Pruning(
        **fit_facts(fit),
        size=size,
        method=method,
        w1_before=_estimate(drawn_before, float(wanted.wasserstein(ordered))),
        w1_after=_estimate(drawn_after, float(wanted.wasserstein(np.sort(z[kept])))),
        p_closer=float(np.mean(drawn_after < drawn_before)),
        distance_before=grid_mismatch(ordered, wanted),
        distance_after=grid_mismatch(np.sort(z[kept]), wanted),
        trials=TRIALS,
        random=next(point.random for point in curve if point.size == size),
        curve=curve,
        kept=tuple(
            KeptItem(item=data.items[i], z=float(z[i]), quantile=float(place))
            for i, place in zip(kept[np.argsort(z[kept], kind="stable")], places, strict=True)
        ),
    )


def _check_size(size: int, items: int) -> None:
    if size < 1:
        raise InputError(f"{size} items cannot be kept; give 1 or more.", field="--size")
    if size >= items:
        raise InputError(
            f"{size:,} of {items:,} items would prune nothing; give a smaller number.",
            field="--size",
        )


def _sizes(items: int, size: int) -> list[int]:
    """Sizes of the curve, evenly spaced by ratio."""
    spaced = np.geomspace(min(2, items - 1), items - 1, CURVE_SIZES).round().astype(int)
    return [int(one) for one in np.unique(np.append(spaced, size))]


def _point(z: NDArray[np.float64], size: int, target: Target, seed: int) -> CurvePoint:
    def w1(kept: NDArray[np.int64]) -> float:
        return float(target.wasserstein(np.sort(z[kept])))

    places = target_quantiles(size, target)
    return CurvePoint(
        size=size,
        optimal=w1(optimal_items(z, places)),
        greedy=w1(greedy_items(z, places)),
        random=Spread.of(np.array([w1(kept) for kept in random_items(len(z), size, seed)])),
    )


def _drawn(
    fit: Fit1PL, kept: NDArray[np.int64], target: Target
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return W1 of all and of the kept items in draws, each scaled by its own extremes, (S,)."""
    draws = fit.draws.b
    size = max(1, _FLOATS // draws.shape[1])
    before, after = [], []
    for start in range(0, len(draws), size):
        b = draws[start : start + size]
        low, high = b.min(1, keepdims=True), b.max(1, keepdims=True)
        z = (b - low) / (high - low)
        before.append(target.wasserstein(np.sort(z, axis=1)))
        after.append(target.wasserstein(np.sort(z[:, kept], axis=1)))
    return np.concatenate(before), np.concatenate(after)


def _estimate(drawn: NDArray[np.float64], plugin: float) -> Estimate:
    q05, value, q95 = (float(q) for q in np.quantile(drawn, [0.05, 0.5, 0.95]))
    return Estimate(value=value, q05=q05, q95=q95, plugin=plugin)
