"""Every error as application/problem+json (RFC 9457), translated in this one place.

No text of an exception that was not written for users leaves the service.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException

from benchfill.errors import BenchFillError, InputError, ProviderError

from ..review.merging import NothingToMergeError
from ..review.rules import ReviewRefusedError, StaleViewError
from ..store.benchmarks import BenchmarkExistsError, UnknownBenchmarkError
from ..store.daily_budget import DailyBudgetError
from ..store.jobs import JobStateError, UnknownJobError
from ..store.reviews import UnknownCaseError
from .allowed_methods import methods_of
from .plain_words import plain_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import FastAPI
    from starlette.requests import Request

MEDIA_TYPE = "application/problem+json"
_LONGEST = 300  # characters of what may hold text of the request
_MOST_ERRORS = 50
_log = structlog.get_logger(__name__)
Location = Literal["body", "query", "path", "header", "cookie"]


class FieldError(BaseModel):
    """One thing that is wrong with a request."""

    location: Location
    path: str = Field(description="such as models[3].shots; empty for the whole of it")
    message: str


class Problem(BaseModel):
    """What every error says."""

    type: str = Field(description="urn:benchfill:problem:KIND")
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field([], description="the fields at fault, where there are any")


class ProblemError(HTTPException):
    """An error of the service itself; FastAPI passes on what is raised while it reads a body."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind, self.errors = kind, errors

    def response(self) -> JSONResponse:
        """Return what is sent."""
        problem = Problem(
            type=f"urn:benchfill:problem:{self.kind}",
            title=HTTPStatus(self.status_code).phrase,
            status=self.status_code,
            detail=self.detail,
            errors=list(self.errors)[:_MOST_ERRORS],
        )
        return JSONResponse(
            problem.model_dump(), self.status_code, headers=self.headers, media_type=MEDIA_TYPE
        )


def wrong_field(location: Location, path: str, message: str, kind: str = "invalid") -> ProblemError:
    """Return the error of a single field."""
    return ProblemError(
        422,
        kind,
        f"{path or f'the {location}'}: {message}",
        errors=[FieldError(location=location, path=path, message=message)],
    )


def add_handlers(app: FastAPI) -> None:
    """Answer every error of an application with a problem."""
    app.add_exception_handler(ProblemError, _own)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(BenchFillError, _benchfill)
    app.add_exception_handler(RedisError, _redis)
    app.add_exception_handler(Exception, _unexpected)


async def _own(_: Request, error: Any) -> JSONResponse:
    return _said(error)


async def _http(request: Request, error: Any) -> JSONResponse:
    texts = {404: "there is nothing at this path; /openapi.json says what there is."}
    kinds = {404: "not-found", 405: "wrong-method", 400: "bad-request"}
    status = int(error.status_code)
    headers = error.headers
    if status == 405:  # Starlette names the methods of the first route only
        allowed = ", ".join(methods_of(request.app, request.url.path))
        headers = {"Allow": allowed}
        texts[405] = f"this path takes {allowed or 'GET'}, not this method."
    detail = texts.get(status, f"{str(error.detail)[:_LONGEST].rstrip('.')}.")
    return _said(ProblemError(status, kinds.get(status, "refused"), detail, headers=headers))


async def _invalid(request: Request, error: Any) -> JSONResponse:
    found = error.errors()
    sent = request.headers.get("content-type", "none")
    # curl names another media type unless it is told, and FastAPI then sees no object in the text
    if found[0]["loc"] == ("body",) and isinstance(error.body, bytes) and "json" not in sent:
        said = f"must be JSON, sent with Content-Type: application/json, not {sent[:100]}."
        return _said(wrong_field("body", "", said))
    return _said(validation_problem(found))


async def _benchfill(_: Request, error: Any) -> JSONResponse:
    return _said(translated(error))


async def _redis(_: Request, error: Any) -> JSONResponse:
    _log.warning("redis did not answer", error=type(error).__name__)
    return _said(
        ProblemError(
            503,
            "store-lost",
            "the store does not answer; try again soon.",
            headers={"Retry-After": "5"},
        )
    )


async def _unexpected(_: Request, error: Any) -> JSONResponse:
    _log.error("unexpected error", error=type(error).__name__)
    return _said(
        ProblemError(
            500, "bug", "something went wrong inside BenchFill; this is a bug, please report it."
        )
    )


def _said(problem: ProblemError) -> JSONResponse:
    return problem.response()


_STATUS: tuple[tuple[type[BenchFillError], int, str], ...] = (
    (UnknownBenchmarkError, 404, "not-found"),
    (UnknownJobError, 404, "not-found"),
    (BenchmarkExistsError, 409, "exists"),
    (UnknownCaseError, 404, "not-found"),
    (JobStateError, 409, "wrong-status"),
    (StaleViewError, 409, "stale"),
    (ReviewRefusedError, 409, "refused"),
    (NothingToMergeError, 409, "nothing-to-merge"),
    (DailyBudgetError, 403, "daily-budget"),
    (InputError, 422, "invalid"),
    (ProviderError, 502, "provider"),
    (BenchFillError, 500, "failed"),
)


def translated(error: BenchFillError) -> ProblemError:
    """Return the problem that stands for an error of BenchFill."""
    status, kind = next((s, k) for cls, s, k in _STATUS if isinstance(error, cls))
    errors = []
    if isinstance(error, InputError) and (error.source or error.field) is not None:
        line = None if error.line is None else f"line {error.line}"
        place = ", ".join(one for one in (error.source, line, error.field) if one)
        message = error.message.removeprefix(f"{place}: ")
        errors = [FieldError(location="body", path=place[:_LONGEST], message=message[:_LONGEST])]
    return ProblemError(status, kind, error.message, errors=errors)


def validation_problem(found: Sequence[Mapping[str, Any]]) -> ProblemError:
    """Return the problem that names the fields which pydantic refused; their values stay out."""
    errors = [_field_error(one) for one in found[:_MOST_ERRORS]]
    first = errors[0]
    where = first.path or f"the {first.location}"
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return ProblemError(422, "invalid", f"{where}: {first.message}{more}", errors=errors)


def _field_error(found: Mapping[str, Any]) -> FieldError:
    location, *rest = found["loc"] or ("body",)
    if found["type"] == "json_invalid":
        message = f"is no JSON that is accepted ({found.get('ctx', {}).get('error', '')})."
        return FieldError(location="body", path="", message=message[:_LONGEST])
    path = ""
    for part in rest:
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{part}"
    return FieldError(
        location=location, path=path[:_LONGEST], message=plain_words(found)[:_LONGEST]
    )
