"""A route with a guard: the key is looked at first, then the body is read, within its limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.requests import Request

from .auth import authorise
from .etag import with_etag
from .problem import FieldError, ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi.dependencies.models import Dependant
    from starlette.responses import Response

    from ..store.api_keys import Role

ROLE = "x-role"


def needs(role: Role) -> dict[str, Any]:
    """Return the arguments of a path operation that only this role and higher ones may use."""
    return {"openapi_extra": {ROLE: role}}


class BoundedRequest(Request):
    """A request whose JSON is parsed by a parser that bounds how deep it nests."""

    async def json(self) -> Any:
        """Return the body. Raises JSONDecodeError."""
        if not hasattr(self, "_json"):
            try:
                self._json = from_json(await self.body(), allow_inf_nan=False)
            except ValueError as error:
                raise json.JSONDecodeError(str(error), "", 0) from None
        return self._json


class GuardedRoute(APIRoute):
    """A route that nobody passes without the role it names; one that names none cannot be made."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See APIRoute."""
        handler = super().get_route_handler()
        role: Role = (self.openapi_extra or {})[ROLE]
        known = frozenset(_query_names(self.dependant))

        async def guarded(request: Request) -> Response:
            await authorise(request, role)
            _refuse_unknown(request, known)
            bounded = BoundedRequest(request.scope, request.receive)
            return with_etag(request, await handler(bounded))

        return guarded


def _query_names(dependant: Dependant) -> set[str]:
    names = {one.alias for one in dependant.query_params}
    for inner in dependant.dependencies:
        names |= _query_names(inner)
    return names


def _refuse_unknown(request: Request, known: frozenset[str]) -> None:
    """Refuse a misspelt query parameter instead of passing over it."""
    unknown = [name[:100] for name in request.query_params if name not in known]
    if unknown:
        takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
        raise ProblemError(
            422,
            "invalid",
            f"{unknown[0]}: is no query parameter of this path; {takes}.",
            errors=[
                FieldError(location="query", path=name, message="is unknown here.")
                for name in unknown
            ],
        )
