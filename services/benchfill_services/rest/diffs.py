"""What changed from one version of a benchmark to another."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path
from pydantic import Field

import benchfill as bf

from ..jobs.record import JobStatus
from ..review.diff import VersionDiff, VersionSide, diff_of
from ..review.provenance import read_provenance, without_writers
from ..store.benchmark_files import ITEMS, RESPONSES
from ..store.benchmarks import materialise
from .auth import Caller
from .benchmarks import BenchmarkId, VersionNumber
from .diagnosis import MapEngine, diagnosis_job
from .guarded_route import GuardedRoute, needs
from .service import ServiceDep

if TYPE_CHECKING:
    import pathlib

    from .service import Service

router = APIRouter(prefix="/v1/benchmarks", tags=["benchmarks"], route_class=GuardedRoute)
OtherVersion = Annotated[int, Path(ge=1, le=10**9, description="the later version")]


class ComparedVersions(VersionDiff):
    """From one version to another."""

    benchmark: str
    before: int
    after: int
    diagnoses: dict[str, JobStatus] = Field(
        description="how far the diagnoses of `before` and `after` are; measures need both"
    )


@router.get("/{benchmark}/versions/{version}/diff/{other}", **needs("reader"))
async def get_diff(  # noqa: PLR0913, PLR0917 - FastAPI names them
    benchmark: BenchmarkId,
    version: VersionNumber,
    other: OtherVersion,
    caller: Caller,
    service: ServiceDep,
    engine: MapEngine = "map",
) -> ComparedVersions:
    """Compare a version with another; measures come once a worker has diagnosed both."""
    sides, statuses = [], {}
    for name, number in (("before", version), ("after", other)):
        found = await service.benchmarks.get(benchmark, number)
        job = await diagnosis_job(service, found, engine, caller.id)
        folder = await materialise(service.redis, service.settings.data_dir, found)
        origins = (await service.benchmarks.files(benchmark, number)).provenance or b""
        if not caller.may("operator"):
            origins = without_writers(origins)
        side = await asyncio.to_thread(_side, folder, origins)
        sides.append(replace(side, diagnosis=await _diagnosis(service, job.id)))
        statuses[name] = job.status
    compared = await asyncio.to_thread(diff_of, *sides)
    return ComparedVersions(
        **dict(compared),
        benchmark=benchmark,
        before=version,
        after=other,
        diagnoses=statuses,
    )


def _side(folder: pathlib.Path, provenance: bytes) -> VersionSide:
    return VersionSide(
        bf.read_items(folder / ITEMS),
        bf.read_responses(folder / RESPONSES),
        read_provenance(provenance),
    )


async def _diagnosis(service: Service, job: str) -> bf.Diagnosis | None:
    result = await service.jobs.result(job)
    return None if result is None else bf.Diagnosis.model_validate(result)
