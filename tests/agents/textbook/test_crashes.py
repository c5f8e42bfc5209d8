"""A generation that dies in any of its stages goes on, buys nothing twice and ends the same.

Every recorded step of a whole job is tried: the proposed taxonomy, the chapters, each turn on an
item, its measurement, its outcome. What is bought is counted by the provider.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_agents.calibrator import Bench, CalibrationPlan, Calibrator
from benchfill_agents.memory import InMemoryMemory
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import open_runner
from benchfill_agents.spending import Allowance
from benchfill_agents.steps import InMemorySteps
from benchfill_agents.textbook.aim import Aim
from benchfill_agents.textbook.calls import LANDING
from support import textbook_world as world
from support.arithmetic_world import PREFIX
from support.fill_world import KeptTranscript, World
from support.scripted_server import ScriptedServer
from support.textbook_run import Durable, chapter
from support.textbook_stages import STAGES, answering, script, stage_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchfill_agents.pool.config import Pool
    from benchfill_agents.target import FillTarget
    from support.openai_api import Reply, Request
    from support.scripted_server import Record

PLAN = {"cells": [{"competency": "loop-tracing", "bloom": "Apply", "count": 1}]}
CHAPTERS = tuple(chapter(one) for _, one in world.COMPETENCIES.values())


class Crash(Exception):  # noqa: N818
    """Stands for a SIGKILL between two steps."""


class CrashingSteps(InMemorySteps):
    """Records that end the process at a step, before it is on record or after."""

    at: str | None = None
    before = False

    async def put(self, key: str, result: dict[str, Any]) -> None:
        dies = key == self.at
        if not (dies and self.before):
            await super().put(key, result)
        if dies:
            self.at = None
            raise Crash


@dataclass(frozen=True, eq=False)
class Gap:
    """The gap of a fitted benchmark, and the models that measure."""

    url: str
    pool: Pool
    bench: Bench
    targets: tuple[FillTarget, ...]


@dataclass(eq=False)
class Job:
    """A whole job: taxonomy proposed, items written, each measured for a gap."""

    gap: Gap
    durable: Durable
    steps: CrashingSteps

    async def run(self) -> dict[str, Any]:
        """Run as a new process does: spool, steps and transcript are left of the last one."""
        proposed = await self.durable.proposal(CHAPTERS)
        spool = self.durable.folder / "rollouts.jsonl"
        async with (
            Ledger(spool, InMemoryLedgerStore()) as ledger,
            open_runner(self.gap.pool, ledger) as runner,
        ):
            # whatever is measured fills the gap, so that the job ends with its first item
            plan = CalibrationPlan("fixed", min_p_in_gap=1e-9, fixed_rollouts=2)
            calibrator = Calibrator(self.gap.bench, runner, Allowance(rollouts=400), plan)
            aim = Aim(calibrator, self.gap.targets, InMemoryMemory())
            report = await self.durable.run(plan=PLAN, chapters=CHAPTERS, aim=aim, tries=1)
        if report.status == "interrupted":
            raise Crash
        assert report.status == "gaps_filled"
        told = self.durable.transcript.messages
        return {
            "taxonomy": _timeless(proposed.model_dump()),
            "report": _timeless(report.model_dump()),
            "told": _timeless(told),
        }


def _timeless(found: Any) -> Any:
    if isinstance(found, dict):
        return {k: _timeless(v) for k, v in found.items() if k not in {"at", "seconds"}}
    return [_timeless(one) for one in found] if isinstance(found, list | tuple) else found


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module")
def gap(provider: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Gap:
    """The gap that is aimed at; three models measure."""
    found = World(tmp_path_factory.mktemp("bench"), provider.url)
    pool = found.pool.model_copy(update={"models": found.pool.models[4:7]})
    return Gap(provider.url, pool, Bench.of(found.fit, pool), found.targets(1))


def job_in(folder: Path, gap: Gap) -> Job:
    folder.mkdir(exist_ok=True)
    steps = CrashingSteps()
    return Job(gap, Durable(folder, gap.url, steps, KeptTranscript()), steps)


@pytest.fixture(scope="module")
def whole(
    provider: ScriptedServer, gap: Gap, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What the job comes to when nothing goes wrong, and what it asks."""
    provider.script(answering(script()))
    start = len(provider.records)
    job = job_in(tmp_path_factory.mktemp("whole"), gap)
    found = asyncio.run(job.run())
    kinds = {kind_of(key) for key in asyncio.run(job.steps.keys())}
    return found | {"asked": asked(provider.records[start:]), "kinds": kinds}


