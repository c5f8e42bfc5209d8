"""Which benchmarks a suite needs: scores in, the whole analysis out, nothing kept."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import importlib.metadata
import json
from email.message import Message
from typing import Annotated, Any, Literal
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData, UploadFile

from benchfill.suite.result import SuiteAnalysis

from ..jobs.suite_process import (
    LATER_FILE,
    RESPONSES_FILES,
    SCORES_FILE,
    TooMuchWorkError,
    analyse_apart,
)
from ..store.benchmark_files import LONGEST_ID
from .benchmark_upload import form_fields, json_body, one_file, validated
from .guarded_route import GuardedRoute, needs
from .problem import ProblemError, wrong_field

router = APIRouter(prefix="/v1/suites", tags=["suites"], route_class=GuardedRoute)

MOST_MODELS, MOST_BENCHMARKS, MOST_REPLICATES = 10_000, 100, 1_000
MOST_RESPONSES = 20  # files
AT_ONCE, WAITING = 2, 8  # analyses of this process
SCHEMA_VERSION = 1
_FIELD_BYTES = 65_536
_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
_Score = Annotated[float, Field(ge=-1e12, le=1e12)]


class _Asked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    frontier: float = Field(0.5, gt=0, le=1, description="share of the models, best first")
    select: int | None = Field(None, ge=1, le=MOST_BENCHMARKS, description="benchmarks to keep")
    coverage: float | None = Field(
        None, gt=0, le=1, description="share of the suite to be told, if `select` is not given"
    )
    missing: Literal["complete", "pairwise"] = "complete"
    constant: float | None = Field(None, gt=0, le=1e6, description="C of the blind spot's bound")
    replicates: int = Field(200, ge=20, le=MOST_REPLICATES, description="resamples of the models")
    seed: int = Field(0, ge=0, le=2**31)


class SuiteForm(_Asked):
    """What is asked beside the files `scores`, `later` and `responses`."""

    columns: str | None = Field(
        None, description="columns that are benchmarks, commas between; else by their content"
    )
    outside: str | None = Field(None, description="columns outside the suite, commas between")


class ModelScores(BaseModel):
    """A model and its scores, in the order of `benchmarks`; null where one is missing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: _Name
    scores: list[_Score | None] = Field(min_length=1, max_length=MOST_BENCHMARKS)


