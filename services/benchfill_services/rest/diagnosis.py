"""The diagnosis of a version: made once by a worker, and kept for all versions of equal content."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from ..jobs.broker import enqueue
from ..jobs.record import DiagnosisSpec, Job, JobStatus
from ..store.benchmarks import BenchmarkVersion
from ..store.keys import DIAGNOSES
from .auth import Caller
from .benchmarks import BenchmarkId, VersionNumber, path_of
from .guarded_route import GuardedRoute, needs
from .problem import ProblemError
from .service import Service, ServiceDep

router = APIRouter(prefix="/v1/benchmarks", tags=["benchmarks"], route_class=GuardedRoute)
Engine = Annotated[
    Literal["mcmc", "map"], Query(description="mcmc samples; map is fast, with rougher intervals")
]
MapEngine = Annotated[
    Literal["mcmc", "map"], Query(description="of both diagnoses; map is fast, mcmc samples")
]
_AGAIN_SECONDS = "2"


class DiagnosisPending(BaseModel):
    """A worker has it to do; ask again."""

    status: JobStatus
    created_at: str


class VersionDiagnosis(BaseModel):
    """What was found: see the fields of `benchfill diagnose --json`."""

    benchmark: str
    version: int
    engine: Literal["mcmc", "map"]
    diagnosis: dict[str, Any] = Field(description="as `benchfill diagnose --json` gives it")


_PENDING: dict[int | str, dict[str, Any]] = {
    202: {"model": DiagnosisPending, "description": "a worker has it to do"},
}


@router.get(
    "/{benchmark}/versions/{version}/diagnosis",
    response_model=VersionDiagnosis,
    responses=_PENDING,
    **needs("reader"),
)
async def get_diagnosis(
    benchmark: BenchmarkId,
    version: VersionNumber,
    caller: Caller,
    service: ServiceDep,
    engine: Engine = "mcmc",
) -> VersionDiagnosis | JSONResponse:
    """Return the diagnosis, or 202 while it is being made; the first to ask has it made."""
    found = await service.benchmarks.get(benchmark, version)
    job = await diagnosis_job(service, found, engine, caller.id)
    if job.status in {"queued", "running"}:
        return _pending(job, found, engine)
    result = await service.jobs.result(job.id)
    if job.status != "completed" or result is None:
        raise ProblemError(
            409,
            "diagnosis-failed",
            f"the diagnosis {job.status} ({job.error or 'no reason is known'}); POST to this path "
            "to have it made again.",
        )
    return VersionDiagnosis(benchmark=benchmark, version=version, engine=engine, diagnosis=result)


@router.post(
    "/{benchmark}/versions/{version}/diagnosis",
    status_code=202,
    responses={409: {"description": "it has not failed"}},
    **needs("operator"),
)
async def make_again(
    benchmark: BenchmarkId,
    version: VersionNumber,
    caller: Caller,
    service: ServiceDep,
    engine: Engine = "mcmc",
) -> DiagnosisPending:
    """Have a diagnosis made that failed, or that nobody has asked for."""
    found = await service.benchmarks.get(benchmark, version)
    job = await diagnosis_job(service, found, engine, caller.id)
    if job.status == "completed":
        raise ProblemError(409, "wrong-status", "the diagnosis is made; GET this path for it.")
    if job.status not in {"queued", "running"}:
        # the version it was first asked for may be gone
        job = await service.jobs.resume(job.id, _spec(found, engine).model_dump_json())
        await enqueue(service.redis, job.id, job.spec.lane)
    return DiagnosisPending(status=job.status, created_at=job.created_at)


async def diagnosis_job(service: Service, found: BenchmarkVersion, engine: Engine, who: str) -> Job:
    """Return the job that makes the diagnosis, made now if nobody asked before."""
    place = f"{found.content_hash}:{engine}"
    job_id = uuid.uuid4().hex
    await service.redis.hsetnx(DIAGNOSES, place, job_id)
    job_id = str(await service.redis.hget(DIAGNOSES, place))
    job = await service.jobs.get(job_id)
    if job is not None:
        return job
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    job = Job(
        id=job_id,
        kind="diagnosis",
        spec=_spec(found, engine),
        created_at=now,
        updated_at=now,
        created_by=who,
    )
    # two who ask at once make one job: its id is the same
    await service.jobs.create(job, idempotency_key=f"diagnosis:{job_id}")
    await enqueue(service.redis, job.id, job.spec.lane)
    return job


def _spec(found: BenchmarkVersion, engine: Engine) -> DiagnosisSpec:
    return DiagnosisSpec(benchmark=found.benchmark, version=found.version, engine=engine)


def _pending(job: Job, found: BenchmarkVersion, engine: Engine) -> JSONResponse:
    said = DiagnosisPending(status=job.status, created_at=job.created_at)
    return JSONResponse(
        said.model_dump(),
        202,
        headers={
            "Location": f"{path_of(found)}/diagnosis?engine={engine}",
            "Retry-After": _AGAIN_SECONDS,
        },
    )
