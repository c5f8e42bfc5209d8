"""One suite for every `StepRecord`, and the same promises of ledger and transcript."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchfill_agents.steps import InMemorySteps
from benchfill_services.store.ledger import RedisLedgerStore
from benchfill_services.store.steps import RedisSteps
from benchfill_services.store.transcript import RedisTranscript

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from benchfill_agents.steps import StepRecord

    NewSteps = Callable[[], StepRecord]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
results = st.dictionaries(st.text(max_size=3), values, max_size=3)
records = st.lists(st.tuples(texts, results), max_size=6)
by_hypothesis = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=["in memory", "Valkey", "redis-server"])
async def new_steps(request: pytest.FixtureRequest, open_empty) -> AsyncIterator[NewSteps]:
    if request.param == "in memory":
        yield InMemorySteps
        return
    numbers = itertools.count()
    async with open_empty(request.param) as redis:
        yield lambda: RedisSteps(redis, f"job {next(numbers)}")


@by_hypothesis
@given(written=records)
async def test_the_first_result_of_a_step_stays_in_its_place(new_steps, written) -> None:
    steps, model = new_steps(), {}
    for key, result in written:
        await steps.put(key, result)
        model.setdefault(key, result)
    assert await steps.keys() == tuple(model)
    for key, result in model.items():
        assert await steps.get(key) == result
    assert await steps.get("never written") is None


async def test_of_many_at_once_one_result_stays(new_steps) -> None:
    steps = new_steps()
    await asyncio.gather(*(steps.put("step", {"writer": number}) for number in range(40)))
    assert await steps.keys() == ("step",)
    first = await steps.get("step")
    await steps.put("step", {"writer": "late"})
    assert await steps.get("step") == first


async def test_jobs_do_not_share_steps(each_server) -> None:
    await RedisSteps(each_server, "a").put("step", {"job": "a"})
    assert await RedisSteps(each_server, "order:a").get("step") is None
    assert await RedisSteps(each_server, "b").keys() == ()


@by_hypothesis
@given(written=records)
async def test_the_first_rollout_of_a_digest_stays(each_server, written) -> None:
    await each_server.flushall()
    ledger, model = RedisLedgerStore(each_server), {}
    for digest, rollout in written:
        await ledger.put(digest, rollout)
        model.setdefault(digest, rollout)
    assert await ledger.get_many([*model, "never kept"]) == model


async def test_jobs_at_once_share_the_ledger_and_nothing_else(each_server) -> None:
    jobs = ["job", "job:gap", "job%3Agap"]

    async def work(job: str) -> None:
        steps, ledger = RedisSteps(each_server, job), RedisLedgerStore(each_server)
        transcript = RedisTranscript(each_server, job, "gap")
        for number in range(20):
            await ledger.put(f"digest {number}", {"bought by": job})
            await steps.put(f"step {number}", {"job": job})
            await transcript.append({"job": job, "number": number}, key=str(number))

    await asyncio.gather(*(work(job) for job in jobs))
    for job in jobs:
        steps = RedisSteps(each_server, job)
        assert await steps.keys() == tuple(f"step {number}" for number in range(20))
        assert await steps.get("step 7") == {"job": job}
        said = await RedisTranscript(each_server, job, "gap").read()
        assert said == [{"job": job, "number": number} for number in range(20)]
    digests = [f"digest {number}" for number in range(20)]
    assert len(await RedisLedgerStore(each_server).get_many(digests)) == 20


async def test_a_ledger_without_digests_is_not_asked(each_server) -> None:
    assert await RedisLedgerStore(each_server).get_many([]) == {}


async def test_thousands_of_rollouts_are_found_at_once(each_server) -> None:
    ledger = RedisLedgerStore(each_server)
    kept = {f"digest {number}": {"sample": number} for number in range(2500)}
    async with asyncio.TaskGroup() as group:
        for digest, rollout in kept.items():
            group.create_task(ledger.put(digest, rollout))
    assert await ledger.get_many(list(kept)) == kept


async def test_a_paid_answer_with_half_a_character_is_kept(each_server) -> None:
    ledger = RedisLedgerStore(each_server)
    await ledger.put("digest", {"text": "half a smile: \ud83d"})
    assert await ledger.get_many(["digest"]) == {"digest": {"text": "half a smile: \ud83d"}}


async def test_a_message_said_again_is_kept_once(each_server) -> None:
    transcript = RedisTranscript(each_server, "job", "gap-1")
    first = await transcript.append({"content": "one"}, key="round-1/rewrite")
    second = await transcript.append({"content": "two"}, key="round-1/validate")
    assert await transcript.append({"content": "again"}, key="round-1/rewrite") == first
    assert first != second
    assert await transcript.read() == [{"content": "one"}, {"content": "two"}]


async def test_gaps_have_transcripts_of_their_own(each_server) -> None:
    await RedisTranscript(each_server, "a:b", "c").append({"content": "one"}, key="1")
    assert await RedisTranscript(each_server, "a", "b:c").read() == []
