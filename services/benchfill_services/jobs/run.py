"""One job, from taking it up to recording how it ended."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import structlog
from structlog.contextvars import bound_contextvars

import benchfill as bf
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.providers import refuse_providers_elsewhere

from ..fill_job import Desk, Watchers, carry_out, fit_files, read_inputs
from ..fill_judge import NOBODY
from ..fill_models import prompt_hashes, writer
from ..fill_request import FillRequest
from ..observability.traces import span
from ..review.failure import tell_failure
from ..review.opening import CaseSource, note_of
from ..store.benchmark_files import ITEMS, RESPONSES
from ..store.benchmarks import RedisBenchmarks
from ..store.events import RedisEvents
from ..store.jobs import LeaseLostError, RedisJobs
from ..store.ledger import RedisLedgerStore
from ..store.spools import job_ledger
from ..store.usage import RedisUsage
from .answer import answer
from .end import End, meaning
from .inputs import benchmark_folder, fit_once, pinned_pool
from .leasing import Holding
from .record import RESTING, DiagnosisSpec, FillSpec
from .revision import revise
from .watch import Watch

if TYPE_CHECKING:
    import threading

    from redis.asyncio import Redis

    from benchfill_agents.fill_report import FillReport
    from benchfill_agents.pool.config import PoolModel

    from ..settings import Settings
    from .record import Job, JobStatus

MOST_ATTEMPTS = 50
"""A job that was taken up so often takes its workers down with it."""
_log = structlog.get_logger(__name__)

Ended = Literal["ended", "busy", "handed_back", "left"]


async def work_on(
    redis: Redis, settings: Settings, job_id: str, hand_back: threading.Event
) -> Ended:
    """Work on a job until it ends, or this worker has to.

    Returns
    -------
    Ended
        ``busy``: another worker has it. ``handed_back``: it is queued again. ``left``: the lease or
        Redis was lost; somebody will find the job and go on.
    """
    holding = await Holding.take(redis, job_id, hand_back)
    if holding is None:
        job = await RedisJobs(redis).get(job_id)
        return "ended" if job is None or job.status in RESTING else "busy"
    try:
        carrier = await RedisJobs(redis).carrier(job_id)
        with span("job", carrier=carrier, job=job_id), bound_contextvars(job=job_id):
            return await _hold(redis, settings, job_id, holding)
    except LeaseLostError:
        _log.warning("lease lost", job=job_id)
        return "left"
    finally:
        if not holding.lost:
            await holding.lease.release()


async def _hold(redis: Redis, settings: Settings, job_id: str, holding: Holding) -> Ended:
    job = await _begin(redis, settings, job_id, holding)
    if job is None:
        return "ended"
    events = RedisEvents(redis, job_id)
    await events.append("status", {"status": "running", "attempt": job.attempts})
    work: asyncio.Task[End] = asyncio.create_task(_work(job, redis, settings, holding))
    keeping = asyncio.create_task(holding.keep(work))
    try:
        end = await _end_of(work, holding, job)
    finally:
        keeping.cancel()
    if not isinstance(end, End):
        if end == "handed_back":
            await holding.lease.update({}, status="queued", expected=("running",))
            await events.append("status", {"status": "queued"})
        return end
    if end.status != "completed":
        await tell_failure(redis, settings.reviews_needed, job, end.told)
    await holding.lease.finish(end.status, end.result, end.error)
    await events.append("status", {"status": end.status, "error": end.error or None})
    _log.info("job ended", job=job_id, status=end.status, error=end.error or None)
    return "ended"


async def _work(job: Job, redis: Redis, settings: Settings, holding: Holding) -> End:
    if isinstance(job.spec, FillSpec):
        return await _fill(job, redis, settings, holding)
    if isinstance(job.spec, DiagnosisSpec):
        return await _diagnose(job.spec, redis, settings)
    if job.kind == "revision":
        return await revise(job, job.spec, redis, settings, holding)
    return await answer(job, job.spec, redis, settings, holding)


async def _begin(redis: Redis, settings: Settings, job_id: str, holding: Holding) -> Job | None:
    """Note that the job is taken up; None when there is nothing to do."""
    jobs = RedisJobs(redis)
    job = await jobs.get(job_id)
    if job is None:
        return None
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    begun = await holding.lease.update(
        {"started_at": job.started_at or now, "attempts": str(job.attempts + 1)},
        status="running",
        expected=("queued", "running"),
    )
    if not begun:
        return None
    if job.attempts >= MOST_ATTEMPTS:
        said = f"it was taken up {job.attempts} times and never ended; resume it to try again."
        told = "it never came to an end; an operator finds out why in the log."
        await tell_failure(redis, settings.reviews_needed, job, told)
        await holding.lease.finish("failed", None, said)
        await RedisEvents(redis, job_id).append("status", {"status": "failed", "error": said})
        return None
    _log.info("job taken up", job=job_id, kind=job.kind, attempt=job.attempts + 1)
    return await jobs.get(job_id)


async def _end_of(
    work: asyncio.Task[End], holding: Holding, job: Job
) -> End | Literal["handed_back", "left"]:
    """Wait for the work, and say what its end means for the job."""
    try:
        end = await work
    except asyncio.CancelledError:
        if holding.cancelled:
            return End("cancelled")
        if holding.lost:
            return "left"
        raise
    except Exception as error:  # whatever it is must not take the worker down
        return meaning(error, job)
    # a fill that was interrupted says so itself, whoever interrupted it
    if end.status == "cancelled" and isinstance(job.spec, FillSpec) and not holding.cancelled:
        return "left" if holding.lost else "handed_back"
    return end


async def _fill(job: Job, redis: Redis, settings: Settings, holding: Holding) -> End:
    spec = job.spec
    if not isinstance(spec, FillSpec):
        raise TypeError(spec)
    folder = await benchmark_folder(redis, settings, spec.benchmark, spec.version)
    pool = await pinned_pool(redis, settings, job, holding)
    version = await RedisBenchmarks(redis).get(spec.benchmark, spec.version)
    if version.local_only:
        refuse_providers_elsewhere(read_pool(pool), version.benchmark)
    request = FillRequest(
        items=folder / ITEMS,
        responses=folder / RESPONSES,
        pool=pool,
        out=folder,
        max_gaps=spec.max_gaps,
        include_unresolved=spec.include_unresolved,
        at=spec.at,
        rounds=spec.rounds,
        rewriter=spec.rewriter,
        writer=spec.writer,
        judge=None if spec.judge == NOBODY else spec.judge,
        calibration=spec.calibration,
        min_p_in_gap=spec.min_p_in_gap,
        budget_rollouts=spec.budget.rollouts,
        budget_tokens=spec.budget.tokens,
        budget_usd=spec.budget.usd,
        anchors=spec.anchors,
        seed=spec.seed,
    )
    await fit_once(request.items, request.responses, "mcmc", spec.seed, settings)
    inputs = await asyncio.to_thread(read_inputs, request, settings.data_dir)
    usage = RedisUsage(redis, job.id, job.created_by)
    store = RedisLedgerStore(redis, usage, job.id)
    async with (
        job_ledger(settings.data_dir, redis, store, job.id, holding.lease.token) as ledger,
        Watch(redis, job, holding) as watch,
    ):
        desk = Desk(
            redis,
            ledger,
            usage,
            holding.lease.token,
            holding.permit,
            data_dir=settings.data_dir,
        )
        watchers = Watchers(watch.message, watch.rollouts)
        asked = writer(request, inputs.pool, inputs.fit)
        source = CaseSource(
            job=job.id,
            benchmark=spec.benchmark,
            version=spec.version,
            items_sha256=version.items_sha256,
            responses_sha256=version.responses_sha256,
            writer=asked.name if asked is not None and _can_talk(asked, spec) else None,
            prompts=prompt_hashes(request, inputs.pool),
            matrix_names={model.name: model.response_name for model in inputs.pool.models},
            seed=spec.seed,
        )
        # for candidates that come under review later; REST has no fit to see who is the ablest
        await holding.lease.update(note_of(source))
        outcome = await carry_out(request, inputs, source, desk, watchers)
    return End(_status(outcome.report), outcome.report.model_dump(mode="json"))


def _can_talk(model: PoolModel, spec: FillSpec) -> bool:
    """Whether reviewers may ask it: a chat model, or one that was chosen to write all the same."""
    return model.writes or spec.rewriter == "llm"


def _status(report: FillReport) -> JobStatus:
    statuses = {fill.status for fill in report.fills}
    if "interrupted" in statuses:
        return "cancelled"
    return "budget_exhausted" if "budget_exhausted" in statuses else "completed"


async def _diagnose(spec: DiagnosisSpec, redis: Redis, settings: Settings) -> End:
    folder = await benchmark_folder(redis, settings, spec.benchmark, spec.version)
    items, responses = folder / ITEMS, folder / RESPONSES
    await fit_once(items, responses, spec.engine, spec.seed, settings)

    def diagnose() -> dict[str, Any]:
        fit = fit_files(
            items, responses, engine=spec.engine, seed=spec.seed, data_dir=settings.data_dir
        )
        return bf.diagnose(fit).model_dump(mode="json")

    return End("completed", await asyncio.to_thread(diagnose))
