"""Events of jobs for many listeners: one poller a process reads all streams that are watched.

Listeners of a job share what the poller brings, written out once for all of them. One that falls
behind what is kept in memory reads on from Redis, so a slow listener costs neither memory nor
events.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from fastapi.sse import format_sse_event

from ..jobs.record import RESTING
from ..store import keys
from ..store.events import JobEvent, RedisEvents, event_of
from .blindness import HIDDEN_ERROR

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from redis.asyncio import Redis

_KEPT = 200  # events of a job in memory
_PAGE = 200
_TOGETHER_SECONDS = 0.1  # what comes within this goes out as one: listeners wake less often
_BLOCK_MS = 250  # also the longest wait until a new stream is watched
_STATUS_SECONDS = 1.0
SILENT_SECONDS = 15.0
_RETRY_SECONDS = 1.0
_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Told:
    """An event as listeners get it."""

    id: str
    place: tuple[int, int]
    text: bytes
    masked: bytes  # for those who must not learn who wrote an item
    rests: bool  # it says that the job has come to rest

    @classmethod
    def of(cls, event: JobEvent) -> Told:
        """Write an event out."""
        text = masked = _written(event, event.data)
        if event.data.get("error"):  # it may name the model that was asked to write
            masked = _written(event, event.data | {"error": HIDDEN_ERROR})
        rests = event.type == "status" and event.data.get("status") in RESTING
        return cls(event.id, place_of(event.id), text, masked, rests)


def _written(event: JobEvent, data: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(data), event=event.type, id=event.id)


def place_of(event_id: str) -> tuple[int, int]:
    """Return an id of a stream as numbers, which order as the stream does."""
    time, _, number = event_id.partition("-")
    return int(time), int(number or 0)


class _Channel:
    """What is new of one job."""

    def __init__(self, since: str) -> None:
        self.listeners = 0
        self.since = place_of(since)  # everything after this is in `events`
        self.cursor = since
        self.events: deque[Told] = deque()
        self.changed = asyncio.Event()
        self.at_rest = 0  # how often in a row the job was seen at rest

    def add(self, events: list[Told]) -> None:
        self.events.extend(events)
        self.cursor = events[-1].id
        while len(self.events) > _KEPT:
            self.since = self.events.popleft().place
        self.wake()

    def after(self, place: tuple[int, int]) -> list[Told] | None:
        """Return what came after a place; None when that is no longer all here."""
        if place < self.since:
            return None
        return [event for event in self.events if event.place > place]

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class EventHub:
    """Watches the jobs that somebody listens to."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._channels: dict[str, _Channel] = {}
        self._wanted = asyncio.Event()
        self.closed = False

    @property
    def watched(self) -> int:
        """How many jobs are listened to."""
        return len(self._channels)

    async def follow(self, job_id: str, after: str) -> AsyncGenerator[list[Told], None]:
        """Yield a job's events after an id, old and new, until the job rests and all are told.

        It ends before that when the hub is closed. An empty list says that nothing has happened for
        a while.
        """
        channel = await self._join(job_id)
        place = place_of(after)
        ended = False  # by what was told last
        try:
            while not self.closed:
                changed = channel.changed
                rested = channel.at_rest
                batch = channel.after(place)
                # without a last word, one more look: it may be on its way
                resting = rested > (0 if ended else 1)
                behind = batch is None
                if behind or (resting and not batch):  # the poller may be behind, too
                    batch = await self._history(job_id, place)
                if batch:
                    place, ended = batch[-1].place, batch[-1].rests
                    yield batch
                    continue
                if resting:
                    return
                if behind:  # trimmed away
                    place = channel.since
                    continue
                try:
                    await asyncio.wait_for(changed.wait(), SILENT_SECONDS)
                except TimeoutError:
                    yield []
        finally:
            channel.listeners -= 1
            if channel.listeners == 0 and self._channels.get(job_id) is channel:
                del self._channels[job_id]

    def close(self) -> None:
        """End all streams where they are, so that the process can end; listeners come again."""
        self.closed = True
        for channel in self._channels.values():
            channel.wake()

    async def _history(self, job_id: str, place: tuple[int, int]) -> list[Told]:
        events = await RedisEvents(self._redis, job_id).read("{}-{}".format(*place), _PAGE)
        return [Told.of(event) for event in events]

    async def _join(self, job_id: str) -> _Channel:
        channel = self._channels.get(job_id)
        if channel is None:
            newest: Any = await self._redis.xrevrange(keys.job_events(job_id), count=1)
            since = newest[0][0] if newest else "0-0"
            # somebody else may have come meanwhile
            channel = self._channels.setdefault(job_id, _Channel(since))
            self._wanted.set()
        channel.listeners += 1
        return channel

    async def run(self) -> None:
        """Poll until cancelled; Redis may come and go."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._poll(self._read))
            tasks.create_task(self._poll(self._look))

    async def _poll(self, step: Any) -> None:
        while True:
            if not self._channels:
                self._wanted.clear()
                await self._wanted.wait()
            try:
                await step()
            except Exception as error:  # nobody would start it again, and all streams would hang
                _log.warning("events cannot be read", error=type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _read(self) -> None:
        """Bring what is new in all streams."""
        streams = {keys.job_events(job): (job, one) for job, one in self._channels.items()}
        cursors: Any = {name: channel.cursor for name, (_, channel) in streams.items()}
        replies: Any = await self._redis.xread(cursors, count=_PAGE, block=_BLOCK_MS)
        for name, entries in replies or ():
            channel = streams[name][1]
            channel.add([Told.of(event_of(event_id, fields)) for event_id, fields in entries])
        if replies:
            await asyncio.sleep(_TOGETHER_SECONDS)

    async def _look(self) -> None:
        """See which of the jobs rest: then nothing more will come."""
        watched = list(self._channels.items())
        async with self._redis.pipeline(transaction=False) as pipe:
            for job, _ in watched:
                pipe.hget(keys.job(job), "status")
            statuses = await pipe.execute()
        for (_, channel), status in zip(watched, statuses, strict=True):
            channel.at_rest = channel.at_rest + 1 if status in RESTING or status is None else 0
            if channel.at_rest:
                channel.wake()
        await asyncio.sleep(_STATUS_SECONDS)


@contextlib.asynccontextmanager
async def running(hub: EventHub) -> AsyncIterator[None]:
    """Let a hub run."""
    task = asyncio.create_task(hub.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
