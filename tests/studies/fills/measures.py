"""What a fill achieved, held against the truth; summaries with bootstrap intervals over seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchfill.measure import top_k_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .arms import Filled
    from .world import World

TOP = 3


@dataclass(frozen=True)
class Seed:
    """One seed of one arm: sums and lists over its gaps."""

    gaps: int
    accepted: int
    inside: int
    deviations: tuple[float, ...]
    stated: tuple[tuple[float, bool], ...]
    """p_in_gap of the accepted children, and whether they truly lie inside."""
    covered: tuple[bool, ...]
    """Whether the 90% interval of each measured child holds its truth."""
    rollouts: int
    cost: float
    children: int
    rounds: int
    reduction: float
    """Of the true sum of the three widest gaps."""
    oracle: float
    """The same by exact midpoints of the true three widest gaps."""
    flagged: bool = False
    all_stated: tuple[tuple[float, bool], ...] = field(default=(), repr=False)


def measure(world: World, filled: Sequence[Filled]) -> Seed:
    """Hold an arm's fills of one world against the truth."""
    width = world.scale.width
    inside, deviations, stated, covered, all_stated = 0, [], [], [], []
    for one in filled:
        low, high = world.true_gap(one.target)
        fitted = world.bench.scale.to_z(np.array([low, high]))
        for p, q05, q95, z in one.calibrations:
            covered.append(bool(q05 <= z <= q95))
            all_stated.append((p, bool(fitted[0] < z < fitted[1])))
        if one.truth is None:
            continue
        truly = low < one.truth < high
        inside += truly
        deviations.append(abs(one.truth - (low + high) / 2) / width)
        if one.p_in_gap is not None:
            stated.append((one.p_in_gap, truly))
    inserted = [one.truth for one in filled if one.truth is not None]
    before = _top(world, [])
    return Seed(
        gaps=len(filled),
        accepted=len(inserted),
        inside=inside,
        deviations=tuple(deviations),
        stated=tuple(stated),
        covered=tuple(covered),
        rollouts=sum(one.rollouts for one in filled),
        cost=sum(one.cost for one in filled),
        children=sum(one.children for one in filled),
        rounds=sum(one.rounds for one in filled),
        reduction=before - _top(world, inserted),
        oracle=before - _top(world, _best(world, filled)),
        flagged=any(one.flagged for one in filled),
        all_stated=tuple(all_stated),
    )


def _top(world: World, inserted: Sequence[float]) -> float:
    z = np.sort(np.clip(world.scale.to_z(np.concatenate([world.b, inserted])), 0, 1))
    return float(top_k_sum(z, TOP))


def _midpoints(world: World, count: int) -> list[float]:
    b = np.sort(world.b)
    widest = np.argsort(-np.diff(b), kind="stable")[:count]
    return [float((b[g] + b[g + 1]) / 2) for g in widest]


def _best(world: World, filled: Sequence[Filled]) -> list[float]:
    """Return what an oracle inserts: exact midpoints, or the held-out items nearest to them."""
    if world.held_out is None:
        return _midpoints(world, len(filled))
    middles = [sum(world.true_gap(one.target)) / 2 for one in filled]
    b = world.held_out.b
    return [float(b[np.argmin(np.abs(b - middle))]) for middle in middles]


@dataclass(frozen=True)
class Figure:
    """A mean over seeds with its 95% bootstrap interval."""

    value: float
    low: float
    high: float


COLUMNS: dict[str, Callable[[Sequence[Seed]], float]] = {
    "accepted": lambda s: _share(sum(one.accepted for one in s), sum(one.gaps for one in s)),
    "truly in gap": lambda s: _share(sum(one.inside for one in s), sum(one.accepted for one in s)),
    "deviation": lambda s: _mean([d for one in s for d in one.deviations]),
    "stated": lambda s: _mean([p for one in s for p, _ in one.stated]),
    "coverage": lambda s: _mean([float(c) for one in s for c in one.covered]),
    "rollouts": lambda s: _share(sum(one.rollouts for one in s), sum(one.gaps for one in s)),
    "cost": lambda s: _share(sum(one.cost for one in s), sum(one.gaps for one in s)),
    "children": lambda s: _share(sum(one.children for one in s), sum(one.gaps for one in s)),
    "rounds": lambda s: _share(sum(one.rounds for one in s), sum(one.gaps for one in s)),
    "flagged": lambda s: _mean([float(one.flagged) for one in s]),
    "of oracle": lambda s: _share(sum(one.reduction for one in s), sum(one.oracle for one in s)),
}


def summarise(seeds: Sequence[Seed], draws: int = 300) -> dict[str, Figure]:
    """Return every column's figure; whole seeds are drawn again."""
    rng = np.random.default_rng(0)
    again = [rng.integers(len(seeds), size=len(seeds)) for _ in range(draws)]
    figures = {}
    for name, column in COLUMNS.items():
        drawn = [column([seeds[i] for i in index]) for index in again]
        low, high = (
            np.nanpercentile(drawn, [2.5, 97.5]) if not np.isnan(drawn).all() else (np.nan,) * 2
        )
        figures[name] = Figure(column(seeds), float(low), float(high))
    return figures


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
