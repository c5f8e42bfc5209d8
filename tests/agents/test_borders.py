"""Border items that are too vague for a child to be placed between them are measured again."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import expit

import benchfill as bf
from benchfill.items import Item
from benchfill.responses import ResponseMatrix
from benchfill_agents.anchors import AnchorModel, AnchorReport
from benchfill_agents.borders import BorderSurvey, Ground, recorded_ground
from benchfill_agents.calibrator import Bench, CalibrationPlan, Calibrator
from benchfill_agents.fill import Fill, FillOptions
from benchfill_agents.pool.config import Pool, PoolModel
from benchfill_agents.spending import Allowance
from benchfill_agents.steps import InMemorySteps
from benchfill_agents.target import FillTarget, targets_of
from support.arithmetic_world import answer
from support.fill_world import World

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchfill_agents.pool.rollouts import RolloutRequest
    from support.scripted_server import Reply, Request, ScriptedServer

THETA = np.linspace(-1.8, 1.8, 10)
B = np.concatenate([np.linspace(-2.4, -0.6, 12), np.linspace(0.6, 2.4, 12)])
LEFT, RIGHT = 11, 12  # the gap


@dataclass
class Answering:
    """Simulated models; of some, answers never come."""

    rng: np.random.Generator
    silent: str = ""
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    async def run(self, requests: Sequence[RolloutRequest]) -> list[Scored]:
        self.asked += [(one.model, one.item.id, one.sample) for one in requests]
        return [self._score(one) for one in requests]

    def _score(self, one: RolloutRequest) -> Scored:
        if one.model == self.silent:
            return Scored(None)
        p = expit(THETA[int(one.model[1:])] - B[int(one.item.id[1:])])
        return Scored(bool(self.rng.random() < p))


@dataclass(frozen=True)
class Scored:
    """What is looked at in a rollout."""

    correct: bool | None


def ground(k: int, seed: int) -> Ground:
    rng = np.random.default_rng(seed)
    names = tuple(f"m{j}" for j in range(len(THETA)))
    items = tuple(f"i{i:02}" for i in range(len(B)))
    counts = rng.binomial(k, expit(THETA[:, None] - B))
    matrix = ResponseMatrix(names, items, counts, np.full(counts.shape, k))
    pool = Pool(models=tuple(PoolModel(name=one, model=f"openai/{one}") for one in names))
    return Ground.of(bf.fit_1pl(matrix, engine="map", seed=seed), pool)


ITEMS = {f"i{i:02}": Item(id=f"i{i:02}", question="?", answer="1") for i in range(len(B))}


def gap(of: Ground) -> FillTarget:
    z = of.bench.scale.to_z(of.fit.b)[[LEFT, RIGHT]]
    return FillTarget(
        id="gap-1",
        z=float(z.mean()),
        z_left=float(z[0]),
        z_right=float(z[1]),
        left_item=f"i{LEFT}",
        right_item=f"i{RIGHT}",
    )


def survey(of: Ground, answering: Answering, plan: CalibrationPlan | None = None) -> BorderSurvey:
    def calibrator(bench: Bench) -> Calibrator:
        return Calibrator(bench, answering, Allowance(), plan or CalibrationPlan())  # type: ignore[arg-type]

    return BorderSurvey(of, gap(of), ITEMS, calibrator, 1000)


def room(of: Ground, target: FillTarget) -> float:
    """In which share of the gap a perfectly measured child would be accepted."""
    way = Calibrator(of.bench, None, Allowance(), CalibrationPlan())  # type: ignore[arg-type]
    return way.room(target) / (target.width * of.bench.scale.width)


async def test_vague_borders_are_measured_until_a_child_can_be_placed() -> None:
    """Over 12 benchmarks of single answers: there is room, and intervals hold the truth."""
    covered, rooms, before = [], [], []
    for seed in range(12):
        start = ground(1, seed)
        if start.fit.b[LEFT] >= start.fit.b[RIGHT]:
            continue
        report = await survey(start, Answering(np.random.default_rng(seed))).run()
        after = start.with_answers(report.answers)
        before.append(room(start, gap(start)))
        rooms.append(room(after, after.moved(gap(start))))
        for border in report.borders:
            assert border.sd < border.sd_before
            place = int(border.item[1:])
            true = float(start.bench.scale.to_z(B[place]))
            covered.append(abs(border.z - true) < 1.64 * border.sd)
    assert np.mean(np.array(before) > 0) < 0.2
    assert np.mean(np.array(rooms) > 0) > 0.8
    assert 0.75 <= np.mean(covered) <= 1


async def test_what_was_asked_is_apart_and_in_order() -> None:
    answering = Answering(np.random.default_rng(1), silent="m3")
    start = ground(1, 1)
    report = await survey(start, answering).run()
    assert len(answering.asked) == report.rollouts == len(set(answering.asked))
    assert {item for _, item, _ in answering.asked} == {f"i{LEFT}", f"i{RIGHT}"}
    assert min(sample for *_, sample in answering.asked) == 1000
    counts = {one.model: one for border in report.borders for one in border.counts}
    assert (counts["m3"].n, counts["m3"].correct) == (0, 0)
    asked = sum(one.n + one.failed for border in report.borders for one in border.counts)
    assert asked == report.rollouts
    # the answers stand in the matrix, beside the old ones
    after = start.with_answers(report.answers).fit.responses
    added = after.n.astype(int) - start.fit.responses.n
    assert added.sum() == sum(one.n for border in report.borders for one in border.counts)
    assert (added[:, [i for i in range(len(B)) if i not in {LEFT, RIGHT}]] == 0).all()


async def test_borders_that_are_certain_are_left_alone() -> None:
    answering = Answering(np.random.default_rng(1))
    report = await survey(ground(64, 1), answering).run()
    assert (report.borders, report.rollouts, answering.asked) == ((), 0, [])


async def test_the_papers_design_asks_about_no_border() -> None:
    report = await survey(
        ground(1, 1), Answering(np.random.default_rng(1)), CalibrationPlan("fixed")
    ).run()
    assert report.rollouts == 0


async def test_a_gap_that_is_not_worth_it_is_left() -> None:
    start = ground(1, 1)
    target = gap(start)
    thin = target.model_copy(update={"z_left": target.z - 0.002, "z_right": target.z + 0.002})
    answering = Answering(np.random.default_rng(1))

    def calibrator(bench: Bench) -> Calibrator:
        return Calibrator(bench, answering, Allowance(), CalibrationPlan())  # type: ignore[arg-type]

    assert (await BorderSurvey(start, thin, ITEMS, calibrator, 0).run()).rollouts == 0


async def test_a_border_without_text_and_a_drifted_model_are_not_asked() -> None:
    start = ground(1, 2)
    drifted = AnchorModel(
        model="m4", theta=0, theta_anchors=1.0, expected=1, correct=(5, 4), n=(6, 6), p_value=0.001,
        standing="re-estimated",
    )  # fmt: skip
    report = AnchorReport(used=True, items=("i03", "i20"), rollouts=12, models=(drifted,))
    checked = start.checked(report, (1,))
    answering = Answering(np.random.default_rng(2))
    found = BorderSurvey(
        checked,
        gap(checked),
        {f"i{RIGHT}": ITEMS[f"i{RIGHT}"]},
        lambda bench: Calibrator(bench, answering, Allowance(), CalibrationPlan()),  # type: ignore[arg-type]
        0,
    )
    asked = await found.run()
    assert {item for _, item, _ in answering.asked} == {f"i{RIGHT}"}
    assert "m4" not in {model for model, *_ in answering.asked}
    # the further fit sees the pool as the anchors found it
    again = checked.with_answers(asked.answers)
    assert again.bench.theta[4] == pytest.approx(checked.bench.theta[4], abs=0.4)
    assert abs(again.bench.theta[4] - again.fit.theta[4]) > 0.4


def test_borders_that_changed_places_leave_the_gap_where_it_was() -> None:
    start = ground(64, 1)
    target = gap(start)
    swapped = target.model_copy(update={"left_item": f"i{RIGHT}", "right_item": f"i{LEFT}"})
    assert start.moved(swapped) == swapped
    way = Calibrator(start.bench, None, Allowance(), CalibrationPlan())  # type: ignore[arg-type]
    assert way.best_p_in_gap(swapped) == 0


@pytest.fixture
def world(scripted_server: ScriptedServer, tmp_path: Path) -> World:
    """The arithmetic world, of whose responses only one a cell is left."""
    times: Counter[tuple[str, str]] = Counter()
    lock = threading.Lock()

    def next_answer(request: Request) -> Reply:
        """Answer by how often it was asked: seeds hang on the server's port."""
        with lock:
            times[request.model, request.prompt] += 1
            drawn = {"seed": times[request.model, request.prompt]}
        return answer(replace(request, body=request.body | drawn))

    scripted_server.script(next_answer)
    made = World(tmp_path, scripted_server.url)
    old = made.fit.responses
    kept = np.random.default_rng(3).hypergeometric(
        old.correct.astype(int), (old.n - old.correct).astype(int), 1
    )
    made.fit = bf.fit_1pl(replace(old, correct=kept, n=np.ones_like(kept)), engine="map")
    return made


