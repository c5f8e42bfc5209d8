"""A fill in a world whose truth is known, over real HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.fill import Fill, FillOptions
from benchfill_agents.steps import InMemorySteps
from support.arithmetic_world import answer, difficulty
from support.fill_world import World

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_agents.fill_report import FillReport
    from support.scripted_server import ScriptedServer


@pytest.fixture
def world(scripted_server: ScriptedServer, tmp_path: Path) -> World:
    scripted_server.script(answer)
    return World(tmp_path, scripted_server.url)


async def fill(world: World, options: FillOptions, **parts: Any) -> FillReport:
    async with world.parts(**parts) as made:
        return await Fill(made, options).run(world.targets())


async def test_the_chosen_child_is_truly_in_the_gap(world: World) -> None:
    report = await fill(world, FillOptions())
    (result,) = report.fills
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


async def test_all_measured_children_go_back_to_memory(world: World) -> None:
    async with world.parts() as parts:
        report = await Fill(parts, FillOptions()).run(world.targets())
        kept = {entry.item.id for entry in await parts.memory.entries() if entry.kind == "child"}
    assert kept == {one.item for one in report.fills[0].calibrations}
    assert len(kept) > 4


async def test_anchors_find_nothing_wrong_with_the_pool_that_made_the_responses(
    world: World,
) -> None:
    report = await fill(world, FillOptions())
    assert report.anchors.used
    assert len(report.anchors.items) == 8
    assert report.anchors.drifted == ()


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
    report = await fill(world, FillOptions(budget_rollouts=400), steps=steps)
    assert report.fills[0].status == "budget_exhausted"
    assert report.rollouts_total <= 400
    assert sum(scripted_server.counts().values()) <= 400
    again = await fill(world, FillOptions(budget_rollouts=5000), steps=steps)
    assert again.fills[0].status == "filled"
    counts = scripted_server.counts()
    assert max(counts.values()) == 1


async def test_fixed_calibration_gives_every_model_the_same_rollouts(world: World) -> None:
    report = await fill(world, FillOptions(rounds=2, plan=CalibrationPlan(mode="fixed")))
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
    steps = CrashingSteps()
    whole = await fill(world, FillOptions(), steps=steps)
    told = [message["text"] for message in world.transcript.messages]
    total = len(await steps.keys())
    bought = sum(scripted_server.counts().values())
    assert total >= 5
    for crash_at in range(1, total + 1):
        world.transcript.messages.clear()
        world.transcript.keys.clear()
        resumed = CrashingSteps()
        resumed.left = crash_at
        with pytest.raises(Crash):
            await fill(world, FillOptions(), steps=resumed)
        again = await fill(world, FillOptions(), steps=resumed)
        assert again.fills == whole.fills
        assert again.rollouts_total == whole.rollouts_total
        assert [message["text"] for message in world.transcript.messages] == told
    # whatever was asked again came from the ledger
    assert sum(scripted_server.counts().values()) == bought


async def test_an_interrupt_ends_with_what_there_is_and_resumes(world: World) -> None:
    steps = InMemorySteps()
    task = asyncio.ensure_future(fill(world, FillOptions(), steps=steps))
    while "gap-1/round-1/validate-0" not in await steps.keys():
        await asyncio.sleep(0.01)
    task.cancel()
    report = await task
    assert report.fills[0].status == "interrupted"
    again = await fill(world, FillOptions(), steps=steps)
    assert again.fills[0].status == "filled"
