"""One job, from taking it up to recording how it ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import structlog
from filelock import AsyncFileLock
from redis.exceptions import RedisError, ResponseError
from structlog.contextvars import bound_contextvars

import benchfill as bf
from benchfill.errors import BenchFillError, InputError, InterruptedRunError
from benchfill_agents.messages import CalibrationRound
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.providers import refuse_providers_elsewhere

from ..fill_job import (
    Desk,
    FillRequest,
    Watchers,
    carry_out,
    fit_files,
    fit_request,
    read_inputs,
    writer,
)
from ..observability.traces import span
from ..review.opening import CaseSource
from ..store import keys
from ..store.benchmark_files import ITEMS, RESPONSES
from ..store.benchmarks import RedisBenchmarks, materialise
from ..store.events import RedisEvents
from ..store.fits import fit_path
from ..store.jobs import LeaseLostError, RedisJobs
from ..store.ledger import RedisLedgerStore
from ..store.spools import job_ledger
from ..store.usage import RedisUsage
from .fit_process import fit_apart
from .leasing import HandedBackError, Holding
from .record import RESTING, FillSpec

if TYPE_CHECKING:
    import threading

    from redis.asyncio import Redis

    from benchfill.onepl import Engine
    from benchfill_agents.fill_report import FillReport
    from benchfill_agents.pool.rollouts import Progress
    from benchfill_agents.target import FillTarget

    from ..settings import Settings
    from .record import Job, JobStatus

MOST_ATTEMPTS = 50
"""A job that was taken up so often takes its workers down with it."""
_EVERY = 0.5  # seconds between two events of rollouts
_log = structlog.get_logger(__name__)

Ended = Literal["ended", "busy", "handed_back", "left"]


@dataclass(frozen=True)
class End:
    """How the work on a job ended."""

    status: JobStatus
    result: dict[str, Any] | None = None
    error: str = ""


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
    job = await _begin(redis, job_id, holding)
    if job is None:
        return "ended"
    events = RedisEvents(redis, job_id)
    await events.append("status", {"status": "running", "attempt": job.attempts})
    work: asyncio.Task[End] = asyncio.create_task(
        _fill(job, redis, settings, holding)
        if isinstance(job.spec, FillSpec)
        else _diagnose(job, redis, settings)
    )
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
    await holding.lease.finish(end.status, end.result, end.error)
    await events.append("status", {"status": end.status, "error": end.error or None})
    _log.info("job ended", job=job_id, status=end.status, error=end.error or None)
    return "ended"


async def _begin(redis: Redis, job_id: str, holding: Holding) -> Job | None:
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
        return _meaning(error, job)
    if end.status == "cancelled" and not holding.cancelled:
        return "left" if holding.lost else "handed_back"
    return end


def _meaning(error: Exception, job: Job) -> End | Literal["handed_back", "left"]:
    causes = list(_flat(error))
    if any(isinstance(one, LeaseLostError) or _is_fenced(one) for one in causes):
        return "left"
    if any(isinstance(one, HandedBackError) for one in causes):
        return "handed_back"
    if any(isinstance(one, RedisError | InterruptedRunError) for one in causes):
        _log.warning("redis was lost", job=job.id, error=str(error))
        return "left"
    said = next((one for one in causes if isinstance(one, BenchFillError)), None)
    if said is not None:
        return End("failed", error=_without_paths(said))
    _log.error("job failed", job=job.id, exc_info=error)
    name = type(causes[0]).__name__
    return End("failed", error=f"an error of BenchFill itself ({name}); its log says more.")


def _without_paths(error: BenchFillError) -> str:
    """Leave out of a sentence where this machine keeps its files."""
    if isinstance(error, InputError) and error.source is not None:
        return error.message.replace(error.source, Path(error.source).name)
    return error.message


def _flat(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [one for part in error.exceptions for one in _flat(part)]
    found = [error]
    if error.__cause__ is not None:
        found += _flat(error.__cause__)
    return found


def _is_fenced(error: BaseException) -> bool:
    return isinstance(error, ResponseError) and str(error).startswith("FENCED")


async def _fill(job: Job, redis: Redis, settings: Settings, holding: Holding) -> End:
    spec = job.spec
    if not isinstance(spec, FillSpec):
        raise TypeError(spec)
    folder = await _benchmark_folder(redis, settings, spec.benchmark, spec.version)
    pool = await _pinned_pool(redis, settings, job, holding)
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
        calibration=spec.calibration,
        min_p_in_gap=spec.min_p_in_gap,
        budget_rollouts=spec.budget.rollouts,
        budget_tokens=spec.budget.tokens,
        budget_usd=spec.budget.usd,
        anchors=spec.anchors,
        seed=spec.seed,
    )
    await _fit_apart(request.items, request.responses, "mcmc", spec.seed, settings)
    inputs = await asyncio.to_thread(read_inputs, request, settings.data_dir)
    usage = RedisUsage(redis, job.id, job.created_by)
    store = RedisLedgerStore(redis, usage, job.id)
    async with (
        job_ledger(settings.data_dir, redis, store, job.id, holding.lease.token) as ledger,
        _Watch(redis, job, holding) as watch,
    ):
        desk = Desk(redis, ledger, usage, holding.lease.token, holding.permit)
        watchers = Watchers(watch.message, watch.rollouts)
        asked = writer(request, inputs.pool, inputs.fit)
        source = CaseSource(
            job=job.id,
            benchmark=spec.benchmark,
            version=spec.version,
            items_sha256=version.items_sha256,
            responses_sha256=version.responses_sha256,
            writer=asked.name if asked else None,
            prompts={},
        )
        outcome = await carry_out(request, inputs, source, desk, watchers)
    return End(_status(outcome.report), outcome.report.model_dump(mode="json"))


def _status(report: FillReport) -> JobStatus:
    statuses = {fill.status for fill in report.fills}
    if "interrupted" in statuses:
        return "cancelled"
    return "budget_exhausted" if "budget_exhausted" in statuses else "completed"


async def _diagnose(job: Job, redis: Redis, settings: Settings) -> End:
    spec = job.spec
    if isinstance(spec, FillSpec):
        raise TypeError(spec)
    folder = await _benchmark_folder(redis, settings, spec.benchmark, spec.version)
    items, responses = folder / ITEMS, folder / RESPONSES
    await _fit_apart(items, responses, spec.engine, spec.seed, settings)

    def diagnose() -> dict[str, Any]:
        fit = fit_files(
            items, responses, engine=spec.engine, seed=spec.seed, data_dir=settings.data_dir
        )
        return bf.diagnose(fit).model_dump(mode="json")

    return End("completed", await asyncio.to_thread(diagnose))


async def _benchmark_folder(redis: Redis, settings: Settings, benchmark: str, version: int) -> Path:
    found = await RedisBenchmarks(redis).get(benchmark, version)
    return await materialise(redis, settings.data_dir, found)


async def _fit_apart(
    items: Path, responses: Path, engine: Engine, seed: int, settings: Settings
) -> None:
    """Make the fit in another process, unless it is kept: sampling would hold up all other jobs."""
    request = await asyncio.to_thread(fit_request, items, responses, engine=engine, seed=seed)
    path = fit_path(settings.data_dir, request)
    path.parent.mkdir(parents=True, exist_ok=True)
    # a lock beside that of the fit itself: who waits here has not started a process yet
    async with AsyncFileLock(f"{path}.turn", poll_interval=0.2):
        if path.exists():
            return
        await fit_apart(
            {
                "items": str(items),
                "responses": str(responses),
                "engine": engine,
                "seed": seed,
                "data_dir": str(settings.data_dir),
            }
        )


async def _pinned_pool(redis: Redis, settings: Settings, job: Job, holding: Holding) -> Path:
    """Write down the pool as it was when the job began, so that a resumed job asks the same."""
    pool = job.spec.pool if isinstance(job.spec, FillSpec) else ""
    text = await redis.hget(keys.job(job.id), "pool_text")
    if text is None:
        if settings.pools_dir is None:
            raise InputError(
                "the worker that took it up has no pools; start it with --pools, and resume the "
                "fill."
            )
        path = settings.pools_dir / f"{pool}.yaml"
        if not path.is_file():
            raise InputError(
                f"the worker that took it up has no pool {pool!r}; add {pool}.yaml to its pools, "
                "and resume the fill."
            )
        text = path.read_text(encoding="utf-8-sig")
        await holding.lease.update({"pool_text": text})
    folder = settings.data_dir / "jobs" / job.id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{holding.lease.token}.yaml"
    path.write_text(str(text), encoding="utf-8")
    return path


class _Watch:
    """Turns what a fill tells into events, and into the job's record; in order, in one task."""

    def __init__(self, redis: Redis, job: Job, holding: Holding) -> None:
        self._events = RedisEvents(redis, job.id)
        self._lease = holding.lease
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        self._said = 0.0
        self._gap = ""

    async def __aenter__(self) -> _Watch:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._waiting.put_nowait(None)
        await self._task

    def message(self, target: FillTarget, author: str, content: Any) -> None:
        """Note what an agent said."""
        self._gap = target.id
        data = {
            "gap": target.id,
            "round": content.round,
            "author": author,
            "kind": type(content).__name__.lower(),
            "text": content.summary(),
        }
        if isinstance(content, CalibrationRound):
            data["chosen"] = content.chosen
        self._waiting.put_nowait(("message", data))

    def rollouts(self, state: Progress) -> None:
        """Note that answers arrived, now and then and at the end of each batch."""
        now = asyncio.get_running_loop().time()
        if state.done < state.total and now - self._said < _EVERY:
            return
        self._said = now
        self._waiting.put_nowait(
            (
                "rollouts",
                {
                    "gap": self._gap or None,
                    "total": state.total,
                    "from_ledger": state.from_ledger,
                    "received": state.received,
                    "failed": state.failed,
                },
            )
        )

    async def _write(self) -> None:
        while (one := await self._waiting.get()) is not None:
            kind, data = one
            try:
                await self._events.append(kind, data)
                if kind == "message":
                    await self._lease.update({"gap": data["gap"], "round": str(data["round"])})
            except (RedisError, LeaseLostError) as error:
                # events are for listeners; what the job needs is kept elsewhere
                _log.warning("event not kept", kind=kind, error=str(error))
