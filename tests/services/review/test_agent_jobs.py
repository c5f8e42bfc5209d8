"""Asking the agents: real jobs on a real Valkey, against a provider that has good and bad days."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from benchfill_services.review.rules import NewVerdict
from benchfill_services.store import keys
from benchfill_services.store.jobs import RedisJobs
from benchfill_services.store.usage import read_usage
from support.asked_world import ADA, BOB, Office, filled, office, revised
from support.job_world import JobWorld, job_world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

CHANGE = NewVerdict("request_change", (), "Use larger numbers.")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[JobWorld, str]]:
    with job_world(tmp_path_factory.mktemp("asked")) as made:
        yield made, asyncio.run(filled(made))


@pytest.fixture
async def desk(world: tuple[JobWorld, str]) -> AsyncIterator[Office]:
    async with office(*world) as opened:
        yield opened


async def test_a_change_becomes_a_revision(desk: Office) -> None:
    playing = desk.play(revised(47, 35))
    case = await desk.case()
    await desk.desk.decide(case, ADA, CHANGE)
    job = await desk.job_of(case)
    assert desk.made.writer == "ability-2.2"
    done = await desk.work(job)
    assert (done.kind, done.status, done.error) == ("revision", "completed", None)
    assert await RedisJobs(desk.redis).result(job) == {"revision": 2}
    told = await desk.told(case)
    assert [kind for kind, _ in told] == ["request", "rewriting", "validation", "calibration"]
    assert "47 + 35 =" in told[1][1]
    assert told[2][1] == "It passes all checks."
    view = await desk.desk.look(case, BOB)
    latest = view.latest
    assert (latest.number, latest.item.question, latest.item.answer) == (2, "47 + 35 =", "82")
    assert latest.calibration is not None
    assert latest.calibration.rollouts == sum(
        one.rollouts for one in await read_usage(desk.redis, keys.usage_job(job))
    )
    used = await read_usage(desk.redis, keys.usage_day(ADA.id, done.created_at[:10]))
    assert sum(one.calls for one in used) == len(playing.asked) == 1
    made = (await desk.desk.state(case)).latest.revision
    assert (made.requested_by, made.rewriter) == (ADA.id, "llm")
    assert {"revise", "revise_task", "solve_chat"} <= made.prompts.keys()
    assert (await desk.desk.look(case, BOB)).may_decide
    assert not (await desk.desk.look(case, ADA)).may_decide
