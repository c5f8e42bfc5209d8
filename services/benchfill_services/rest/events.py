"""Events of a fill as they happen, over Server-Sent Events."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from .auth import Caller
from .blindness import is_blind
from .event_hub import place_of
from .fills import FillId, fill_of
from .guarded_route import GuardedRoute, needs
from .service import Service, ServiceDep

router = APIRouter(prefix="/v1/fills", tags=["fills"], route_class=GuardedRoute)
_PLACE = r"^[0-9]{1,19}(-[0-9]{1,19})?$"  # below the largest that Redis takes
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}  # no proxy holds events back


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
    return "{}-{}".format(*place_of(place))


@router.get(
    "/{fill}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    **needs("reader"),
)
async def follow_fill(
    fill: FillId, caller: Caller, service: ServiceDep, start: Annotated[str, Depends(_start)]
) -> StreamingResponse:
    """Follow a fill: what happened so far, and on until it rests; then `end`, without an id.

    A comment comes after 15 s of silence. Whoever lost the connection sends the last id as
    Last-Event-ID.
    """
    # not FastAPI's own generator: it would write each event out anew for each listener
    return StreamingResponse(
        _told(service, fill, start, blind=is_blind(caller)),
        media_type="text/event-stream",
        headers=_HEADERS,
    )


async def _told(service: Service, fill: str, start: str, *, blind: bool) -> AsyncIterator[bytes]:
    async with contextlib.aclosing(service.hub.follow(fill, start)) as batches:
        async for batch in batches:
            yield (
                b"".join(event.masked if blind else event.text for event in batch)
                or KEEPALIVE_COMMENT
            )
    if service.hub.closed:  # the service ends, not the fill
        return
    job = await fill_of(service, fill)
    yield format_sse_event(data_str=json.dumps({"status": job.status}), event="end")
