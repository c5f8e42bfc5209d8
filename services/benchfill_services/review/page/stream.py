"""A candidate's page as it changes, over Server-Sent Events.

An event is sent only for what the person who listens may see: a message, or that their own view of
the case has changed. What others do in the dark leaves no trace in the stream.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from ...store.keys import review_log, review_thread, transcript_log
from .messages import Place, entry_html
from .timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from redis.asyncio import Redis

    from ..desk import ReviewDesk
    from ..rules import Person
    from .timeline import Entry

LOOK_SECONDS = 0.5
_SILENT_SECONDS = 15.0
_SESSION_SECONDS = 5.0
_MOST_AT_ONCE = 100
_AGAIN = 200  # messages that are sent once more after a view has changed: the page drops doubles


@dataclass
class CaseStream:
    """What one open page is told."""

    redis: Redis
    desk: ReviewDesk
    candidate: str
    person: Person
    fill_id: str
    thread_id: str
    seen: str
    told: set[str] = field(default_factory=set)

    async def events(self, still_in: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
        """Yield events until the person is signed out."""
        view = await self.desk.look(self.candidate, self.person)
        names = (
            transcript_log(view.job, view.gap),
            review_thread(self.candidate),
            review_log(self.candidate),
        )
        yield await self._first()
        lengths: tuple[int, ...] | None = None
        silent = since_session = 0.0
        while True:
            now = await self._lengths(names)
            text = b"" if now == lengths else await self._changes()
            lengths = now
            if text:
                silent = 0.0
                yield text
            elif silent >= _SILENT_SECONDS:
                silent = 0.0
                yield KEEPALIVE_COMMENT
            await asyncio.sleep(LOOK_SECONDS)
            silent += LOOK_SECONDS
            since_session += LOOK_SECONDS
            if since_session >= _SESSION_SECONDS:
                since_session = 0.0
                if not await still_in():
                    yield format_sse_event(data_str="", event="end")
                    return

    async def _first(self) -> bytes:
        """Note what the page has already, or has missed; headers go out with the first byte."""
        timeline = await self._timeline()
        entries = timeline.said
        if timeline.view.seen == self.seen:
            here = [one.id for one in entries if not self._is_new(one)]
        else:  # what was hidden before may show now
            here = [one.id for one in entries[:-_AGAIN]]
        self.told = set(here)
        return KEEPALIVE_COMMENT

    def _is_new(self, entry: Entry) -> bool:
        return entry.id[0] == "t" and _order(entry.id[1:]) > _order(self.thread_id)

    async def _changes(self) -> bytes:
        """Return events for all that is new to this person."""
        timeline = await self._timeline()
        place = Place.of(timeline.view)
        parts: list[bytes] = []
        while found := await timeline.fill_after(self.fill_id, _MOST_AT_ONCE):
            for entry in found:
                self.fill_id = entry.id[1:]
                parts.append(self._event(entry, place))
        for entry in timeline.said:
            if entry.id in self.told:
                continue
            self.told.add(entry.id)
            if entry.id[0] == "t" and self._is_new(entry):
                self.thread_id = entry.id[1:]
            parts.append(self._event(entry, place))
        if timeline.view.seen != self.seen:
            self.seen = timeline.view.seen
            parts.append(format_sse_event(data_str=self.seen, event="state"))
        return b"".join(parts)

    def _event(self, entry: Entry, place: Place) -> bytes:
        html = str(entry_html(entry, place))
        at = f"{self.fill_id}_{self.thread_id}"
        return format_sse_event(data_str=html, event="message", id=at)

    async def _timeline(self) -> Timeline:
        view = await self.desk.look(self.candidate, self.person)
        return await Timeline.of(self.redis, self.desk, view, self.person)

    async def _lengths(self, names: tuple[str, str, str]) -> tuple[int, ...]:
        fill, thread, log = names
        async with self.redis.pipeline(transaction=False) as pipe:
            pipe.xlen(fill)
            pipe.xlen(thread)
            pipe.llen(log)
            return tuple(await pipe.execute())


def _order(stream_id: str) -> tuple[int, int]:
    time, _, number = stream_id.partition("-")
    return int(time), int(number or 0)
