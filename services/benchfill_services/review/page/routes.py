"""All routes of the page."""

from __future__ import annotations

from fastapi import APIRouter

from ...rest.problem import ProblemError
from .guard import PageRoute, lets_in
from .routes_case import router as case
from .routes_decide import router as decide
from .routes_queue import router as queue
from .routes_session import router as session
from .routes_static import router as static
from .routes_stream import router as stream

_elsewhere = APIRouter(prefix="/review", include_in_schema=False, route_class=PageRoute)


@_elsewhere.get("/{path:path}", **lets_in("open"))
def nothing_here() -> None:
    """Say in words that there is nothing at an address."""
    raise ProblemError(404, "not-found", "there is nothing at this address.")


router = APIRouter(include_in_schema=False)
for _part in (static, session, queue, stream, decide, case, _elsewhere):
    router.include_router(_part)