class SentScores(BaseModel):
    """A table of scores."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmarks: list[_Name] = Field(min_length=1, max_length=MOST_BENCHMARKS)
    scores: list[ModelScores] = Field(min_length=1, max_length=MOST_MODELS)


class SuiteJson(_Asked, SentScores):
    """Scores as one JSON object."""

    later: SentScores | None = Field(None, description="scores of a later date")
    outside: list[_Name] = Field([], max_length=MOST_BENCHMARKS)


class SuiteReply(BaseModel):
    """What was found: see the fields of `benchfill suite --json`."""

    schema_version: int
    benchfill_version: str
    seed: int
    inputs: dict[str, str] = Field(description="SHA-256 of what was sent")
    analysis: SuiteAnalysis


def _body() -> dict[str, Any]:
    """Return what OpenAPI says of the body."""
    form = SuiteForm.model_json_schema()
    file = {"type": "string", "format": "binary"}
    form["properties"] |= {SCORES_FILE: file, LATER_FILE: file}
    form["properties"][RESPONSES_FILES] = {
        "type": "array", "items": file, "maxItems": MOST_RESPONSES,
        "description": "responses of a benchmark each; the file's name is the benchmark's",
    }  # fmt: skip
    form["required"] = [SCORES_FILE]
    return {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/SuiteJson"}},
            "multipart/form-data": {"schema": form},
        },
    }


@router.post(
    "",
    response_model=SuiteReply,
    responses={415: {"description": "neither JSON nor a form"}},
    openapi_extra=needs("reader")["openapi_extra"] | {"requestBody": _body()},
)
async def analyse_suite(request: Request) -> Response:
    """Say which benchmarks to keep, which add nothing, and what nobody measures."""
    task, files, digests = await _read(request)
    gate = _gate()
    if gate.waiting >= WAITING:
        raise ProblemError(
            503, "busy", "too many suites are being analysed; try again soon.",
            headers={"Retry-After": "10"},
        )  # fmt: skip
    async with gate:
        try:
            found = await analyse_apart(task, files)
        except TooMuchWorkError as error:
            raise ProblemError(413, "too-much-work", error.message) from None
    head = {
        "schema_version": SCHEMA_VERSION,
        "benchfill_version": importlib.metadata.version("benchfill"),
        "seed": task["request"]["seed"],
        "inputs": digests,
    }
    # the analysis is JSON already: reading and checking it again would take as long as making it
    whole = json.dumps(head).encode()[:-1] + b', "analysis": ' + found + b"}"
    return Response(whole, media_type="application/json")


async def _read(request: Request) -> tuple[dict[str, Any], dict[str, bytes], dict[str, str]]:
    """Return the task of the process, the files that were sent, and hashes of what was sent."""
    kind = Message()
    kind["content-type"] = request.headers.get("content-type", "")
    if kind.get_content_type() == "application/json":
        body = await json_body(request)
        said = await asyncio.to_thread(validated, SuiteJson, body)
        return _from_json(said), {}, {SCORES_FILE: hashlib.sha256(body).hexdigest()}
    if kind.get_content_type() == "multipart/form-data":
        most = 2 + MOST_RESPONSES
        async with request.form(max_files=most, max_fields=12, max_part_size=_FIELD_BYTES) as form:
            given = [SCORES_FILE, *([LATER_FILE] if LATER_FILE in form else [])]
            files = {name: await one_file(form, name) for name in given}
            names, responses = await _responses(form)
            files |= responses
            asked = validated(SuiteForm, form_fields(form, (*given, RESPONSES_FILES)))
        task = _from_form(asked, files) | {"responses": names}
        return task, files, {name: hashlib.sha256(one).hexdigest() for name, one in files.items()}
    raise ProblemError(
        415, "media-type", f"send application/json, or multipart/form-data with {SCORES_FILE}."
    )


async def _responses(form: FormData) -> tuple[list[str], dict[str, bytes]]:
    """Return the benchmarks that files of responses are named after, and the files."""
    names: list[str] = []
    files: dict[str, bytes] = {}
    for place, one in enumerate(form.getlist(RESPONSES_FILES)):
        field = f"{RESPONSES_FILES}[{place}]"
        name = one.filename or "" if isinstance(one, UploadFile) else ""
        # only compared with the names of benchmarks, never a path
        name = name[:-4] if name.lower().endswith((".csv", ".tsv")) else name
        if not isinstance(one, UploadFile) or not name:
            raise wrong_field("body", field, "send a file that is named after its benchmark.")
        if name in names:
            raise wrong_field("body", field, "is of a benchmark that has a file already.")
        names.append(name)
        files[field] = await one.read()
    return names, files


def _from_json(said: SuiteJson) -> dict[str, Any]:
    return {
        "request": said.model_dump(exclude={"benchmarks", "scores", LATER_FILE}),
        "table": _table(said, ""),
        "later": None if said.later is None else _table(said.later, f"{LATER_FILE}."),
    }


def _table(said: SentScores, before: str) -> dict[str, Any]:
    for row, one in enumerate(said.scores):
        if len(one.scores) != len(said.benchmarks):
            raise wrong_field(
                "body",
                f"{before}scores[{row}].scores",
                f"has {len(one.scores)} scores for {len(said.benchmarks)} benchmarks; write null "
                "for a missing one.",
            )
    return {
        "models": [one.model for one in said.scores],
        "benchmarks": said.benchmarks,
        "scores": [one.scores for one in said.scores],
    }


def _from_form(asked: SuiteForm, files: dict[str, bytes]) -> dict[str, Any]:
    for name in (SCORES_FILE, LATER_FILE):
        scores = files.get(name, b"")
        lines = scores.count(b"\n")
        width = scores.partition(b"\n")[0]
        fields = max(width.count(mark) for mark in (b",", b";", b"\t"))
        if lines > MOST_MODELS + 1 or fields > 2 * MOST_BENCHMARKS:
            raise wrong_field(
                "body",
                name,
                f"holds too much: {MOST_MODELS:,} models and {2 * MOST_BENCHMARKS} columns are the "
                "most.",
            )
    outside = _names(asked.outside) or []
    columns = _names(asked.columns)
    if columns is not None:
        columns += [name for name in outside if name not in columns]
    return {
        "request": asked.model_dump(exclude={"columns", "outside"}) | {"outside": outside},
        "columns": columns,
    }


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    row = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in row if name.strip()]


class _Gate(asyncio.Semaphore):
    """A semaphore that tells how many wait."""

    waiting = 0

    async def __aenter__(self) -> None:
        self.waiting += 1
        try:
            await super().__aenter__()
        finally:
            self.waiting -= 1


_GATES: WeakKeyDictionary[asyncio.AbstractEventLoop, _Gate] = WeakKeyDictionary()


def _gate() -> _Gate:
    return _GATES.setdefault(asyncio.get_running_loop(), _Gate(AT_ONCE))
