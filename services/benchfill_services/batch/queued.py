"""The jobs of a batch through the queue: workers carry them out, this process watches.

Each job is a fill like any other of the service. What the jobs share is dealt out: a pool's limits
are divided among those that are out at a time, and a common budget is granted in parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchfill.errors import InputError, InterruptedRunError
from benchfill_agents.fill_report import FillReport
from benchfill_agents.pool.config import Pool, read_pool

from ..fill_job import check_names
from ..fill_spec import spec_of
from ..jobs.broker import enqueue
from ..jobs.record import RESTING, FillBudget, Job
from ..jobs.worker import SIGN_OF_LIFE
from ..store import keys
from ..store.benchmark_files import checked_files
from ..store.benchmarks import BenchmarkExistsError, RedisBenchmarks
from ..store.connection import connect
from ..store.jobs import JobStateError, RedisJobs
from ..store.usage import read_usage
from .batch import LOOK_EVERY, kept_up, summed
from .dividing import divisions
from .grants import Grants
from .job_files import PAGE, JobReports, kept_report, known_job
from .local_workers import local_workers
from .outcome import JobOutcome, outcome_of
from .run import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from redis.asyncio import Redis

    from ..settings import Settings
    from .dividing import Division
    from .job_files import KnownJob
    from .jobs_file import Jobs, NamedRequest
    from .outcome import BatchReport
    from .view import BatchView, JobView

_BY = "batch"  # who asked, in the records
_ALONE = 30.0  # seconds without a sign of life of any worker
_CANCELLING = 60.0


@dataclass(eq=False)
class _Out:
    """A job on its way."""

    named: NamedRequest
    view: JobView
    job: KnownJob | None = None
    pool: Pool | None = None
    is_out: bool = False
    ran_out: FillReport | None = None
    """What there was when its part of the budget was spent; it waits for what others leave."""
    reporting: asyncio.Task[None] | None = None
    outcome: JobOutcome | None = None


@dataclass(eq=False)
class _Batch:
    redis: Redis
    settings: Settings
    reports: JobReports
    jobs: list[_Out]
    at_once: int
    grants: Grants
    divisions: dict[str, Division] = field(default_factory=dict)


async def run_queued(  # noqa: PLR0913 - as `run_batch`, and how many workers to start
    jobs: Jobs,
    settings: Settings,
    view: BatchView,
    envelope: Mapping[str, Any],
    show: Callable[[], None],
    *,
    workers: int,
) -> BatchReport:
    """Have workers carry out all jobs, of which `workers` are started here.

    Raises
    ------
    InputError
        No worker is to be started, and none is alive.
    """
    began = time.perf_counter()
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with connect(url, settings.data_dir) as redis, kept_up(view, redis, show):
        if not workers and not await _alive(redis):
            raise InputError(
                "no worker is alive; start `benchfill worker`, or give the number to start here.",
                field="--workers",
            )
        own = {
            one.name: FillBudget(
                rollouts=one.request.budget_rollouts,
                tokens=one.request.budget_tokens,
                usd=one.request.budget_usd,
            )
            for one in jobs.jobs
        }
        batch = _Batch(
            redis,
            settings,
            JobReports(redis, settings, envelope),
            [_Out(*pair) for pair in zip(jobs.jobs, view.jobs, strict=True)],
            jobs.at_once,
            Grants(jobs.budget, own),
        )
        async with local_workers(workers, settings) as processes:
            await _watch(batch, processes)
        outcomes = [_ended(one) for one in batch.jobs]
    return summed(outcomes, seconds=time.perf_counter() - began, workers=workers)


def _ended(out: _Out) -> JobOutcome:
    name, job = out.named.name, out.job.id if out.job else None
    return out.outcome or JobOutcome(job=name, id=job, end="interrupted")


async def _watch(batch: _Batch, processes: Sequence[asyncio.subprocess.Process]) -> None:
    """Send jobs out as there is room, and take in what comes back."""
    try:
        for out in batch.jobs:
            await _guarded(batch, out, _prepare(batch, out))
        pools = {out.named.name: out.pool for out in batch.jobs if out.pool and not out.outcome}
        batch.divisions = divisions(pools, batch.at_once)
        heard = time.monotonic()
        while any(out.outcome is None for out in batch.jobs):
            for out in _next(batch):
                await _guarded(batch, out, _send(batch, out))
            _give_up(batch)
            for out in batch.jobs:
                if out.is_out:
                    await _guarded(batch, out, _take_in(batch, out))
                if out.reporting is not None and out.reporting.done():
                    out.reporting.result()  # what it could not say of its job ends the batch
            living = any(one.returncode is None for one in processes)
            if living or await _alive(batch.redis):
                heard = time.monotonic()
            if time.monotonic() - heard > _ALONE:
                raise InterruptedRunError(
                    "no worker is alive any more; the same command goes on where it was."
                )
            await asyncio.sleep(LOOK_EVERY)
    except asyncio.CancelledError:
        await _cancel(batch)


async def _guarded(batch: _Batch, out: _Out, work: Any) -> None:
    """Do something for a job; an error is its own."""
    try:
        await work
    except Exception as error:
        if isinstance(error, InterruptedRunError):
            raise
        job = out.job.id if out.job else None
        _end(out, await failed((batch.redis, batch.settings), out.named.name, job, error))


def _end(out: _Out, outcome: JobOutcome) -> None:
    out.outcome, out.is_out = outcome, False
    out.view.outcome, out.view.phase = outcome, "ended"


async def _prepare(batch: _Batch, out: _Out) -> None:
    """Read a job's files; a job that an earlier run did is not sent again."""
    out.job = job = await asyncio.to_thread(known_job, out.named, batch.settings)
    out.view.id = job.id
    twin = next(
        (one for one in batch.jobs if one is not out and one.job and one.job.id == job.id), None
    )
    if twin is not None:
        raise InputError(f"it is the same fill as {twin.named.name}; give it another seed.")
    await asyncio.to_thread(check_names, job.request)
    out.pool = await asyncio.to_thread(read_pool, job.request.pool)
    done = await kept_report(batch.redis, job.id)
    if done is not None:
        await _report(batch, out, done, found_done=True)
        return
    batch.grants.note_used(out.named.name, await _used(batch.redis, job.id, None))


