"""A fill in a world whose truth is known, over real HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.calibrator.design import Design
from benchfill_agents.fill import Fill, FillOptions
from benchfill_agents.spending import Allowance, Counted
from benchfill_agents.steps import InMemorySteps
from support.arithmetic_world import answer, difficulty
from support.fill_world import World
from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

    from benchfill_agents.fill_report import FillReport


# a small fill: what is tested with it does not hang on how well children are measured
SMALL = FillOptions(plan=CalibrationPlan(design=Design(first=6, batch=12)), anchors=False)


@pytest.fixture
def world(scripted_server: ScriptedServer, tmp_path: Path) -> World:
    scripted_server.script(answer)
    return World(tmp_path, scripted_server.url)


async def fill(world: World, options: FillOptions, **parts: Any) -> FillReport:
    async with world.parts(**parts) as made:
        return await Fill(made, options).run(world.targets())


@dataclass
class Done:
    """A fill that ran to its end."""

    report: FillReport
    children: set[str]
    counts: Counter[str]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    async def run(world: World) -> tuple[FillReport, set[str]]:
        async with world.parts() as parts:
            report = await Fill(parts, FillOptions()).run(world.targets())
            entries = await parts.memory.entries()
        return report, {entry.item.id for entry in entries if entry.kind == "child"}

    with ScriptedServer(script=answer) as server:
        report, children = asyncio.run(run(World(tmp_path_factory.mktemp("world"), server.url)))
        return Done(report, children, server.counts())


def test_the_chosen_child_is_truly_in_the_gap(done: Done) -> None:
    (result,) = done.report.fills
    assert result.status == "filled"
    assert result.chosen is not None
    assert result.chosen.p_in_gap >= 0.9
    a, b = (int(part) for part in result.chosen.question.removesuffix(" =").split(" + "))
    assert result.chosen.answer == str(a + b)
    left, right = (
        difficulty(*(int(n) for n in item.split("-")[1:]))
        for item in (result.left_item or "", result.right_item or "")
    )
    assert left < difficulty(a, b) < right
    assert result.top_k_sum.oracle <= result.top_k_sum.after < result.top_k_sum.before


def test_all_measured_children_go_back_to_memory(done: Done) -> None:
    assert done.children == {one.item for one in done.report.fills[0].calibrations}
    assert len(done.children) > 4


def test_anchors_find_nothing_wrong_with_the_pool_that_made_the_responses(done: Done) -> None:
    assert done.report.anchors.used
    assert len(done.report.anchors.items) == 8
    assert done.report.anchors.drifted == ()


def test_what_is_reported_is_what_was_bought(done: Done) -> None:
    assert sum(done.counts.values()) == done.report.rollouts_total
    assert set(done.counts.values()) == {1}


async def test_a_model_that_drifted_is_named(scripted_server: ScriptedServer, world: World) -> None:
    def drifted(request: Any) -> Any:
        reply = answer(request)
        return "wrong" if request.model == "ability-2.2" else reply

    scripted_server.script(drifted)
    report = await fill(world, FillOptions())
    assert report.anchors.drifted == ("ability-2.2",)
    used = {count.model for one in report.fills[0].calibrations for count in one.counts}
    assert "ability-2.2" not in used


async def test_the_budget_is_never_exceeded_and_can_be_raised(
    scripted_server: ScriptedServer, world: World
) -> None:
    steps = InMemorySteps()
    report = await fill(world, SMALL, steps=steps, allowance=Allowance(rollouts=110))
    assert report.fills[0].status == "budget_exhausted"
    assert 0 < report.rollouts_total <= 110
    assert sum(scripted_server.counts().values()) <= 110
    again = await fill(world, SMALL, steps=steps, allowance=Allowance(rollouts=5000))
    assert again.fills[0].status == "filled"
    counts = scripted_server.counts()
    assert max(counts.values()) == 1


@pytest.mark.parametrize("bound", [{"tokens": 1}, {"usd": 0.5}])
async def test_spent_tokens_and_dollars_stop_before_the_next_batch(
    scripted_server: ScriptedServer, world: World, bound: dict[str, Any]
) -> None:
    steps, spent = InMemorySteps(), Counted(tokens=10, usd=0.6)
    report = await fill(world, SMALL, steps=steps, allowance=Allowance(**bound, spent=spent))
    assert report.fills[0].status == "budget_exhausted"
    assert not scripted_server.counts()


@pytest.mark.slow
async def test_fixed_calibration_gives_every_model_the_same_rollouts(world: World) -> None:
    plan = CalibrationPlan(mode="fixed")
    report = await fill(world, FillOptions(rounds=1, plan=plan, anchors=False))
    counted = {count.n for one in report.fills[0].calibrations for count in one.counts}
    assert counted == {8}


class Crash(Exception):  # noqa: N818
    """Stands for a SIGKILL between two steps."""


class CrashingSteps(InMemorySteps):
    """Records that end the process after so many of them."""

    left = 0

    async def put(self, key: str, result: dict[str, Any]) -> None:
        await super().put(key, result)
        self.left -= 1
        if self.left == 0:
            raise Crash


async def test_a_crash_after_any_step_changes_nothing(
    scripted_server: ScriptedServer, world: World
) -> None:
    # so high a demand after so few rollouts is not met: there is a second round
    plan = CalibrationPlan(min_p_in_gap=0.999, design=Design(first=6, batch=12, most=24))
    two_rounds = FillOptions(plan=plan, anchors=False, rounds=2)
    steps = CrashingSteps()
    whole = await fill(world, two_rounds, steps=steps)
    told = [message["text"] for message in world.transcript.messages]
    total = len(await steps.keys())
    bought = sum(scripted_server.counts().values())
    assert total >= 8
    first, second = (
        {one["item"] for one in message["content"]["calibrations"]}
        for message in world.transcript.messages
        if message["kind"] == "calibrationround"
    )
    assert first & second  # children of the first round compete again in the second
    for crash_at in range(1, total + 1):
        world.transcript.messages.clear()
        world.transcript.keys.clear()
        resumed = CrashingSteps()
        resumed.left = crash_at
        with pytest.raises(Crash):
            await fill(world, two_rounds, steps=resumed)
        again = await fill(world, two_rounds, steps=resumed)
        assert again.fills == whole.fills
        assert again.rollouts_total == whole.rollouts_total
        assert [message["text"] for message in world.transcript.messages] == told
    # whatever was asked again came from the ledger
    assert sum(scripted_server.counts().values()) == bought


class AnnouncedSteps(InMemorySteps):
    """Records that say when the first children are about to be measured."""

    def __init__(self) -> None:
        super().__init__()
        self.validated = asyncio.Event()

    async def put(self, key: str, result: dict[str, Any]) -> None:
        await super().put(key, result)
        if "validate" in key:
            self.validated.set()


async def test_an_interrupt_ends_with_what_there_is_and_resumes(
    scripted_server: ScriptedServer, world: World
) -> None:
    steps = AnnouncedSteps()
    task = asyncio.ensure_future(fill(world, SMALL, steps=steps))
    await steps.validated.wait()
    task.cancel()
    report = await task
    # nothing is bought after an interrupt but what was out: four calls of each of twelve models
    assert sum(scripted_server.counts().values()) <= 48
    assert report.fills[0].status == "interrupted"
    again = await fill(world, SMALL, steps=steps)
    assert again.fills[0].status == "filled"


async def test_without_a_gap_nothing_is_bought(
    scripted_server: ScriptedServer, world: World
) -> None:
    async with world.parts() as parts:
        report = await Fill(parts, FillOptions()).run(())
    assert report.fills == ()
    assert report.rollouts_total == 0
    assert not scripted_server.counts()
