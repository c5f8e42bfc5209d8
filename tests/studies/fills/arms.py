"""Ways to fill: ours, the paper's fixed design, the budget-matched baseline, and the oracle."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from benchfill.child import child_mle
from benchfill_agents.anchors import check_anchors
from benchfill_agents.borders import BorderSurvey, Ground
from benchfill_agents.calibrator import CalibrationPlan, Calibrator, Foretold, RewriterHabits, race
from benchfill_agents.calibrator.telling import Telling, telling
from benchfill_agents.memory import InMemoryMemory, MemoryEntry
from benchfill_agents.retriever import Retriever
from benchfill_agents.spending import Allowance

from .people import Habits, Pool, Rewriter
from .world import fitted_bench

if TYPE_CHECKING:
    from benchfill.items import Item
    from benchfill_agents.calibrator import Bench, Calibration
    from benchfill_agents.target import FillTarget

    from .world import World

PER_PARENT = 4
ROUNDS = 8


@dataclass(frozen=True)
class Filled:
    """What came of one gap. `truth` is the true difficulty of the chosen child, logits."""

    target: FillTarget
    truth: float | None
    p_in_gap: float | None = None
    interval: tuple[float, float] | None = None
    rollouts: int = 0
    cost: float = 0.0
    children: int = 0
    rounds: int = 0
    resolvable: bool = True
    flagged: bool = False
    """Whether the check of the anchors named a model."""
    calibrations: tuple[tuple[float, float, float, float], ...] = field(default=(), repr=False)
    """Of every measured child: p_in_gap, q05, q95 and the true z on the fitted scale."""


@dataclass(frozen=True)
class Way:
    """How a fill is done; the defaults are ours."""

    plan: CalibrationPlan = field(default_factory=CalibrationPlan)
    per_parent: int = PER_PARENT
    anchors: bool = False
    """Whether the pool is checked against the fit before, as a fill does; rollouts apart."""
    again: bool = True
    """Whether undecided children of earlier rounds compete again."""
    borders: bool = True
    """Whether border items that are too vague are asked again."""
    by_price: bool = True
    """Whether models are chosen by what they tell for their price."""
    apart: bool = False
    """Whether each gap of a benchmark is a run of its own."""
    trusting: bool = False
    """Whether scatter beyond 1PL is overlooked."""
    in_turn: bool = False
    """Whether all models are asked equally often, in place of those that tell most."""
    any_parents: bool = False
    """Whether parents are drawn at random, in place of those that the Retriever picks."""


OURS = Way()
PAPER = {k: Way(CalibrationPlan("fixed", fixed_rollouts=k)) for k in (1, 2, 4, 8, 16, 64)}


def _in_turn(*known: Any) -> Telling:
    """Take every model to tell the same."""
    found = telling(*known)
    return replace(found, information=np.full(found.information.shape, found.information.mean()))


async def ours(
    world: World, habits: Habits, rng: np.random.Generator, way: Way = OURS
) -> list[Filled]:
    """The real Retriever, memory and Calibrator, by default in our way."""
    rewriter = Rewriter(world, habits, rng)
    pool = Pool(world, rewriter, rng)
    memory = InMemoryMemory()
    await memory.add(*world.entries)
    ground, flagged = Ground(world.fit, world.bench, fitted_bench), False  # type: ignore[arg-type]
    if way.anchors:
        items = [entry.item for entry in world.entries]
        report = await check_anchors(ground.bench, items, pool, Allowance(), 0)  # type: ignore[arg-type]
        ground, flagged = (
            ground.checked(report, (int(rng.integers(1 << 31)),)),
            bool(report.drifted),
        )
    if not way.by_price:
        ground = replace(ground, bench=replace(ground.bench, known_prices=None))
    if way.trusting:
        ground = replace(ground, bench=replace(ground.bench, misfit=0.0))
    learned = RewriterHabits()
    filled = []
    for wanted in world.targets:
        target, spent, paid = wanted, pool.rollouts, pool.cost
        if way.apart:
            learned, memory = RewriterHabits(), InMemoryMemory()
            await memory.add(*world.entries)
        if way.borders and way.plan.mode == "sequential" and world.fit is not None:
            ground, target = await _surveyed(world, pool, ground, wanted, way)
        asked = pool.rollouts - spent
        calibrator = Calibrator(ground.bench, pool, Allowance(), way.plan, learned)  # type: ignore[arg-type]
        in_turn = patch.object(race, "telling", _in_turn) if way.in_turn else nullcontext()
        with in_turn:
            one = await _one(world, rewriter, pool, memory, calibrator, target, way)
        more = {"rollouts": one.rollouts + asked, "cost": pool.cost - paid}
        filled.append(replace(one, flagged=flagged, **more))
    return filled


async def _surveyed(
    world: World, pool: Pool, ground: Ground, target: FillTarget, way: Way
) -> tuple[Ground, FillTarget]:
    """Ask about the borders again, as a fill does."""

    def calibrator(bench: Bench) -> Calibrator:
        return Calibrator(bench, pool, Allowance(), way.plan)  # type: ignore[arg-type]

    items = {entry.item.id: entry.item for entry in world.entries}
    report = await BorderSurvey(ground, target, items, calibrator, 0).run()
    if not report.borders:
        return ground, target
    ground = ground.with_answers(report.answers)
    return ground, ground.moved(target)


async def _one(  # noqa: PLR0917 - the parts of a fill
    world: World,
    rewriter: Rewriter,
    pool: Pool,
    memory: InMemoryMemory,
    calibrator: Calibrator,
    target: FillTarget,
    way: Way,
) -> Filled:
    spent, wrote = pool.rollouts, rewriter.written
    sequential = calibrator.plan.mode == "sequential"
    if sequential and calibrator.best_p_in_gap(target) < calibrator.plan.min_p_in_gap:
        return Filled(target, None, resolvable=False)
    retriever, aim = Retriever(memory), float(world.bench.scale.to_b(target.z))
    measured: dict[str, Calibration] = {}
    at: dict[str, float] = {}
    items: dict[str, Item] = {}
    for number in range(1, ROUNDS + 1):
        retrieval = await retriever.retrieve(target, number)
        parents = retrieval.parents
        if way.any_parents:
            drawn = rewriter.rng.choice(len(world.entries), len(parents), replace=False)
            parents = tuple(world.entries[k] for k in drawn)
        children = [
            child
            for parent in parents
            for child in rewriter.write(parent.item.id, aim, way.per_parent)
        ]
        at |= {entry.item.id: entry.z for entry in parents}
        again = calibrator.open(measured.values()) if way.again else []
        items |= {child.id: child for child in children}
        competing = [*children, *(items[one.item] for one in again)]
        results = await calibrator.calibrate(
            competing,
            target,
            Foretold({child.id: at[rewriter.parent[child.id]] for child in competing}, {}, again),
            last_round=number == ROUNDS,
        )
        measured |= {one.item: one for one in results}
        await memory.add(
            *(
                MemoryEntry(
                    item=items[one.item],
                    z=one.z_mean,
                    sd=one.sd,
                    kind="child",
                    parent=one.item.partition("~")[0],
                )
                for one in results
            )
        )
        chosen = calibrator.choose(list(measured.values()), target, last_round=number == ROUNDS)
        if chosen is not None:
            break
    kept = measured[chosen] if chosen is not None else None
    scale = world.bench.scale
    return Filled(
        target,
        truth=rewriter.truth[kept.item] if kept else None,
        p_in_gap=kept.p_in_gap if kept else None,
        interval=(kept.q05, kept.q95) if kept else None,
        rollouts=pool.rollouts - spent,
        children=rewriter.written - wrote,
        rounds=number,
        calibrations=tuple(
            (one.p_in_gap, one.q05, one.q95, float(scale.to_z(rewriter.truth[one.item])))
            for one in measured.values()
            if one.item not in rewriter.wrong
        ),
    )


BASELINE_ROLLOUTS = 8


async def baseline(
    world: World, habits: Habits, rng: np.random.Generator, budgets: list[int]
) -> list[Filled]:
    """Uniform parents, no references, no memory: the best of as many children as ours paid for."""
    rewriter = Rewriter(world, habits, rng)
    pool = Pool(world, rewriter, rng)
    models = len(world.bench.models)
    filled = []
    for target, budget in zip(world.targets, budgets, strict=True):
        aim, wrote = float(world.bench.scale.to_b(target.z)), rewriter.written
        children = []
        while len(children) < max(1, budget // (models * BASELINE_ROLLOUTS)):
            parent = str(rng.choice(world.bench.items))
            # without references it sees no scale: half the way is all that it finds
            children += rewriter.write(parent, aim, 1, reach=habits.reach / 2)
        rates = np.stack([pool._rate(child.id) for child in children])
        correct = rng.binomial(BASELINE_ROLLOUTS, rates)
        estimates = child_mle(
            correct, np.full(correct.shape, BASELINE_ROLLOUTS), world.bench.theta
        ).b
        away = np.where(np.isnan(estimates), np.inf, np.abs(estimates - aim))
        best = children[int(np.argmin(away))].id
        filled.append(
            Filled(
                target,
                truth=rewriter.truth[best],
                rollouts=correct.size * BASELINE_ROLLOUTS,
                cost=float("nan"),  # not kept
                children=rewriter.written - wrote,
                rounds=1,
            )
        )
    return filled