def asked(records: list[Record]) -> Counter[str]:
    """What was answered, by request."""
    return Counter(one.key for one in records if one.sent and one.status == 200)


def test_all_kinds_of_steps_are_tried(whole: dict[str, Any]) -> None:
    assert {kind_of(key) for key in STAGES.values()} == whole["kinds"]


def kind_of(step: str) -> str:
    return re.sub(r"^item-\d+/|/.*|-\d+$", "", step)


async def interrupted(job: Job, stage: str, provider: ScriptedServer, played: world.World) -> None:
    """Run the job and interrupt it while the first call of a stage is out."""
    loop, answer, done = asyncio.get_running_loop(), answering(played), []

    def interrupting(request: Request) -> Reply:
        if stage_of(request) != stage or task.done():
            return answer(request)
        if not done:
            done.append(True)
            loop.call_soon_threadsafe(task.cancel)
        return replace(answer(request), delay=0.2)

    provider.script(interrupting)
    task = asyncio.ensure_future(job.run())
    with suppress(asyncio.CancelledError, Crash):
        await task
    assert done, "the stage was never reached"
    provider.script(answer)


@pytest.mark.parametrize("stage", STAGES)
async def test_a_crash_in_each_stage_buys_nothing_twice(
    stage: str, tmp_path: Path, provider: ScriptedServer, gap: Gap, whole: dict[str, Any]
) -> None:
    """One job dies three times: while a call is out, before the record of its step, and after."""
    played = script()
    job, start = job_in(tmp_path / "job", gap), len(provider.records)
    if stage != "outcome":  # no model is asked for it
        await interrupted(job, stage, provider, played)
    provider.script(answering(played))
    for before in (True, False):
        job.steps.at, job.steps.before = STAGES[stage], before
        with pytest.raises(Crash):
            await job.run()
    found = await job.run()
    assert found == {key: whole[key] for key in found}
    records = provider.records[start:]
    assert set(asked(records).values()) == {1}
    assert len(asked(records)) == len(whole["asked"])
    # of the three writers nothing is even asked twice: what was out had a moment to arrive
    written = Counter(one.key for one in records if not one.model.startswith(PREFIX))
    assert set(written.values()) == {1}
    # and who runs it once more asks for nothing
    assert await job.run() == found
    assert len(provider.records) == start + len(records)


async def test_an_interrupt_waits_for_no_reply_that_is_far_off(
    tmp_path: Path, scripted_server: ScriptedServer
) -> None:
    """The call is dropped, told as lost, and made again."""
    played, done = script(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(request: Request) -> Reply:
        if world.stage_of(request) != "question" or done.is_set():
            return played(request)
        loop.call_soon_threadsafe(done.set)
        return replace(played(request), delay=3 * LANDING)

    scripted_server.script(answer)
    durable = Durable(tmp_path, scripted_server.url)
    task = asyncio.ensure_future(durable.run(plan=PLAN))
    await done.wait()
    task.cancel()
    report = await task
    assert report.status == "interrupted"
    assert not [
        one for one in scripted_server.records if world.stage_of(request_of(one)) == "question"
    ]
    async with Ledger(tmp_path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        assert len(ledger.in_flight_lost) == 1
    report = await durable.run(plan=PLAN)
    assert report.status == "complete"
    assert set(scripted_server.counts().values()) == {1}


def request_of(record: Record) -> Any:
    return type("Request", (), {"body": record.body})
