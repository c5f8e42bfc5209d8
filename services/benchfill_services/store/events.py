"""What happened to a job, in a Redis stream: what listeners follow and can take up again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from .keys import job_events

if TYPE_CHECKING:
    from redis.asyncio import Redis

_MAX_EVENTS = 20_000  # of a job, about; the steps and transcripts hold what matters


class JobEvent(BaseModel):
    """One event; `data` is a JSON object whose fields depend on the type."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(description="place in the stream; send it as Last-Event-ID to go on after it")
    type: str
    data: dict[str, Any]


class RedisEvents:
    """Events of one job, oldest first."""

    def __init__(self, redis: Redis, job: str) -> None:
        self._redis, self._stream = redis, job_events(job)

    async def append(self, kind: str, data: dict[str, Any]) -> str:
        """Keep an event and return its id."""
        kept = await self._redis.xadd(
            self._stream,
            {"type": kind, "data": json.dumps(data)},
            maxlen=_MAX_EVENTS,
            approximate=True,
        )
        return str(kept)

    async def read(self, after: str = "0-0", count: int = 1000) -> list[JobEvent]:
        """Return up to `count` events that came after an id."""
        kept: Any = await self._redis.xrange(self._stream, min=f"({after}", count=count)
        return [event_of(event_id, fields) for event_id, fields in kept]


def event_of(event_id: str, fields: dict[str, str]) -> JobEvent:
    """Read an entry of the stream."""
    return JobEvent(id=event_id, type=fields["type"], data=json.loads(fields["data"]))
