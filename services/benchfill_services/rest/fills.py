"""Fills: asked for here, done by workers."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from ..fill_judge import judge_of
from ..fill_plan import FillPlan, earlier_fills, lower_than, plan_of
from ..jobs.broker import enqueue
from ..jobs.record import FillBudget, FillSpec, Job, JobStatus
from ..store.benchmarks import SLUG
from ..store.daily_budget import promise, take_back
from ..store.events import RedisEvents
from ..store.jobs import UnknownJobError
from ..store.keys import IDEMPOTENT_BODIES
from .auth import Caller
from .blindness import HIDDEN_ERROR, is_blind, without_writer
from .fill_check import checked
from .guarded_route import GuardedRoute, needs
from .pagination import Before, Limit, Page, page
from .problem import FieldError, ProblemError, wrong_field
from .service import Service, ServiceDep

if TYPE_CHECKING:
    from ..store.api_keys import ApiKey

router = APIRouter(prefix="/v1/fills", tags=["fills"], route_class=GuardedRoute)
FillId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="the same key and body again return the fill that was made before",
    ),
]


class Fill(BaseModel):
    """A fill and how far it is. Times are ISO 8601, UTC."""

    model_config = ConfigDict(frozen=True)

    id: str
    spec: FillSpec
    status: JobStatus
    created_at: str
    created_by: str = Field(description="id of the API key, or `anonymous`")
    started_at: str | None
    finished_at: str | None
    updated_at: str
    cancel_requested: bool
    attempts: int = Field(description="how often a worker took it up")
    gap: str | None = Field(description="the gap that is worked on")
    round: int | None = Field(description="its round")
    error: str | None = Field(description="why it failed, one sentence")
    in_flight_lost: int = Field(description="calls that were out when a worker was killed")


class Resume(BaseModel):
    """How a fill goes on."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    budget: FillBudget | None = Field(None, description="instead of the former; not a lower one")


def view(job: Job, caller: ApiKey) -> Fill:
    """Return what a caller is shown of a fill's job."""
    shown = Fill.model_validate(job.model_dump(include=set(Fill.model_fields)))
    if not is_blind(caller):
        return shown
    hidden = {"spec": without_writer(shown.spec), "error": shown.error and HIDDEN_ERROR}
    return shown.model_copy(update=hidden)


@router.post(
    "",
    status_code=202,
    response_model=Fill | FillPlan,
    responses={
        200: {"model": FillPlan, "description": "a dry run"},
        202: {"model": Fill},
    },
    **needs("operator"),
)
async def create_fill(  # noqa: PLR0913, PLR0917 - FastAPI names them
    spec: FillSpec,
    response: Response,
    caller: Caller,
    service: ServiceDep,
    idempotency_key: IdempotencyKey = None,
    dry_run: Annotated[bool, Query(description="say what it would cost, and do nothing")] = False,
) -> Fill | FillPlan:
    """Ask for a fill of a benchmark's gaps; a worker takes it up."""
    bound = f"{caller.id}:{idempotency_key}" if idempotency_key and not dry_run else None
    if bound is not None:
        made = await _made_before(service, bound, spec)
        if made is not None:
            return _accepted(response, made, caller)
    pool = await checked(service, spec)
    # settled now: a fill that waits, or is resumed, keeps its judge whatever the settings become
    judge = judge_of(spec.judge, service.settings.judge, pool)
    spec = spec.model_copy(update={"judge": judge})
    if dry_run:
        response.status_code = 200
        earlier = await earlier_fills(service.redis, service.jobs, spec)
        return await asyncio.to_thread(plan_of, spec, pool, earlier)
    job = await _create(service, spec, caller, bound)
    return _accepted(response, job, caller)


@router.get("", **needs("reader"))
async def list_fills(  # noqa: PLR0913, PLR0917 - FastAPI names them
    caller: Caller,
    service: ServiceDep,
    before: Before,
    limit: Limit = 50,
    benchmark: Annotated[str | None, Query(pattern=SLUG)] = None,
    status: Annotated[JobStatus | None, Query()] = None,
) -> Page[Fill]:
    """List fills, newest first."""
    jobs, following = await service.jobs.list(
        limit=limit, before=before, benchmark=benchmark, status=status
    )
    return page([view(job, caller) for job in jobs], following)


@router.get("/{fill}", **needs("reader"))
async def get_fill(fill: FillId, caller: Caller, service: ServiceDep) -> Fill:
    """Return a fill. Readers and reviewers do not see which model writes."""
    return view(await fill_of(service, fill), caller)


