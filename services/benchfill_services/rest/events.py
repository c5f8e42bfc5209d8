"""Events of a fill as they happen, over Server-Sent Events."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from .event_hub import place_of
from .fills import FillId, fill_of
from .guarded_route import GuardedRoute, needs
from .problem import wrong_field
from .service import ServiceDep

router = APIRouter(prefix="/v1/fills", tags=["fills"], route_class=GuardedRoute)
_PLACE = r"^[0-9]{1,19}(-[0-9]{1,19})?$"
_LARGEST = 2**64


async def _start(
    fill: FillId,
    service: ServiceDep,
    last_event_id: Annotated[
        str | None, Header(pattern=_PLACE, description="id of the event that came last")
    ] = None,
    after: Annotated[
        str | None, Query(pattern=_PLACE, description="the same, where headers cannot be set")
    ] = None,
) -> str:
    """Return the place after which events are wanted, before the response begins."""
    await fill_of(service, fill)
    place = last_event_id or after or "0-0"
    if max(place_of(place)) >= _LARGEST:
        location, name = ("header", "Last-Event-ID") if last_event_id else ("query", "after")
        raise wrong_field(
            "header" if location == "header" else "query", name, "is no id of an event."
        )
    return "{}-{}".format(*place_of(place))


@router.get("/{fill}/events", response_class=EventSourceResponse, **needs("reader"))
async def follow_fill(
    fill: FillId, service: ServiceDep, start: Annotated[str, Depends(_start)]
) -> AsyncIterable[ServerSentEvent]:
    """Follow a fill: what happened so far, and on until it rests; then `end`, without an id.

    A comment comes every 15 s. Whoever lost the connection sends the last id as Last-Event-ID.
    """
    async for event in service.hub.follow(fill, start):
        yield ServerSentEvent(data=event.data, event=event.type, id=event.id)
    job = await fill_of(service, fill)
    yield ServerSentEvent(data={"status": job.status}, event="end")