def widest(world: World) -> tuple[FillTarget, ...]:
    return targets_of(bf.diagnose(world.fit), max_gaps=1, include_unresolved=True)


async def test_a_fill_of_a_benchmark_of_single_answers(
    scripted_server: ScriptedServer, world: World
) -> None:
    options, steps = FillOptions(anchors=False), InMemorySteps()
    targets = widest(world)

    async def run(most: int | None = None) -> tuple[str, int, object]:
        async with world.parts(steps=steps, allowance=Allowance(rollouts=most)) as parts:
            report = await Fill(parts, options).run(targets)
        return report.fills[0].status, report.rollouts_total, report.fills[0].borders

    # a budget that ends in the middle of the borders: what was bought is not bought again
    status, used, _ = await run(70)
    assert (status, used <= 70) == ("budget_exhausted", True)
    first = await run()
    assert first[2].rollouts > 0  # type: ignore[attr-defined]
    bought = scripted_server.counts()
    assert set(bought.values()) == {1}
    assert sum(bought.values()) == first[1]
    # all of it from the record
    assert await run() == first
    assert scripted_server.counts() == bought
    told = await recorded_ground(
        Ground.of(world.fit, world.pool), steps, (0, 0), until=targets[0].id
    )
    assert told.fit.responses.n.sum() == world.fit.responses.n.sum() + first[2].rollouts  # type: ignore[attr-defined]
