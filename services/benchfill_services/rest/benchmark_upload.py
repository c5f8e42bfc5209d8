"""A benchmark's files as they are sent: as JSON, or as a form with two files.

No archive is read, and the names that a form gives its files are not looked at.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from email.message import Message
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from benchfill.errors import InputError
from benchfill.items import Item

from ..store.benchmark_files import LONGEST_ID, CheckedFiles, checked_files
from ..store.benchmarks import SLUG
from .problem import ProblemError, wrong_field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

_FIELD_BYTES = 4096
_FILES = ("items", "responses")
_IDENTIFIER = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
Head = TypeVar("Head", bound=BaseModel)
Model = TypeVar("Model", bound=BaseModel)


class ResponseRow(BaseModel):
    """What one model made of one item."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: _IDENTIFIER
    item: _IDENTIFIER
    correct: int = Field(ge=0, le=10**9, description="right answers")
    n: int = Field(1, ge=0, le=10**9, description="answers; 0 for a missing cell")


class NewBenchmark(BaseModel):
    """What is said of a new benchmark beside its files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=SLUG)] | None = Field(
        None, description="made of the name if missing"
    )
    name: str = Field(min_length=1, max_length=200)
    local_only: bool = Field(False, description="refuse pools with a provider outside this machine")


class NewVersion(BaseModel):
    """What is said of a further version beside its files; what is missing is its parent's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parent_version: int | None = Field(None, ge=1, le=10**9, description="the last one if missing")
    local_only: bool | None = None


class _Content(BaseModel):
    items: list[Item] = Field(min_length=1)
    responses: list[ResponseRow] = Field(min_length=1)


class NewBenchmarkJson(NewBenchmark, _Content):
    """A new benchmark as one JSON object."""


class NewVersionJson(NewVersion, _Content):
    """A further version as one JSON object."""


async def read_upload(
    request: Request, head: type[Head], whole: type[BaseModel]
) -> tuple[Head, CheckedFiles]:
    """Return what is said of a benchmark, and its files, checked.

    Raises
    ------
    ProblemError
        415 for another media type.
    RequestValidationError, InputError
        Something in it cannot be used.
    """
    kind = Message()
    kind["content-type"] = request.headers.get("content-type", "")
    if kind.get_content_type() == "application/json":
        said = validated(whole, await json_body(request))
        items, responses = await asyncio.to_thread(_written, said)
        described = head.model_validate(said.model_dump(include=set(head.model_fields)))
        try:
            return described, await asyncio.to_thread(checked_files, items, responses)
        except InputError as error:
            raise _placed(error) from None
    elif kind.get_content_type() == "multipart/form-data":
        async with request.form(max_files=2, max_fields=8, max_part_size=_FIELD_BYTES) as form:
            items, responses = [await one_file(form, name) for name in _FILES]
            described = validated(head, form_fields(form, _FILES))
    else:
        raise ProblemError(
            415, "media-type", "send application/json, or multipart/form-data with two files."
        )
    return described, await asyncio.to_thread(checked_files, items, responses)


async def json_body(request: Request) -> bytes:
    """Return the body, once it is known to be JSON; Python's own reader would take NaN."""
    try:
        await request.json()
    except json.JSONDecodeError as error:
        found = {"type": "json_invalid", "loc": ("body",), "msg": "", "ctx": {"error": error.msg}}
        raise RequestValidationError([found]) from None
    return await request.body()


def validated(kind: type[Model], value: bytes | dict[str, str]) -> Model:
    """Read JSON strictly, and the fields of a form, which are all text, for what they say."""
    adapter = TypeAdapter(kind)
    try:
        if isinstance(value, bytes):
            return adapter.validate_json(value, strict=True)
        return adapter.validate_strings(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in found]
        ) from None


async def one_file(form: FormData, name: str) -> bytes:
    """Return a form's file. Raises ProblemError when there is not exactly one in this field."""
    files = form.getlist(name)
    if len(files) != 1 or not isinstance(files[0], UploadFile):
        raise wrong_field("body", name, "send exactly one file in this field.")
    return await files[0].read()


def form_fields(form: FormData, files: Sequence[str]) -> dict[str, str]:
    """Return the fields of a form but for its files. Raises ProblemError."""
    fields: dict[str, str] = {}
    for name, value in form.multi_items():
        if name in files:
            continue
        if name in fields or not isinstance(value, str):
            raise wrong_field("body", name[:100], "send one value in this field.")
        fields[name] = value
    return fields


def _written(said: Any) -> tuple[bytes, bytes]:
    """Write both files as BenchFill itself does."""
    items = "".join(item.model_dump_json(exclude_defaults=True) + "\n" for item in said.items)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("model", "item", "correct", "n"))
    writer.writerows((one.model, one.item, one.correct, one.n) for one in said.responses)
    return items.encode(), buffer.getvalue().encode()


def _placed(error: InputError) -> ProblemError:
    """Name the place in the JSON that was sent, not the line of the file that we made of it."""
    name = error.source or ""
    place = ", ".join(
        part for part in (name, error.line and f"line {error.line}", error.field) if part
    )
    before = {"items": 1, "responses": 2}  # lines up to the first: CSV has a header
    path = name
    if error.line is not None and name in before:
        path = f"{name}[{error.line - before[name]}]"
        known = Item.model_fields if name == "items" else ResponseRow.model_fields
        path += f".{error.field}" if error.field in known else ""
    return wrong_field("body", path, error.message.removeprefix(f"{place}: "))


def request_body(head: type[BaseModel], whole: type[BaseModel]) -> dict[str, Any]:
    """Return what OpenAPI says of such a body."""
    reference = "#/components/schemas/{model}"
    form = head.model_json_schema(ref_template=reference)
    form["properties"] |= {name: {"type": "string", "format": "binary"} for name in _FILES}
    form["required"] = [*form.get("required", ()), *_FILES]
    return {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": reference.format(model=whole.__name__)}},
            "multipart/form-data": {"schema": form},
        },
    }
