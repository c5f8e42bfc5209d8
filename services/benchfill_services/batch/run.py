"""The jobs of a batch in this process: as many at once as have a turn, each by itself.

A job is held by its lease and works with a ledger of its own, as in a worker; so nothing is lost
or bought twice when this process is killed, and no other process works on the job meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from benchfill.errors import (
    BenchFillError,
    FitError,
    InputError,
    InterruptedRunError,
    ProviderError,
)

from ..fill_job import Desk, Watchers, carry_out, check_names, read_inputs
from ..fill_models import prompt_hashes
from ..jobs.inputs import fit_once
from ..jobs.leasing import LEASE_MS, Holding
from ..observability.redaction import Redactor
from ..review.opening import CaseSource
from ..settings import environment_secrets
from ..store import keys
from ..store.jobs import LeaseLostError
from ..store.ledger import RedisLedgerStore
from ..store.spools import job_ledger
from ..store.usage import RedisUsage, read_usage
from .job_files import PAGE, kept_report, known_job
from .outcome import JobOutcome, end_of, outcome_of
from .turns import Turn, Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill_agents.fill_report import FillReport

    from ..fill_job import FillInputs
    from ..jobs.record import JobStatus
    from ..settings import Settings
    from .common_budget import CommonBudget
    from .job_files import JobReports, KnownJob
    from .jobs_file import Jobs, NamedRequest
    from .outcome import FailureKind
    from .shared_pools import SharedPools
    from .view import BatchView, JobView

_FITS_AT_ONCE = 2  # processes of one thread each
_PATIENCE = LEASE_MS / 1000 + 4  # seconds until the lease of a killed run has ended
_WITHOUT_REDIS = 30.0  # seconds; a server that restarts is back by then


@dataclass(eq=False)
class BatchParts:
    """What the jobs of a batch share."""

    redis: Redis
    settings: Settings
    pools: SharedPools
    budget: CommonBudget
    reports: JobReports
    turns: Turns
    fits: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_FITS_AT_ONCE))


async def run_jobs(jobs: Jobs, parts: BatchParts, view: BatchView) -> tuple[JobOutcome, ...]:
    """Carry out all jobs; when this is cancelled each one ends with what there is.

    No job's failure reaches another: its outcome says what was wrong.
    """
    known = await asyncio.gather(*(_known(one, parts.settings) for one in jobs.jobs))
    _refuse_twins(known)
    await _note_shares(known, parts)
    tasks = [
        asyncio.create_task(_guarded(named, job, parts, shown))
        for named, job, shown in zip(jobs.jobs, known, view.jobs, strict=True)
    ]
    if tasks:
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
    # asked of all of them: Python complains of an error that nobody looked at
    ended = [_outcome(named, task) for named, task in zip(jobs.jobs, tasks, strict=True)]
    outcomes = [one for one in ended if isinstance(one, JobOutcome)]
    for one in ended:
        if isinstance(one, BaseException):
            raise one
    return tuple(outcomes)


def _outcome(named: NamedRequest, task: asyncio.Task[JobOutcome]) -> JobOutcome | BaseException:
    if task.cancelled():  # before it had begun
        return JobOutcome(job=named.name, id=None, end="interrupted")
    return task.exception() or task.result()


async def _known(named: NamedRequest, settings: Settings) -> KnownJob | InputError:
    try:
        return await asyncio.to_thread(known_job, named, settings)
    except InputError as error:
        return error


def _refuse_twins(known: list[KnownJob | InputError]) -> None:
    """Let only the first of jobs that are the same in all that matters begin."""
    first: dict[str, str] = {}
    for place, job in enumerate(known):
        if isinstance(job, InputError):
            continue
        if job.id in first:
            known[place] = InputError(
                f"it is the same fill as {first[job.id]}; give it another seed, or take it out."
            )
        first.setdefault(job.id, job.name)


async def _note_shares(known: Sequence[KnownJob | InputError], parts: BatchParts) -> None:
    """Count what earlier runs of the jobs used before any of them asks for more."""
    for job in known:
        if isinstance(job, InputError):
            continue
        usage = RedisUsage(parts.redis, job.id, "command line")
        await usage.load()
        bought = await read_usage(parts.redis, keys.usage_job(job.id))
        kept = await kept_report(parts.redis, job.id)
        used = max(sum(one.rollouts for one in bought), kept.rollouts_total if kept else 0)
        parts.budget.share(job.id, usage, used_before=used, request=job.request)


async def _guarded(
    named: NamedRequest, job: KnownJob | InputError, parts: BatchParts, view: JobView
) -> JobOutcome:
    """Carry out a job, whatever happens."""
    view.id = None if isinstance(job, InputError) else job.id
    where = (parts.redis, parts.settings)
    try:
        if isinstance(job, InputError):
            outcome = await failed(where, named.name, None, job)
        else:
            outcome = await _turn(job, parts, view)
    except asyncio.CancelledError:
        outcome = JobOutcome(job=named.name, id=view.id, end="interrupted")
    except InterruptedRunError as error:
        outcome = JobOutcome(job=named.name, id=view.id, end="interrupted", error=error.message)
    except Exception as error:
        outcome = await failed(where, named.name, view.id, error)
    view.outcome, view.phase = outcome, "ended"
    return outcome


async def _turn(job: KnownJob, parts: BatchParts, view: JobView) -> JobOutcome:
    done = await kept_report(parts.redis, job.id)
    if done is not None and await parts.reports.is_there(job):
        return await outcome_of(
            parts.redis, job.name, job.id, done, found_done=True, page=f"{job.name}/{PAGE}"
        )
    async with Turn(parts.turns) as turn:
        view.phase = "fitting"
        await asyncio.to_thread(check_names, job.request)
        async with _held(parts.redis, job) as holding:
            inputs = await _inputs(job, parts)
            view.phase = "working"
            if done is None:
                report = await _hold(job, inputs, parts, (turn, holding))
            else:
                report = done
    page = None
    if end_of(report) != "interrupted":
        await parts.reports.write(job, report, inputs)
        page = f"{job.name}/{PAGE}"
    return await outcome_of(
        parts.redis, job.name, job.id, report, found_done=done is not None, page=page
    )


async def _inputs(job: KnownJob, parts: BatchParts) -> FillInputs:
    request = job.request
    async with parts.fits:
        await fit_once(request.items, request.responses, "mcmc", request.seed, parts.settings)
    return await asyncio.to_thread(read_inputs, request, parts.settings.data_dir)


@asynccontextmanager
async def _held(redis: Redis, job: KnownJob) -> AsyncIterator[Holding]:
    """Hold the job's lease; the one of a killed run ends after some seconds.

    Raises
    ------
    InputError
        Another process works on it.
    """
    until = asyncio.get_running_loop().time() + _PATIENCE
    hand_back = threading.Event()  # never: nobody else would take the job up
    while (
        holding := await Holding.take(redis, job.id, hand_back, patience=_WITHOUT_REDIS)
    ) is None:
        if asyncio.get_running_loop().time() > until:
            raise InputError(
                "another benchfill process works on this job; run the batch again when it is done."
            )
        await asyncio.sleep(0.5)
    task = asyncio.current_task()
    keeping = asyncio.create_task(holding.keep(task)) if task is not None else None
    try:
        yield holding
    finally:
        if keeping is not None:
            keeping.cancel()
        if not holding.lost:
            await holding.lease.release()


async def _hold(
    job: KnownJob, inputs: FillInputs, parts: BatchParts, held: tuple[Turn, Holding]
) -> FillReport:
    (turn, holding), request, redis = held, job.request, parts.redis
    share = parts.budget.of(job.id)
    store = RedisLedgerStore(redis, share.usage, job.id)
    token = holding.lease.token
    async with job_ledger(parts.settings.data_dir, redis, store, job.id, token) as ledger:
        desk = Desk(
            redis,
            ledger,
            share.usage,
            token,
            holding.permit,
            opener=partial(parts.pools.open_runner, before=turn.permit),
            allowance=share,
            data_dir=parts.settings.data_dir,
        )
        source = CaseSource(
            job=job.id,
            benchmark=request.items.stem,
            version=None,
            items_sha256=job.inputs[str(request.items)],
            responses_sha256=job.inputs[str(request.responses)],
            writer=None,
            prompts=prompt_hashes(request, inputs.pool),
        )
        watchers = Watchers(on_message=lambda target, *_: turn.begins(target.id))
        report = (await carry_out(request, inputs, source, desk, watchers)).report
    if isinstance(holding.error, LeaseLostError):
        raise InputError("another benchfill process took this job over; it goes on there.")
    if holding.error is not None:
        raise holding.error
    end = end_of(report)
    if end != "interrupted":
        rests: JobStatus = "completed" if end == "completed" else "budget_exhausted"
        await holding.lease.finish(rests, report.model_dump(mode="json"), "")
    return report


async def failed(
    parts: tuple[Redis, Settings], name: str, job: str | None, error: Exception
) -> JobOutcome:
    """Say what an error makes of a job; the traceback of a bug is kept in the data folder."""
    redis, settings = parts
    causes = list(_flat(error))
    said = next((one for one in causes if isinstance(one, BenchFillError)), None)
    kind: FailureKind = "bug"
    if isinstance(said, InputError | FitError):
        kind = "input"
    elif said is not None:
        kind = "provider" if isinstance(said, ProviderError) else "input"
    if said is None:
        path = await asyncio.to_thread(_keep_traceback, error, settings.data_dir)
        bug = type(causes[0]).__name__
        told = f"this is a bug of BenchFill ({bug}); please report it with {path}."
    else:
        told = said.message
    used = await read_usage(redis, keys.usage_job(job)) if job else ()
    return JobOutcome(
        job=name,
        id=job,
        end="failed",
        failure=kind,
        error=told,
        rollouts=sum(one.rollouts for one in used),
        usd=sum(one.cost for one in used),
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in used),
        unpriced=sum(one.unpriced for one in used),
    )


def _keep_traceback(error: Exception, data_dir: Path) -> Path:
    """Keep it for whoever mends the bug; the file is meant to be passed on."""
    path = data_dir / f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S-%f}.log"
    said = "".join(traceback.format_exception(error))
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Redactor(environment_secrets()).text(said), encoding="utf-8")
    return path


def _flat(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [one for part in error.exceptions for one in _flat(part)]
    return [error]
