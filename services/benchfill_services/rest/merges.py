"""Approved candidates become a new version of their benchmark; the old ones stay."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter, Response

from ..review.merging import Candidates, candidates_for, merge
from ..review.provenance import Content
from ..store.benchmark_files import checked_files
from ..store.benchmarks import BenchmarkVersion
from .auth import Caller
from .benchmarks import BenchmarkId, VersionNumber, path_of
from .diagnosis import diagnosis_job
from .guarded_route import GuardedRoute, needs
from .service import ServiceDep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .service import Service

router = APIRouter(prefix="/v1/benchmarks", tags=["benchmarks"], route_class=GuardedRoute)


@router.post(
    "/{benchmark}/versions/{version}/merge",
    status_code=201,
    responses={
        200: {"model": BenchmarkVersion, "description": "there is a version of this content"},
        409: {"description": "nothing is approved, nothing is new, or nothing may enter"},
    },
    **needs("operator"),
)
async def merge_approved(
    benchmark: BenchmarkId,
    version: VersionNumber,
    response: Response,
    caller: Caller,
    service: ServiceDep,
) -> BenchmarkVersion:
    """Make a version with the approved candidates behind the items of this one; diagnose it.

    Sent again it makes no second version of the same content. Candidates enter that were made for
    this version or one that it descends from.
    """
    parent = await service.benchmarks.get(benchmark, version)
    found = await _candidates(service, parent)
    files = await service.benchmarks.files(benchmark, version)
    done = await merge(service.desk, files, _content(parent), found)
    checked = await asyncio.to_thread(
        checked_files, done.files.items, done.files.responses, done.files.provenance
    )
    made, new = await service.benchmarks.merge_version(checked, parent, created_by=caller.id)
    await diagnosis_job(service, made, "mcmc", caller.id)
    response.status_code = 201 if new else 200
    response.headers["Location"] = path_of(made)
    return made


async def _candidates(service: Service, parent: BenchmarkVersion) -> Candidates:
    versions = await service.benchmarks.versions(parent.benchmark)
    contents = {_content(one) for one in _descent(parent, versions)}
    return await candidates_for(service.desk, contents, benchmark=parent.benchmark)


def _descent(
    version: BenchmarkVersion, versions: Sequence[BenchmarkVersion]
) -> list[BenchmarkVersion]:
    """Return a version and all that it was made from; each has a lower number than its child."""
    numbered = {one.version: one for one in versions}
    found = [version]
    while (parent := numbered.get(found[-1].parent_version or 0)) is not None:
        found.append(parent)
    return found


def _content(version: BenchmarkVersion) -> Content:
    return Content(items_sha256=version.items_sha256, responses_sha256=version.responses_sha256)