def _next(batch: _Batch) -> list[_Out]:
    """Return the jobs that may go out now, in the file's order."""
    out_now = [one for one in batch.jobs if one.is_out]
    chosen: list[_Out] = []
    for one in batch.jobs:
        name = one.named.name
        if one.outcome or one.is_out or one.reporting or name not in batch.divisions:
            continue
        division = batch.divisions[name]
        beside = [other for other in (*out_now, *chosen) if other.named.name in division.sharers]
        room = division.parts - len(beside)
        if one.ran_out and not batch.grants.may_have_more(name, _waiting(batch)):
            continue
        if room > 0 and len(out_now) + len(chosen) < batch.at_once:
            chosen.append(one)
    return chosen


async def _send(batch: _Batch, out: _Out) -> None:
    """Put a job into the queue, unless it is there."""
    job, name = out.job, out.named.name
    if job is None:
        raise TypeError(name)
    jobs = RedisJobs(batch.redis)
    found = await jobs.get(job.id)
    out.is_out, out.ran_out, out.view.phase = True, None, "working"
    if found is not None and found.status not in RESTING:
        # an earlier run sent it, and nobody took it back
        batch.grants.hold(name, getattr(found.spec, "budget", FillBudget()))
        return
    budget = batch.grants.grant(name, _waiting(batch))
    spec = spec_of(
        job.request,
        benchmark=await _stored(batch.redis, job),
        version=1,
        pool=job.request.pool.stem[:128] or "pool",
    ).model_copy(update={"budget": budget})
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    if found is None:
        # at rest until all is there: a worker's sweep may find a queued one at any moment
        record = Job(
            id=job.id,
            kind="fill",
            spec=spec,
            status="cancelled",
            created_at=now,
            updated_at=now,
            created_by=_BY,
        )
        await jobs.create(record)
    await batch.redis.hset(keys.job(job.id), "pool_text", batch.divisions[name].text)
    await jobs.resume(job.id, spec.model_dump_json())
    await enqueue(batch.redis, job.id, spec.lane)


def _waiting(batch: _Batch) -> list[str]:
    """Return the names of the jobs that want a part of the budget and hold none."""
    return [
        one.named.name for one in batch.jobs if not (one.outcome or one.is_out or one.reporting)
    ]


