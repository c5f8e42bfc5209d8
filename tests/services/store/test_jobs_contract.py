"""Records of jobs and leases, on both servers: nobody loses a job, nobody spoils another's."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import ResponseError

from benchfill_services.jobs.record import DiagnosisSpec, FillBudget
from benchfill_services.observability.traces import end_traces, inject, setup_traces, span
from benchfill_services.settings import Settings
from benchfill_services.store import keys
from benchfill_services.store.jobs import (
    JobLease,
    JobStateError,
    LeaseLostError,
    RedisJobs,
    UnknownJobError,
)
from benchfill_services.store.steps import RedisSteps
from benchfill_services.store.transcript import RedisTranscript
from support.redis_contents import contents
from support.redis_jobs import CREATED, new_job
from support.trace_collector import TraceCollector

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_services.jobs.record import Job

LONG = 60_000  # ms: a lease that lasts longer than the test


@pytest.fixture
def jobs(each_server: Redis) -> RedisJobs:
    return RedisJobs(each_server)


async def created(jobs: RedisJobs, benchmark: str = "b1", **changes) -> Job:
    job = new_job(benchmark, **changes)
    assert await jobs.create(job) == (job.id, True)
    return job


async def lease_of(redis: Redis, job: Job, milliseconds: int = LONG) -> JobLease:
    lease = await JobLease.acquire(redis, job.id, milliseconds)
    assert lease is not None
    return lease


async def taken_over(redis: Redis, job: Job) -> tuple[JobLease, JobLease]:
    """Return the lease of a worker that was too slow, and that of its successor."""
    slow = await lease_of(redis, job, 20)
    await asyncio.sleep(0.05)
    return slow, await lease_of(redis, job)


async def test_a_job_comes_back_as_it_was_kept(jobs) -> None:
    job = await created(jobs, "a:b ä")
    assert await jobs.get(job.id) == job
    assert await jobs.count("queued") == 1


async def test_a_job_that_was_never_made_is_none(jobs) -> None:
    assert await jobs.get("0" * 32) is None
    assert await jobs.result("0" * 32) is None


async def test_a_diagnosis_is_a_job_too(jobs) -> None:
    spec = DiagnosisSpec(benchmark="b1", version=2, engine="map")
    job = await created(jobs, kind="diagnosis", spec=spec)
    assert await jobs.get(job.id) == job
    assert await jobs.list(limit=5, kind="diagnosis") == ([job], None)
    assert await jobs.list(limit=5) == ([], None)


async def test_the_same_idempotency_key_makes_one_job(jobs) -> None:
    first, second = new_job(), new_job()
    assert await jobs.create(first, idempotency_key="key-1/a") == (first.id, True)
    assert await jobs.create(second, idempotency_key="key-1/a") == (first.id, False)
    assert await jobs.get(second.id) is None
    assert await jobs.count("queued") == 1
    assert await jobs.create(second, idempotency_key="key-2/a") == (second.id, True)


async def test_of_many_requests_at_once_with_one_key_one_makes_the_job(jobs) -> None:
    asked = [new_job() for _ in range(20)]
    made = await asyncio.gather(*(jobs.create(job, idempotency_key="same") for job in asked))
    assert len({job_id for job_id, _ in made}) == 1
    assert sorted(new for _, new in made) == [False] * 19 + [True]
    assert len((await jobs.list(limit=50))[0]) == 1


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    made=st.lists(
        st.tuples(
            st.sampled_from(["b1", "b2"]),
            st.sampled_from(["queued", "running", "failed"]),
            st.sampled_from(["fill", "fill", "diagnosis"]),
        ),
        max_size=14,
    ),
    limit=st.integers(1, 5),
    benchmark=st.sampled_from([None, "b1", "b2"]),
    status=st.sampled_from([None, "queued", "failed"]),
)
async def test_pages_hold_every_job_once_newest_first(
    each_server, made, limit, benchmark, status
) -> None:
    await each_server.flushall()
    jobs, wanted = RedisJobs(each_server), []
    for of, state, kind in made:
        spec = DiagnosisSpec(benchmark=of, version=1)
        other = {"spec": spec} if kind == "diagnosis" else {}
        job = await created(jobs, of, status=state, kind=kind, **other)
        if kind == "fill" and benchmark in {None, of} and status in {None, state}:
            wanted.insert(0, job.id)
    seen, before = [], None
    for _ in range(len(made) + 1):
        page, before = await jobs.list(
            limit=limit, before=before, benchmark=benchmark, status=status
        )
        assert len(page) == limit or before is None
        seen += [job.id for job in page]
        if before is None:
            break
    assert seen == wanted
    assert before is None


async def test_jobs_that_come_while_pages_are_read_move_nothing(jobs) -> None:
    old = [await created(jobs) for _ in range(4)]
    first, before = await jobs.list(limit=2)
    await created(jobs)
    second, _ = await jobs.list(limit=2, before=before)
    assert [job.id for job in first + second] == [job.id for job in reversed(old)]


async def test_a_job_that_waits_is_cancelled_at_once(jobs) -> None:
    job = await created(jobs)
    cancelled = await jobs.request_cancel(job.id)
    assert (cancelled.status, cancelled.cancel_requested) == ("cancelled", True)
    assert cancelled.finished_at is not None
    assert cancelled.updated_at > CREATED
    assert (await jobs.count("queued"), await jobs.count("cancelled")) == (0, 1)


async def test_who_works_on_a_job_hears_that_it_is_to_be_cancelled(jobs, each_server) -> None:
    job = await created(jobs)
    lease = await lease_of(each_server, job)
    assert await lease.update({}, status="running", expected=("queued",))
    assert await lease.renew() == "ok"
    asked = await jobs.request_cancel(job.id)
    assert (asked.status, asked.finished_at) == ("running", None)
    assert await lease.renew() == "cancel"
    await lease.finish("cancelled", {"kept": True}, "")
    assert (await jobs.get(job.id)).status == "cancelled"
    assert await jobs.result(job.id) == {"kept": True}


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "budget_exhausted"])
async def test_a_job_that_ended_cannot_be_cancelled(jobs, status) -> None:
    job = await created(jobs, status=status)
    with pytest.raises(JobStateError, match=f"is {status} and cannot be cancelled"):
        await jobs.request_cancel(job.id)
    assert await jobs.get(job.id) == job


@pytest.mark.parametrize("status", ["failed", "cancelled", "budget_exhausted"])
async def test_a_job_that_rests_goes_back_into_the_queue_with_its_new_budget(
    jobs, each_server, status
) -> None:
    job = await created(jobs)
    lease = await lease_of(each_server, job)
    await lease.update({"cancel_requested": "1"}, status="running")
    await lease.finish(status, None, "why it ended.")
    raised = job.spec.model_copy(update={"budget": FillBudget(rollouts=500)})
    resumed = await jobs.resume(job.id, raised.model_dump_json())
    assert (resumed.status, resumed.error, resumed.finished_at) == ("queued", None, None)
    assert not resumed.cancel_requested
    assert resumed.spec == raised
    assert (await jobs.count("queued"), await jobs.count(status)) == (1, 0)


@pytest.mark.parametrize("status", ["queued", "running", "completed"])
async def test_a_job_that_does_not_rest_cannot_be_resumed(jobs, status) -> None:
    job = await created(jobs, status=status)
    with pytest.raises(JobStateError, match=f"is {status} and cannot be resumed"):
        await jobs.resume(job.id)
    assert await jobs.get(job.id) == job


async def test_what_is_asked_of_a_job_that_is_not_there_is_refused(jobs, each_server) -> None:
    for asked in (jobs.request_cancel("0" * 32), jobs.resume("0" * 32)):
        with pytest.raises(UnknownJobError, match="there is no job 0000"):
            await asked
    assert await each_server.dbsize() == 0


async def test_a_job_is_in_the_index_of_its_status_only(jobs, each_server) -> None:
    job = await created(jobs)
    lease = await lease_of(each_server, job)
    await lease.update({"gap": "gap-1", "round": "2", "attempts": "1"}, status="running")
    kept = await jobs.get(job.id)
    assert (kept.gap, kept.round, kept.attempts) == ("gap-1", 2, 1)
    statuses = {"queued": 0, "running": 1, "completed": 0}
    assert {status: await jobs.count(status) for status in statuses} == statuses
    assert await jobs.list(limit=5, status="running") == ([kept], None)
    assert await jobs.list(limit=5, status="queued") == ([], None)


async def test_an_update_waits_for_the_status_that_it_expects(jobs, each_server) -> None:
    job = await created(jobs)
    lease = await lease_of(each_server, job)
    assert not await lease.update({"gap": "gap-1"}, status="completed", expected=("running",))
    assert await jobs.get(job.id) == job


async def test_no_end_is_refused(jobs, each_server) -> None:
    job = await created(jobs)
    lease = await lease_of(each_server, job)
    with pytest.raises(ValueError, match="running is no end"):
        await lease.finish("running", {}, "")
    assert await jobs.result(job.id) is None


async def test_one_of_many_workers_gets_the_lease(jobs, each_server) -> None:
    job = await created(jobs)
    leases = await asyncio.gather(*(JobLease.acquire(each_server, job.id, LONG) for _ in range(20)))
    (lease,) = [one for one in leases if one is not None]
    await lease.release()
    assert await JobLease.acquire(each_server, job.id, LONG) is not None


async def test_tokens_only_grow(jobs, each_server) -> None:
    job, tokens = await created(jobs), []
    for _ in range(12):  # more than ten: they must grow as numbers, whatever text does
        lease = await lease_of(each_server, job)
        tokens.append(int(lease.token))
        await lease.release()
    assert tokens == sorted(set(tokens))


async def test_jobs_have_leases_of_their_own(jobs, each_server) -> None:
    first, second = await created(jobs), await created(jobs)
    await lease_of(each_server, first)
    lease = await lease_of(each_server, second)
    assert await lease.renew() == "ok"


async def test_a_lease_that_expired_comes_back_if_nobody_took_it(jobs, each_server) -> None:
    job = await created(jobs)
    lease = await lease_of(each_server, job, 20)
    await asyncio.sleep(0.05)
    assert await each_server.exists(keys.job_lease(job.id)) == 0
    assert await lease.update({"gap": "gap-1"})
    assert await lease.renew() == "ok"
    assert await each_server.get(keys.job_lease(job.id)) == lease.token
    assert await JobLease.acquire(each_server, job.id, LONG) is None


async def test_who_was_taken_over_can_write_nothing(jobs, each_server) -> None:
    job = await created(jobs)
    slow, successor = await taken_over(each_server, job)
    await successor.update({"gap": "gap-2"}, status="running")
    before = await contents(each_server)
    for late in (
        slow.renew(),
        slow.update({"gap": "gap-1"}),
        slow.update({}, status="failed", expected=("running",)),
        slow.finish("failed", {"spoiled": True}, "too late"),
        slow.finish("completed", None, ""),
    ):
        with pytest.raises(LeaseLostError, match="taken over by another worker"):
            await late
    await slow.release()
    assert await contents(each_server) == before
    assert await successor.renew() == "ok"


async def test_the_result_of_the_successor_stays(jobs, each_server) -> None:
    job = await created(jobs)
    slow, successor = await taken_over(each_server, job)
    await successor.update({}, status="running")
    await successor.finish("completed", {"by": "successor"}, "")
    with pytest.raises(LeaseLostError):
        await slow.finish("completed", {"by": "the slow one"}, "")
    assert await jobs.result(job.id) == {"by": "successor"}
    assert (await jobs.get(job.id)).status == "completed"


async def test_the_fence_holds_after_the_successor_has_gone(jobs, each_server) -> None:
    job = await created(jobs)
    slow, successor = await taken_over(each_server, job)
    await successor.release()
    with pytest.raises(LeaseLostError):
        await slow.renew()


async def test_steps_and_messages_of_who_was_taken_over_are_refused(jobs, each_server) -> None:
    job = await created(jobs)
    slow, successor = await taken_over(each_server, job)
    for lease, said in ((successor, "first"), (slow, "late")):
        steps = RedisSteps(each_server, job.id, lease.token)
        transcript = RedisTranscript(each_server, job.id, "gap-1", lease.token)
        with pytest.raises(ResponseError, match="FENCED") if lease is slow else nullcontext():
            await steps.put(f"step {said}", {"by": said})
        with pytest.raises(ResponseError, match="FENCED") if lease is slow else nullcontext():
            await transcript.append({"by": said}, key=said)
    assert await RedisSteps(each_server, job.id).keys() == ("step first",)
    assert await RedisTranscript(each_server, job.id, "gap-1").read() == [{"by": "first"}]


async def test_a_job_carries_the_trace_of_the_request_that_made_it(
    jobs, each_server, monkeypatch
) -> None:
    assert await jobs.carrier((await created(jobs)).id) == {}
    with TraceCollector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        setup_traces("test", Settings())
        with span("request"):
            job = await created(jobs)
            carrier = inject()
        end_traces()
    assert await jobs.carrier(job.id) == carrier
    assert carrier["traceparent"]
    assert await jobs.get(job.id) == job
