"""The stream of a candidate's page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response, StreamingResponse

from ...rest.service import ServiceDep
from .guard import PageRoute, lets_in
from .routes_case import CandidateId
from .sessions import RedisSessions
from .stream import CaseStream
from .visit import PersonDep, VisitDep

router = APIRouter(prefix="/review/c", include_in_schema=False, route_class=PageRoute)
_ID = r"[0-9]{1,19}-[0-9]{1,19}"
_PLACE = rf"^{_ID}_{_ID}$"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.get("/{candidate}/stream", **lets_in("signed-in"))
async def follow_case(  # noqa: PLR0913, PLR0917 - FastAPI names them
    candidate: CandidateId,
    visit: VisitDep,
    person: PersonDep,
    service: ServiceDep,
    after: Annotated[str, Query(pattern=_PLACE)] = "0-0_0-0",
    seen: Annotated[str, Query(max_length=64)] = "",
    last_event_id: Annotated[str | None, Header(pattern=_PLACE)] = None,
) -> Response:
    """Tell a page what is new, from where it or its last connection left off."""
    await service.desk.look(candidate, person)
    fill_id, _, thread_id = (last_event_id or after).partition("_")
    sessions = RedisSessions(service.redis)

    async def still_in() -> bool:
        return visit.anonymous or await sessions.key(visit.token, touch=False) is not None

    stream = CaseStream(
        redis=service.redis,
        desk=service.desk,
        candidate=candidate,
        person=person,
        fill_id=fill_id,
        thread_id=thread_id,
        seen=seen,
    )
    return StreamingResponse(
        stream.events(still_in), media_type="text/event-stream", headers=_HEADERS
    )
