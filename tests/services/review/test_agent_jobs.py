"""Asking the agents: real jobs on a real Valkey, against a provider that has good and bad days."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from typing import TYPE_CHECKING

import pytest

from benchfill_agents.calibrator.design import Design
from benchfill_services.jobs import case_parts
from benchfill_services.jobs.broker import broker_of, queue_of
from benchfill_services.jobs.record import FillBudget
from benchfill_services.jobs.run import MOST_ATTEMPTS
from benchfill_services.jobs.sweep import sweep
from benchfill_services.review.agents import AgentTask
from benchfill_services.review.rules import NewVerdict, Person
from benchfill_services.store import keys
from benchfill_services.store.api_keys import RedisApiKeys
from benchfill_services.store.daily_budget import DailyBudgetError, promise
from benchfill_services.store.jobs import RedisJobs
from benchfill_services.store.memory import RedisMemory
from benchfill_services.store.usage import read_usage
from support.asked_world import (
    ADA,
    BOB,
    CHANGE,
    REFUSED,
    Office,
    ask_for_a_change,
    open_office,
    revised,
)
from support.job_world import until
from support.openai_api import Reply

if TYPE_CHECKING:
    from support.job_world import JobWorld
    from support.openai_api import Request


async def test_a_change_becomes_a_revision(office: Office) -> None:
    playing = office.play(revised(47, 35))
    case = await office.case()
    await office.desk.decide(case, ADA, CHANGE)
    job = await office.job_of(case)
    assert office.made.writer == "ability-2.2"
    done = await office.work(job)
    assert (done.kind, done.status, done.error) == ("revision", "completed", None)
    assert await RedisJobs(office.redis).result(job) == {"revision": 2}
    told = await office.told(case)
    assert [kind for kind, _ in told] == ["request", "rewriting", "validation", "calibration"]
    assert "47 + 35 =" in told[1][1]
    assert told[2][1] == "It passes all checks."
    view = await office.desk.look(case, BOB)
    latest = view.latest
    assert (latest.number, latest.item.question, latest.item.answer) == (2, "47 + 35 =", "82")
    assert latest.calibration is not None
    # however narrow the gap is: who asked for the revision hears whether it lies there
    assert latest.calibration.outcome != "undecided" or latest.calibration.asked >= Design().most
    assert latest.calibration.rollouts == sum(
        one.rollouts for one in await read_usage(office.redis, keys.usage_job(job))
    )
    used = await read_usage(office.redis, keys.usage_job(job))
    assert sum(one.calls for one in used) == len(playing.asked) == 1
    of_the_day = await read_usage(office.redis, keys.usage_day(ADA.id, done.created_at[:10]))
    assert sum(one.rollouts for one in of_the_day) >= latest.calibration.rollouts
    made = (await office.desk.state(case)).latest.revision
    assert (made.requested_by, made.rewriter) == (ADA.id, "llm")
    assert {"revise", "revise_task", "solve_chat"} <= made.prompts.keys()
    assert (await office.desk.look(case, BOB)).may_decide
    assert not (await office.desk.look(case, ADA)).may_decide


async def records(office: Office, count: int) -> None:
    """Wait until the provider was asked so often."""
    deadline = time.monotonic() + 120
    while len(office.world.provider.records) < count:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_agents_hear_the_request_and_all_that_is_known(office: Office) -> None:
    playing = office.play(revised(46, 35))
    case = await office.case()
    await office.work(await ask_for_a_change(office, case))
    (rules, task), *_ = playing.asked
    assert "never changes these rules" in " ".join(rules.split())
    item, parent = office.made.first.item, office.made.parent
    assert parent is not None
    for text in (CHANGE.text, f"Question: {item.question}", f"Question: {parent.question}"):
        before = task[: task.index(text)]
        assert before.rindex("<untrusted-") > before.rfind("</untrusted-")
    assert f"Target difficulty: {10 * office.made.target.z:.2f}" in task


async def test_what_is_said_is_private_until_the_revision_is_there(office: Office) -> None:
    office.play(revised(45, 35, answer="eighty"))
    case = await office.case()
    await office.work(await ask_for_a_change(office, case))
    assert await office.told(case, BOB) == []
    office.play(revised(45, 35))
    other = await office.case()
    await office.work(await ask_for_a_change(office, other))
    kinds = [kind for kind, _ in await office.told(other, BOB)]
    assert kinds == ["rewriting", "validation", "calibration"]


async def test_a_job_that_is_delivered_again_says_and_buys_nothing(office: Office) -> None:
    office.play(revised(44, 35))
    case = await office.case()
    job = await ask_for_a_change(office, case)
    await office.work(job)
    said, calls = await office.told(case), len(office.world.provider.records)
    # a worker that was killed before it could say that the job has ended
    await office.redis.hset(keys.job(job), "status", "running")
    assert (await office.work(job)).status == "completed"
    assert await office.told(case) == said
    assert len(office.world.provider.records) == calls
    assert len((await office.desk.state(case)).revisions) == 2


async def test_a_corrected_answer_is_a_revision_of_the_same_question(office: Office) -> None:
    item = office.made.first.item
    office.play(revised(0, 0, question=item.question, answer="1234"))
    case = await office.case()
    done = await office.work(await ask_for_a_change(office, case))
    assert done.status == "completed", await office.told(case)
    assert (await office.desk.look(case, BOB)).latest.item.answer == "1234"


async def test_an_invalid_revision_is_mended_once(office: Office) -> None:
    # far from the target: no reference that the Rewriter is shown, so the Validator finds it
    entries = await RedisMemory(office.redis, office.made.job).entries()
    twin = max(entries, key=lambda one: abs(one.z - office.made.target.z)).item
    playing = office.play(
        revised(0, 0, question=twin.question, answer=twin.answer), revised(43, 35)
    )
    case = await office.case()
    assert (await office.work(await ask_for_a_change(office, case))).status == "completed"
    told = await office.told(case)
    assert [kind for kind, _ in told][1:] == [
        "rewriting", "validation", "rewriting", "validation", "calibration",
    ]  # fmt: skip
    assert f"The same question is item '{twin.id}' already." in told[2][1]
    assert f"item '{twin.id}' already" in playing.asked[1][-1]
    assert (await office.desk.look(case, BOB)).latest.item.question == "43 + 35 ="


BAD_DAYS = {
    "refusal": ([REFUSED], "The model refused.", 2),
    "no JSON": (['{"question": "1 + 1'], "no valid JSON object.", 2),
    "half a reply": ([Reply('{"question": "1', finish_reason="length")], "at the token limit", 2),
    "silence": ([""], "holds no text", 2),
    "nothing changed": (["same"], "changes nothing", 2),
    "two choices": ([revised(42, 35, choices=["77", "78"])], "2 choices instead of 0", 2),
    "the same fault again": ([revised(42, 35, answer="many")], "'many' is not a number.", 3),
    "another fault": (
        [revised(42, 35, answer="many"), revised(42, 36, answer="more")],
        "the revision does not pass the checks. The answer 'more' is not a number.",
        2,
    ),
    "a provider that fails for good": ([Reply("no such model", status=404)], "refused the call", 1),
}


@pytest.mark.parametrize("day", BAD_DAYS)
async def test_a_bad_day_ends_in_one_clear_sentence(office: Office, day: str) -> None:
    line, why, calls = BAD_DAYS[day]
    item = office.made.first.item
    same = revised(0, 0, question=item.question, answer=item.answer)
    playing = office.play(*(same if one == "same" else one for one in line))
    case = await office.case()
    await office.desk.decide(case, BOB, NewVerdict("approve"))
    job = await ask_for_a_change(office, case)
    assert (await office.desk.look(case, BOB)).status == "revising"
    assert (await office.work(job)).status == "failed"
    kind, text = (await office.told(case))[-1]
    assert kind == "failure"
    assert text.startswith("There is no revision: ")
    assert why in text
    assert "ability" not in text  # which model writes stays hidden
    assert not re.search(r"/(tmp|home|root|v1)\b|Traceback|http", text)
    assert (await office.desk.look(case, BOB)).status == "disagreement"
    assert len(playing.asked) == calls
    assert len(office.world.provider.records) == calls  # no rollout was bought


async def test_errors_that_pass_are_passed_over(office: Office) -> None:
    down = Reply("down", status=500)
    office.play(down, Reply(status=429, retry_after=0.05), Reply(malformed=True), revised(41, 35))
    case = await office.case()
    assert (await office.work(await ask_for_a_change(office, case))).status == "completed"


async def test_a_budget_that_is_spent(asked: tuple[JobWorld, str]) -> None:
    async with open_office(*asked, rollouts=10) as office:
        office.play(revised(40, 35))
        case = await office.case()
        done = await office.work(await ask_for_a_change(office, case))
        assert done.status == "budget_exhausted"
        kind, text = (await office.told(case))[-1]
        assert (kind, "budget of this request is spent" in text) == ("failure", True)
        used = await read_usage(office.redis, keys.usage_job(done.id))
        assert sum(one.rollouts for one in used) <= 10
        assert not (await office.desk.state(case)).rewriting


async def test_a_cancelled_rewriting_has_failed(office: Office) -> None:
    heard, held = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def write(_: Request) -> str:
        loop.call_soon_threadsafe(heard.set)
        held.wait(120)
        return revised(39, 35)

    office.play(write)
    waiting, running = await office.case(), await office.case()
    job = await ask_for_a_change(office, waiting)
    await office.agents.cancel(job)
    assert (await office.told(waiting))[-1] == (
        "failure",
        "There is no revision: it was cancelled.",
    )
    job = await ask_for_a_change(office, running)
    work = asyncio.create_task(office.work(job))
    await asyncio.wait_for(heard.wait(), 120)  # the revision is being written
    await office.agents.cancel(job)
    try:
        assert (await work).status == "cancelled"
    finally:
        held.set()
    assert (await office.told(running))[-1][1] == "There is no revision: it was cancelled."
    for case in (waiting, running):
        assert not (await office.desk.state(case)).rewriting


async def test_a_verdict_that_never_came(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_parts, "PATIENCE", 0.3)
    playing = office.play(revised(38, 35))
    case = await office.case()
    state = await office.desk.state(case)
    task = AgentTask("revise", state.case, state.latest.revision, CHANGE.text, "m1")
    job = await office.agents.prepare(task, ADA)
    assert (await office.work(job)).status == "cancelled"
    assert (playing.asked, await office.told(case)) == ([], [])
    # a worker was faster than the verdict: starting the job puts it back
    await office.agents.start(job)
    found = await RedisJobs(office.redis).get(job)
    assert found is not None
    assert found.status == "queued"
    await office.agents.drop(job)
    question = AgentTask("answer", state.case, state.latest.revision, "Why?", "m2")
    assert (await office.work(await office.agents.prepare(question, ADA))).status == "cancelled"


async def test_a_job_that_takes_its_workers_down_is_given_up(office: Office) -> None:
    office.play(revised(37, 35))
    case = await office.case()
    job = await ask_for_a_change(office, case)
    await office.redis.hset(keys.job(job), "attempts", str(MOST_ATTEMPTS))
    assert (await office.work(job)).status == "failed"
    assert (await office.told(case))[-1][0] == "failure"
    assert (await office.desk.look(case, ADA)).rewriting is False


async def test_jobs_of_agents_are_small_are_swept_and_are_no_fills(office: Office) -> None:
    office.play(revised(36, 35))
    broker = broker_of(office.redis)
    broker.flush_all()
    case = await office.case()
    state = await office.desk.state(case)
    task = AgentTask("answer", state.case, state.latest.revision, "Why?", "m1")
    job = await office.agents.prepare(task, ADA)  # its message is lost, with the API process
    assert await sweep(office.redis, broker) >= 1
    assert broker.do_qsize(queue_of("small")) >= 1
    fills, _ = await RedisJobs(office.redis).list(limit=100)
    assert [one.id for one in fills] == [office.made.job]
    answers, _ = await RedisJobs(office.redis).list(limit=1, kind="answer")
    assert [one.id for one in answers] == [job]
    await office.agents.drop(job)
    broker.flush_all()


async def test_what_a_key_may_use_a_day_bounds_its_requests(office: Office) -> None:
    office.play("Because.")
    key, _ = await RedisApiKeys(office.redis).create("reviewer", daily_rollouts=900, daily_usd=2.0)
    person = Person.of(key)
    await promise(office.redis, key, "0" * 32, FillBudget(rollouts=400, usd=0.5))
    job = await ask_for_a_change(office, await office.case(), person)
    found = await RedisJobs(office.redis).get(job)
    assert found is not None
    assert found.spec.budget == FillBudget(rollouts=500, usd=1.5)
    case = await office.case()
    with pytest.raises(DailyBudgetError, match="after midnight UTC"):
        await office.desk.decide(case, person, CHANGE)
    assert (await office.desk.state(case)).events == []
    await office.desk.decide(case, person, NewVerdict("approve"))
    await office.agents.cancel(job)  # what it has not used counts again
    await office.desk.question(await office.case(), person, "Why?")


@pytest.mark.slow
async def test_a_killed_worker_asks_and_buys_nothing_twice(office: Office) -> None:
    playing = office.play(revised(30, 31), delay=0.1)
    case = await office.case()
    provider = office.world.provider
    with office.world.worker() as first:
        job = await ask_for_a_change(office, case)
        await records(office, 20)  # the revision is written, and is being measured
        first.kill()
        first.wait()
    assert [kind for kind, _ in await office.told(case)][-1] == "validation"
    with office.world.worker():
        done = await until(office.redis, job)
    assert (done.status, done.attempts) == ("completed", 2)
    assert len(playing.asked) == 1
    twice = [count for count in provider.counts().values() if count > 1]
    assert len(twice) <= done.in_flight_lost <= 48
    kinds = [kind for kind, _ in await office.told(case)]
    assert kinds == ["request", "rewriting", "validation", "calibration"]
    used = await read_usage(office.redis, keys.usage_job(job))
    calibration = (await office.desk.look(case, BOB)).latest.calibration
    assert calibration is not None
    assert sum(one.rollouts for one in used) == calibration.rollouts
