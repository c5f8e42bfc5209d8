"""Items of simulated banks run again as planned, held against what was expected and the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchfill import DifficultyScale, ResponseMatrix, find_gaps, fit_1pl
from benchfill.gaps import covering_widths
from benchfill.plan.outlook import MAX_P_HOLE, MIN_P_HOLE
from benchfill.plan.reruns import MOST_GAPS, is_undecided, plan_reruns
from support.banks import make_bank
from support.planned_banks import BANKS, SIZES
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchfill import Fit1PL, Gap


@dataclass(frozen=True)
class Spent:
    """Gaps that rollouts decided, and of those how many truly are as they were called."""

    decided: int
    truly: int


@dataclass(frozen=True)
class Rerun:
    """One bank: what the plan expected, and what three ways to spend the same budget decided.

    ``even`` spreads the rollouts over the items and models that the gaps' `decide` names, ``all``
    over all cells.
    """

    gaps: int
    expected: float
    plan: Spent
    even: Spent
    all: Spent


@dataclass(frozen=True)
class _World:
    """The truth, what was answered so far, and the source of further answers."""

    theta: NDArray[np.float64]
    b: NDArray[np.float64]
    fit: Fit1PL
    rng: np.random.Generator


def rerun_bank(bank: int, k: int, budget: int, models: int = 12) -> Rerun | None:
    """Draw a bank, plan, run again, refit, and judge; None if nothing is undecided."""
    rng = np.random.default_rng([2028, k, budget, bank])
    b = make_bank(BANKS[bank % 3], SIZES[bank % 2], rng).b
    theta = abilities(rng, models)
    fit = fit_1pl(respond(rng, theta, b, k), engine="map", seed=bank)
    gaps = [gap for gap in find_gaps(fit) if is_undecided(gap)][:MOST_GAPS]
    if not gaps:
        return None
    plan = plan_reruns(fit, budget, bank)
    data, world = fit.responses, _World(theta, b, fit, rng)
    planned, named = np.zeros(data.n.shape, int), np.zeros(data.n.shape, bool)
    for one in plan.reruns:
        planned[data.models.index(one.model), data.items.index(one.item)] = one.rollouts
    for gap in gaps:
        if gap.decide is not None:
            rows = [data.models.index(name) for name in gap.decide.models]
            named[np.ix_(rows, [data.items.index(name) for name in gap.decide.items])] = True
    return Rerun(
        len(gaps),
        plan.expected_decided,
        _spend(world, gaps, planned),
        _spend(world, gaps, _even(named, budget)),
        _spend(world, gaps, _even(np.ones_like(named), budget)),
    )


def _even(cells: NDArray[np.bool_], budget: int) -> NDArray[np.int64]:
    """Spread the budget over cells, the first ones getting what is left over."""
    given = np.zeros(cells.shape, dtype=np.int64)
    count = np.count_nonzero(cells)
    given[cells] = budget // count + (np.arange(count) < budget % count)
    return given


def _spend(world: _World, gaps: Sequence[Gap], more: NDArray[np.int64]) -> Spent:
    before = world.fit.responses
    answers = respond(world.rng, world.theta, world.b, more).correct
    data = ResponseMatrix(before.models, before.items, before.correct + answers, before.n + more)
    drawn = fit_1pl(data, engine="map").draws.b
    scale = DifficultyScale.of(world.fit.b)
    middles = np.array([gap.midpoint for gap in gaps])
    truth = covering_widths(scale.to_z(world.b)[None], middles)[0]
    decided = truly = 0
    for gap, widths, true in zip(gaps, covering_widths(scale.to_z(drawn), middles).T, truth,
                                 strict=True):  # fmt: skip
        p_hole = float(np.mean(widths >= gap.width / 2))
        borders = [data.items.index(name) for name in (gap.left_item, gap.right_item)]
        empty = p_hole >= MIN_P_HOLE and not data.extreme_items[borders].any()
        occupied = p_hole <= MAX_P_HOLE
        decided += empty or occupied
        truly += (empty and true >= gap.width / 2) or (occupied and true < gap.width / 2)
    return Spent(decided, truly)
