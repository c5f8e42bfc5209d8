"""Benchmarks and their versions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from ..store.benchmarks import SLUG, BenchmarkVersion
from .auth import Caller
from .benchmark_upload import (
    NewBenchmark,
    NewBenchmarkJson,
    NewVersion,
    NewVersionJson,
    read_upload,
    request_body,
)
from .guarded_route import GuardedRoute, needs
from .pagination import Before, Limit, Page, page
from .problem import ProblemError
from .service import ServiceDep

router = APIRouter(prefix="/v1/benchmarks", tags=["benchmarks"], route_class=GuardedRoute)
BenchmarkId = Annotated[str, Path(pattern=SLUG)]
VersionNumber = Annotated[int, Path(ge=1, le=10**9)]


@router.post(
    "",
    status_code=201,
    openapi_extra={
        **needs("operator")["openapi_extra"],
        "requestBody": request_body(NewBenchmark, NewBenchmarkJson),
    },
    responses={
        409: {"description": "there is one of this id"},
        415: {"description": "wrong media type"},
    },
)
async def create_benchmark(
    request: Request, response: Response, caller: Caller, service: ServiceDep
) -> BenchmarkVersion:
    """Create a benchmark from items and responses, which make its first version."""
    said, checked = await read_upload(request, NewBenchmark, NewBenchmarkJson)
    made = await service.benchmarks.create(
        checked,
        name=said.name,
        benchmark=said.id,
        local_only=said.local_only,
        created_by=caller.id,
    )
    response.headers["Location"] = path_of(made)
    return made


@router.get("", **needs("reader"))
async def list_benchmarks(
    service: ServiceDep, before: Before, limit: Limit = 50
) -> Page[BenchmarkVersion]:
    """List benchmarks by their last versions, newest first."""
    return page(*await service.benchmarks.list(limit=limit, before=before))


@router.get("/{benchmark}", **needs("reader"))
async def get_benchmark(benchmark: BenchmarkId, service: ServiceDep) -> BenchmarkVersion:
    """Return a benchmark's last version."""
    return await service.benchmarks.get(benchmark)


@router.delete("/{benchmark}", status_code=204, **needs("admin"))
async def delete_benchmark(benchmark: BenchmarkId, service: ServiceDep) -> None:
    """Delete a benchmark with all versions. What its fills found stays with the fills."""
    for status in ("queued", "running"):
        working, _ = await service.jobs.list(limit=1, benchmark=benchmark, status=status)
        if working:
            raise ProblemError(
                409,
                "in-use",
                f"fill {working[0].id} of this benchmark is {status}; cancel it first.",
            )
    await service.benchmarks.delete(benchmark)


@router.get("/{benchmark}/versions", **needs("reader"))
async def list_versions(
    benchmark: BenchmarkId, service: ServiceDep, before: Before, limit: Limit = 50
) -> Page[BenchmarkVersion]:
    """List the versions of a benchmark, newest first."""
    versions = [
        one
        for one in reversed(await service.benchmarks.versions(benchmark))
        if before is None or one.version < before
    ]
    following = versions[limit - 1].version if len(versions) > limit else None
    return page(versions[:limit], following)


@router.post(
    "/{benchmark}/versions",
    status_code=201,
    openapi_extra={
        **needs("operator")["openapi_extra"],
        "requestBody": request_body(NewVersion, NewVersionJson),
    },
    responses={415: {"description": "wrong media type"}},
)
async def add_version(
    benchmark: BenchmarkId,
    request: Request,
    response: Response,
    caller: Caller,
    service: ServiceDep,
) -> BenchmarkVersion:
    """Add a version to a benchmark."""
    await service.benchmarks.get(benchmark)  # before the files are read and checked
    said, checked = await read_upload(request, NewVersion, NewVersionJson)
    made = await service.benchmarks.add_version(
        benchmark,
        checked,
        parent_version=said.parent_version,
        local_only=said.local_only,
        created_by=caller.id,
    )
    response.headers["Location"] = path_of(made)
    return made


@router.get("/{benchmark}/versions/{version}", **needs("reader"))
async def get_version(
    benchmark: BenchmarkId, version: VersionNumber, service: ServiceDep
) -> BenchmarkVersion:
    """Return a version of a benchmark."""
    return await service.benchmarks.get(benchmark, version)


def path_of(version: BenchmarkVersion) -> str:
    """Return where a version is found."""
    return f"/v1/benchmarks/{version.benchmark}/versions/{version.version}"
