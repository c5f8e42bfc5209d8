"""The transcript of a candidate: what agents said for its gap, then what was said of it.

An entry's id tells where it comes from: `f` the fill, `t` the thread, `v` a verdict, `r` a
revision.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...store.transcript import RedisTranscript
from ..case import ThreadMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

    from ..desk import ReviewDesk
    from ..rules import Person
    from ..view import CaseView, RevisionView, VerdictView

ENTRY_ID = r"^[ftvr][0-9][0-9.-]{0,40}$"
WINDOW = 60
_STREAM_ID = re.compile(r"[0-9]{1,19}-[0-9]{1,19}")


@dataclass(frozen=True)
class Entry:
    """One message of the transcript. All text in it is untrusted."""

    id: str
    at: str
    author: str
    kind: str
    said: dict[str, Any] | ThreadMessage | VerdictView | RevisionView
    revision: int | None = None


@dataclass(frozen=True)
class Window:
    """A stretch of the transcript, oldest first."""

    entries: list[Entry] = field(default_factory=list)
    earlier: bool = False
    later: bool = False


class Timeline:
    """The transcript of one case, as one person may see it."""

    def __init__(self, redis: Redis, view: CaseView, thread: Sequence[ThreadMessage]) -> None:
        self.view = view
        self._fill = RedisTranscript(redis, view.job, view.gap)
        self.said = said_of(view, thread)
        """What was said after the fill, oldest first."""

    @classmethod
    async def of(cls, redis: Redis, desk: ReviewDesk, view: CaseView, person: Person) -> Timeline:
        """Read what a person may see."""
        return cls(redis, view, await desk.thread(view.id, person))

    async def newest(self, count: int = WINDOW) -> Window:
        """Return the end of the transcript."""
        return await self._until(len(self.said), count)

    async def before(self, entry_id: str, count: int = WINDOW) -> Window:
        """Return what comes before an entry."""
        place = self._place(entry_id)
        if place is None:
            fill = await self._before(entry_id[1:], count + 1)
            return Window(fill[-count:], earlier=len(fill) > count, later=True)
        return await self._until(place, count)

    async def _until(self, place: int, count: int) -> Window:
        """Return the last entries before a place in what was said after the fill."""
        said = self.said[:place][-count - 1 :]
        fill = await self._before(None, count + 1 - len(said)) if len(said) <= count else []
        entries = [*fill, *said]
        later = place < len(self.said)
        return Window(entries[-count:], earlier=len(entries) > count, later=later)

    async def after(self, entry_id: str, count: int = WINDOW) -> Window:
        """Return what comes after an entry."""
        place = self._place(entry_id)
        fill: list[Entry] = []
        rest = self.said if place is None else self.said[place + 1 :]
        if place is None:
            fill = await self._after(entry_id[1:], count + 1)
        entries = [*fill, *rest[: count + 1]]
        return Window(entries[:count], earlier=True, later=len(entries) > count)

    async def around(self, entry_id: str, count: int = WINDOW) -> Window | None:
        """Return an entry and what stands around it; None when there is no such entry."""
        found = await self.find(entry_id)
        if found is None:
            return None
        before = await self.before(entry_id, count // 3)
        after = await self.after(entry_id, count - count // 3)
        return Window([*before.entries, found, *after.entries], before.earlier, after.later)

    async def find(self, entry_id: str) -> Entry | None:
        """Return an entry that this person may see."""
        place = self._place(entry_id)
        if place is not None:
            return self.said[place]
        if entry_id[0] != "f" or not _STREAM_ID.fullmatch(entry_id[1:]):
            return None
        time, _, number = entry_id[1:].partition("-")
        before = f"{time}-{int(number) - 1}" if int(number) else f"{int(time) - 1}-{10**18}"
        found = await self._after(before, 1)
        return found[0] if found and found[0].id == entry_id else None

    async def last_of_fill(self) -> str:
        """Return the id in the stream of the fill's last message."""
        newest = await self._fill.window(count=1)
        return newest[-1][0] if newest else "0-0"

    async def fill_after(self, stream_id: str, count: int) -> list[Entry]:
        """Return what the fill's agents said after an id of the stream."""
        return await self._after(stream_id, count)

    def _place(self, entry_id: str) -> int | None:
        return next((k for k, one in enumerate(self.said) if one.id == entry_id), None)

    async def _before(self, stream_id: str | None, count: int) -> list[Entry]:
        if stream_id is not None and not _STREAM_ID.fullmatch(stream_id):
            return []
        found = await self._fill.window(before=stream_id, count=count)
        return [_of_fill(one, said) for one, said in found]

    async def _after(self, stream_id: str, count: int) -> list[Entry]:
        if not _STREAM_ID.fullmatch(stream_id):
            return []
        found = await self._fill.window(after=stream_id, count=count)
        return [_of_fill(one, said) for one, said in found]


def _of_fill(stream_id: str, said: dict[str, Any]) -> Entry:
    author, at = str(said.get("author", "")), str(said.get("at", ""))
    return Entry(f"f{stream_id}", at, author, str(said.get("kind", "")), said)


def said_of(view: CaseView, thread: Sequence[ThreadMessage]) -> list[Entry]:
    """Return thread, revisions and verdicts that may be seen, by time."""
    entries = [
        Entry(f"t{one.id}", one.at, one.author, one.kind, one, one.revision) for one in thread
    ]
    for revision in view.revisions:
        number = revision.number
        if number > 1:
            entry_id = f"r{number}"
            entries.append(Entry(entry_id, revision.at, "BenchFill", "revision", revision, number))
        # a verdict that may be taken back is not part of the record yet
        if revision.superseded or view.status not in {"pending", "waiting"}:
            for place, verdict in enumerate(revision.verdicts):
                entries.append(_verdict(verdict, number, revision.verdicts[:place]))
    return sorted(entries, key=lambda one: one.at)


def _verdict(verdict: VerdictView, revision: int, before: Sequence[VerdictView]) -> Entry:
    digits = re.sub(r"[^0-9]", "", verdict.at)[:17]
    again = sum(one.at == verdict.at for one in before)
    entry_id = f"v{revision}.{digits}" + (f".{again}" if again else "")
    return Entry(entry_id, verdict.at, verdict.reviewer, "verdict", verdict, revision)
