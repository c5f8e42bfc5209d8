"""What the OpenAPI document says of every operation: its problems, and that it needs a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from .auth import bearer
from .benchmark_upload import NewBenchmarkJson, NewVersionJson
from .guarded_route import ROLE
from .problem import MEDIA_TYPE, Problem
from .suites import SuiteJson

if TYPE_CHECKING:
    from fastapi import FastAPI

_GUARDED = {
    "401": "no API key, or one that is unknown or revoked",
    "403": "the API key's role or daily budget does not allow it",
    "413": "the request is too large",
    "422": "a field is wrong; `errors` names it",
    "429": "the API key asked too often",
}
_ALL = {"503": "the store does not answer", "default": "any other error"}
_REF = "#/components/schemas/{model}"
_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}}


def describe(app: FastAPI) -> None:
    """Complete the document of an application; it is made once."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    summary=app.summary,
                    openapi_version=app.openapi_version,
                    routes=app.routes,
                )
            )
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (Problem, NewBenchmarkJson, NewVersionJson, SuiteJson):
        schema = model.model_json_schema(ref_template=_REF)
        schemas |= schema.pop("$defs", {}) | {model.__name__: schema}
    components["securitySchemes"] = {bearer.scheme_name: _scheme()}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            guarded = ROLE in operation
            if guarded:
                operation["security"] = [{bearer.scheme_name: []}]
            problems = _GUARDED | _ALL if guarded else _ALL
            if "{" in path:
                problems |= {"404": "there is none of this id"}
            responses = operation["responses"]
            for status, text in problems.items():
                responses.setdefault(status, {"description": text})
            for status, response in responses.items():
                if status == "default" or (status >= "400" and "content" not in response):
                    response["content"] = _PROBLEM
                if status == "422":  # FastAPI's own words for it
                    response |= {"description": problems[status], "content": _PROBLEM}
    return document


def _scheme() -> dict[str, Any]:
    return bearer.model.model_dump(by_alias=True, exclude_none=True, mode="json")