@router.get(
    "/{fill}/report",
    responses={200: {"model": dict[str, Any]}, 409: {"description": "it has no report yet"}},
    **needs("reader"),
)
async def get_report(fill: FillId, caller: Caller, service: ServiceDep) -> dict[str, Any]:
    """Return what came of a fill that rests: see the fields of `benchfill fill --json`."""
    job = await fill_of(service, fill)
    report = await service.jobs.result(fill)
    if report is not None:
        return report
    if job.status == "failed":
        error = view(job, caller).error or "no reason is known"
        said = f"{error.rstrip('.')}; resume it to try again."
        raise ProblemError(409, "not-yet", f"fill {fill} failed without a report: {said}")
    ended = " and never began" if job.status == "cancelled" else "; it has one once it rests"
    raise ProblemError(409, "not-yet", f"fill {fill} has no report: it is {job.status}{ended}.")


@router.post(
    "/{fill}/cancel",
    status_code=202,
    responses={409: {"description": "it has ended"}},
    **needs("operator"),
)
async def cancel_fill(fill: FillId, caller: Caller, service: ServiceDep) -> Fill:
    """Cancel a fill: at once while it waits, within seconds while a worker is at it."""
    await fill_of(service, fill)
    job = await service.jobs.request_cancel(fill)
    if job.status == "cancelled":
        await RedisEvents(service.redis, fill).append("status", {"status": "cancelled"})
    return view(job, caller)


@router.post(
    "/{fill}/resume",
    status_code=202,
    responses={409: {"description": "it does not rest, or is completed"}},
    **needs("operator"),
)
async def resume_fill(
    fill: FillId, caller: Caller, service: ServiceDep, resume: Resume | None = None
) -> Fill:
    """Put a fill that rests back into the queue, with a higher budget if you like."""
    job = await fill_of(service, fill)
    spec = job.spec
    if not isinstance(spec, FillSpec):
        raise TypeError(spec)
    if resume is not None and resume.budget is not None:
        lower = lower_than(resume.budget, spec.budget)
        if lower:
            raise wrong_field("body", f"budget.{lower[0]}", "is lower than before; raise it.")
        spec = spec.model_copy(update={"budget": resume.budget})
    await checked(service, spec)
    await promise(service.redis, caller, fill, spec.budget)
    resumed = await service.jobs.resume(fill, spec.model_dump_json())
    await _queue(service, resumed)
    return view(resumed, caller)


async def fill_of(service: Service, fill: str) -> Job:
    """Return a fill's job. Raises UnknownJobError."""
    job = await service.jobs.get(fill)
    if job is None or job.kind != "fill":
        raise UnknownJobError(f"there is no fill {fill}.")
    return job


async def _made_before(service: Service, bound: str, spec: FillSpec) -> Job | None:
    """Return the fill that the same request made before.

    Raises
    ------
    ProblemError
        The key came with another body then.
    """
    digest = hashlib.sha256(spec.model_dump_json().encode()).hexdigest()
    await service.redis.hsetnx(IDEMPOTENT_BODIES, bound, digest)
    if await service.redis.hget(IDEMPOTENT_BODIES, bound) != digest:
        message = "came with another body before; use a new one for a new fill."
        raise ProblemError(
            422,
            "idempotency-key",
            f"this Idempotency-Key {message}",
            errors=[FieldError(location="header", path="Idempotency-Key", message=message)],
        )
    made = await service.jobs.made_with(bound)
    if made is not None and made.status == "queued":
        # the first request may have died before the job came into the queue
        await enqueue(service.redis, made.id, made.spec.lane)
    return made


async def _create(service: Service, spec: FillSpec, caller: Caller, bound: str | None) -> Job:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    job = Job(
        id=uuid.uuid4().hex,
        kind="fill",
        spec=spec,
        created_at=now,
        updated_at=now,
        created_by=caller.id,
    )
    await promise(service.redis, caller, job.id, spec.budget)
    kept, new = await service.jobs.create(job, idempotency_key=bound)
    if not new:  # the same request came twice at once
        await take_back(service.redis, caller, job.id)
        return await fill_of(service, kept)
    await _queue(service, job)
    return job


async def _queue(service: Service, job: Job) -> None:
    await RedisEvents(service.redis, job.id).append("status", {"status": "queued"})
    await enqueue(service.redis, job.id, job.spec.lane)


def _accepted(response: Response, job: Job, caller: ApiKey) -> Fill:
    response.headers["Location"] = f"/v1/fills/{job.id}"
    return view(job, caller)