async def _stored(redis: Redis, job: KnownJob) -> str:
    """Keep a job's files as a benchmark of the service, once by what they hold."""
    items, responses = job.request.items, job.request.responses
    checked = await asyncio.to_thread(
        lambda: checked_files(items.read_bytes(), responses.read_bytes())
    )
    content = f"{checked.items_sha256}{checked.responses_sha256}"
    name = f"batch-{hashlib.sha256(content.encode()).hexdigest()[:24]}"
    with contextlib.suppress(BenchmarkExistsError):
        await RedisBenchmarks(redis).create(
            checked, name=items.stem, benchmark=name, created_by=_BY
        )
    return name


async def _take_in(batch: _Batch, out: _Out) -> None:
    """Look whether a job rests; give one that ran out more, if there is more."""
    if out.job is None:
        return
    jobs = RedisJobs(batch.redis)
    job = await jobs.get(out.job.id)
    if job is None:
        raise InputError("its record is not in Redis any more; run the batch again to begin anew.")
    if job.status not in RESTING:
        return
    kept = await jobs.result(job.id)
    report = FillReport.model_validate(kept) if kept is not None else None
    name = out.named.name
    batch.grants.note_used(name, await _used(batch.redis, job.id, report))
    if job.status == "failed":
        _end(out, await _failed(batch, out, job.error or "no reason is known."))
    elif report is None:
        _end(out, JobOutcome(job=name, id=job.id, end="interrupted"))
    elif job.status == "budget_exhausted" and batch.grants.is_short(name):
        out.is_out, out.ran_out, out.view.phase = False, report, "waiting"
    else:
        out.is_out = False
        _begin_report(batch, out, report)


def _give_up(batch: _Batch) -> None:
    """End the jobs that ran out, once nobody is left who might leave something."""
    if not any(one.is_out for one in batch.jobs):
        for out in batch.jobs:
            if out.ran_out is not None and not (out.reporting or out.outcome):
                _begin_report(batch, out, out.ran_out)


def _begin_report(batch: _Batch, out: _Out, report: FillReport) -> None:
    # beside the watching: drawing takes seconds
    out.reporting = asyncio.create_task(_guarded(batch, out, _report(batch, out, report)))


async def _failed(batch: _Batch, out: _Out, said: str) -> JobOutcome:
    """Say why a worker gave a job up; its files were in order, or it would not have been sent."""
    where, job = (batch.redis, batch.settings), out.job.id if out.job else None
    outcome = await failed(where, out.named.name, job, InputError(said))
    bug = said.startswith("an error of BenchFill itself")
    return outcome.model_copy(update={"failure": "bug" if bug else "provider"})


async def _report(
    batch: _Batch, out: _Out, report: FillReport, *, found_done: bool = False
) -> None:
    if out.job is None:
        return
    name, job = out.named.name, out.job
    if not await batch.reports.is_there(job):
        await batch.reports.write(job, report)
    outcome = await outcome_of(
        batch.redis, name, job.id, report, found_done=found_done, page=f"{name}/{PAGE}"
    )
    _end(out, outcome)


async def _used(redis: Redis, job: str, report: FillReport | None) -> dict[str, float]:
    used = await read_usage(redis, keys.usage_job(job))
    bought = sum(one.rollouts for one in used)
    return {
        "rollouts": float(max(bought, report.rollouts_total if report else 0)),
        "tokens": float(sum(one.prompt_tokens + one.completion_tokens for one in used)),
        "usd": sum(one.cost for one in used),
    }


async def _alive(redis: Redis) -> bool:
    return bool(await redis.zcount(keys.WORKERS, time.time() - 3 * SIGN_OF_LIFE, "+inf"))


async def _cancel(batch: _Batch) -> None:
    """Call back what is out; it goes on with the next run of the same command."""
    jobs = RedisJobs(batch.redis)
    out = [one for one in batch.jobs if one.is_out and one.job]
    for one in out:
        if one.job:
            with contextlib.suppress(JobStateError):
                await jobs.request_cancel(one.job.id)
    until = time.monotonic() + _CANCELLING
    for one in out:
        while one.job and time.monotonic() < until:
            job = await jobs.get(one.job.id)
            if job is None or job.status in RESTING:
                break
            await asyncio.sleep(0.2)
        kept = await jobs.result(one.job.id) if one.job else None
        if kept is not None and one.job:
            found = await outcome_of(
                batch.redis, one.named.name, one.job.id, FillReport.model_validate(kept)
            )
            _end(one, found)
