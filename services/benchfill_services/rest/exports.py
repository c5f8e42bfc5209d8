"""A version's files, given back byte for byte.

A cell such as `=1+1` is a legal item id. Spreadsheets would run it, but any mark that stops them
would change the id, and the file would no longer fit its responses; so nothing is defused. The
files are sent as attachments, with `nosniff`, and the text says what they are.
"""

from __future__ import annotations

import io
import zipfile
from asyncio import to_thread
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Response

from ..review.provenance import PROVENANCE, without_writers
from ..store.benchmark_files import ITEMS, RESPONSES
from .auth import Caller
from .benchmarks import BenchmarkId, VersionNumber
from .guarded_route import GuardedRoute, needs
from .problem import ProblemError
from .service import ServiceDep

if TYPE_CHECKING:
    from ..store.benchmark_files import VersionFiles

router = APIRouter(prefix="/v1/benchmarks", tags=["benchmarks"], route_class=GuardedRoute)
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_TEXT = {"schema": {"type": "string"}}
_CONTENT = {"application/zip": _BINARY, "application/jsonl": _TEXT, "text/csv": _TEXT}
_THEN = (1980, 1, 1, 0, 0, 0)  # so that equal content makes equal archives


@router.get(
    "/{benchmark}/versions/{version}/export",
    response_class=Response,
    responses={200: {"content": _CONTENT}},
    **needs("reader"),
)
async def export_version(
    benchmark: BenchmarkId,
    version: VersionNumber,
    caller: Caller,
    service: ServiceDep,
    part: Annotated[
        Literal["all", "items", "responses", "provenance"],
        Query(
            description="items (JSONL), responses (CSV), provenance of merged items (JSONL; 404 "
            "where none was merged), or all of them in a ZIP archive"
        ),
    ] = "all",
) -> Response:
    """Download a version's files as they were given; no cell is changed for spreadsheets.

    Who wrote a merged item is told to operators only, as long as others may be reviewed.
    """
    files = await service.benchmarks.files(benchmark, version)
    if files.provenance is not None and not caller.may("operator"):
        files = replace(files, provenance=without_writers(files.provenance))
    if part == "items":
        content, kind, suffix = files.items, "application/jsonl", "items.jsonl"
    elif part == "responses":
        content, kind, suffix = files.responses, "text/csv", "responses.csv"
    elif part == "provenance":
        if files.provenance is None:
            raise ProblemError(404, "not-found", "no item of this version was merged into it.")
        content, kind, suffix = files.provenance, "application/jsonl", PROVENANCE
    else:
        content, kind, suffix = await to_thread(_zipped, files), "application/zip", "zip"
    name = f"{benchmark}-{version}.{suffix}"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type=kind, headers=headers)


def _zipped(files: VersionFiles) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        held = [(ITEMS, files.items), (RESPONSES, files.responses)]
        held += [(PROVENANCE, files.provenance)] if files.provenance is not None else []
        for name, content in held:
            archive.writestr(zipfile.ZipInfo(name, _THEN), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
