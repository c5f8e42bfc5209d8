"""Accepted items measured on a pool: gaps that fill, cells that go on, parents for BenchFill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill_agents.calibrator import Bench, CalibrationPlan, Calibrator
from benchfill_agents.memory import InMemoryMemory
from benchfill_agents.pool.ledger import Ledger
from benchfill_agents.pool.rollouts import open_runner
from benchfill_agents.retriever import Retriever
from benchfill_agents.spending import Allowance
from benchfill_agents.textbook.aim import Aim
from support import textbook_world as world
from support.arithmetic_world import HOLE, PREFIX
from support.fill_world import World
from support.textbook_run import Durable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from support.openai_api import Reply, Request
    from support.scripted_server import ScriptedServer

IN_THE_GAP = sum(HOLE) / 2
DIFFICULTIES = {"sum of a stepped slice": 2.5, "polynomial from its coefficients": IN_THE_GAP}


class Measured:
    """The arithmetic world's benchmark, whose gap items from the textbook shall fill."""

    def __init__(self, folder: Path, server: ScriptedServer) -> None:
        self.world = World(folder, server.url)
        self.played = world.script()
        server.script(self._answer)
        self.memory = InMemoryMemory()
        self.allowance = Allowance(rollouts=4000)

    def _answer(self, request: Request) -> Reply:
        if request.model.startswith(PREFIX):
            return world.pool_answer(request, DIFFICULTIES)
        return self.played(request)

    async def aim(self) -> AsyncIterator[Aim]:
        bench = Bench.of(self.world.fit, self.world.pool)
        async with (
            Ledger(self.world.folder / "rollouts.jsonl", self.world.ledger_store) as ledger,
            open_runner(self.world.pool, ledger) as runner,
        ):
            # the same rollouts on every model: the tests hang on no sequential design
            plan = CalibrationPlan("fixed", min_p_in_gap=0.6, fixed_rollouts=24)
            calibrator = Calibrator(bench, runner, self.allowance, plan)
            yield Aim(calibrator, self.world.targets(1), self.memory)


@pytest.fixture
def measured(tmp_path: Path, scripted_server: ScriptedServer) -> Measured:
    return Measured(tmp_path, scripted_server)


CELLS = ("list-handling", "loop-tracing")
PLAN = {"cells": [{"competency": one, "bloom": "Apply", "count": 1} for one in CELLS]}


async def test_cells_go_on_until_the_gap_is_filled(
    measured: Measured, tmp_path: Path, scripted_server: ScriptedServer
) -> None:
    durable = Durable(tmp_path, scripted_server.url)
    async for aim in measured.aim():
        report = await durable.run(plan=PLAN, aim=aim)
    assert report.status == "gaps_filled"
    (gap,) = report.gaps
    filling = report.accepted[-1]
    assert gap.item == filling.item.id
    assert filling.cell.competency == "loop-tracing"
    assert filling.calibration.p_in_gap >= 0.6
    assert gap.target.z_left < filling.calibration.z < gap.target.z_right
    assert filling.calibration.guessing == pytest.approx(0.2)
    # the hard one was measured too
    first = report.accepted[0]
    assert first.calibration.p_in_gap < 0.1
    assert report.rollouts == sum(one.calibration.rollouts for one in report.accepted)


async def test_what_was_measured_is_a_parent_for_benchfill(
    measured: Measured, tmp_path: Path, scripted_server: ScriptedServer
) -> None:
    durable = Durable(tmp_path, scripted_server.url)
    async for aim in measured.aim():
        report = await durable.run(plan=PLAN, aim=aim)
    (gap,) = report.gaps
    retrieval = await Retriever(measured.memory).retrieve(gap.target, 1)
    assert gap.item in {entry.item.id for entry in retrieval.parents}


async def test_measuring_goes_on_where_it_was(
    measured: Measured, tmp_path: Path, scripted_server: ScriptedServer
) -> None:
    durable = Durable(tmp_path, scripted_server.url)
    measured.allowance.rollouts = 4
    async for aim in measured.aim():
        short = await durable.run(plan=PLAN, aim=aim)
    assert short.status == "budget_exhausted"
    assert [one.outcome for one in short.candidates] == ["accepted"]  # it stays, unmeasured
    measured.allowance = Allowance(rollouts=4000)
    async for aim in measured.aim():
        done = await durable.run(plan=PLAN, aim=aim)
    assert done.status == "gaps_filled"
    assert done.candidates[0].item == short.candidates[0].item
    assert set(scripted_server.counts().values()) == {1}
