"""A revision passes the checks that its fill made: near-duplicates, and the fill's judge."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_agents.embeddings import NOT_INSTALLED, installed
from benchfill_services.jobs.record import FillSpec
from benchfill_services.store import keys
from benchfill_services.store.jobs import RedisJobs
from benchfill_services.store.memory import RedisMemory
from benchfill_services.store.usage import read_usage
from support.asked_world import BOB, ask_for_a_change, revised
from support.judging import solved_sum, verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from support.asked_world import Office
    from support.openai_api import Reply, Request

FAULT = "It can be read in two ways."


@asynccontextmanager
async def fill_with(office: Office, **settings: Any) -> AsyncIterator[None]:
    """Let the fill have been made with other settings."""
    place = keys.job(office.made.job)
    fill = await RedisJobs(office.redis).get(office.made.job)
    assert fill is not None
    assert isinstance(fill.spec, FillSpec)
    other = fill.spec.model_copy(update=settings)
    await office.redis.hset(place, "spec", other.model_dump_json())
    try:
        yield
    finally:
        await office.redis.hset(place, "spec", fill.spec.model_dump_json())


class JudgedWriter:
    """One model that writes and judges; its verdicts and its texts are in line."""

    def __init__(self, *written: str, verdicts: list[str]) -> None:
        self.written, self.verdicts = list(written), verdicts
        self.judged: list[str] = []

    def __call__(self, request: Request) -> Reply | str:
        rules = request.body["messages"][0]["content"]
        if "given one question" in rules:
            return solved_sum(request)
        if "well_posed" in rules:
            self.judged.append(request.prompt)
            return self.verdicts.pop(0)
        return self.written.pop(0)


async def test_a_revision_is_judged_as_the_children_of_its_fill_were(office: Office) -> None:
    model = JudgedWriter(
        revised(47, 36),
        revised(48, 36),
        verdicts=[verdict(one_answer=False, reason=FAULT), verdict()],
    )
    playing = office.play(model)
    async with fill_with(office, judge=office.made.writer):
        case = await office.case()
        done = await office.work(await ask_for_a_change(office, case))
    assert (done.status, done.error) == ("completed", None)
    assert ["47 + 36 =" in one for one in model.judged] == [True, False]
    told = await office.told(case)
    assert [kind for kind, _ in told][1:] == [
        "rewriting", "validation", "rewriting", "validation", "calibration",
    ]  # fmt: skip
    assert FAULT in told[2][1]
    latest = (await office.desk.state(case)).latest.revision
    assert latest.item.question == "48 + 36 ="
    assert {"solve_blind", "judge"} <= latest.prompts.keys()
    # all calls count: two texts, and of each two blind answers and a verdict
    used = await read_usage(office.redis, keys.usage_job(done.id))
    assert sum(one.calls for one in used) == len(playing.asked) == 8


async def test_a_judge_that_gives_nothing_says_so(office: Office) -> None:
    office.play(JudgedWriter(revised(49, 36), verdicts=["Fine."] * 2))
    async with fill_with(office, judge=office.made.writer):
        case = await office.case()
        done = await office.work(await ask_for_a_change(office, case))
    assert done.status == "failed"
    kind, text = (await office.told(case))[-1]
    assert kind == "failure"
    assert "The judge gave no verdict that can be used." in text


async def test_nobody_judges_where_nobody_judged(office: Office) -> None:
    playing = office.play(revised(51, 36))
    async with fill_with(office, judge="none"):
        done = await office.work(await ask_for_a_change(office, await office.case()))
    assert (done.status, len(playing.asked)) == ("completed", 1)


@pytest.mark.skipif(not installed(), reason=NOT_INSTALLED)
async def test_a_revision_is_no_near_duplicate(office: Office) -> None:
    # far from the target: no reference that the Rewriter is shown, so the Validator finds it
    entries = await RedisMemory(office.redis, office.made.job).entries()
    twin = max(entries, key=lambda one: abs(one.z - office.made.target.z)).item
    said = f"{twin.question.removesuffix(' =')} equals"
    again = revised(0, 0, question=said, answer=twin.answer)
    office.play(again, revised(52, 36))
    async with fill_with(office, rewriter="llm"):
        case = await office.case()
        done = await office.work(await ask_for_a_change(office, case))
    assert done.status == "completed"
    told = await office.told(case)
    assert f"It says nearly the same as item '{twin.id}'" in told[2][1]
    assert (await office.desk.look(case, BOB)).latest.item.question == "52 + 36 ="
    assert json.loads(again)["question"] in told[1][1]
