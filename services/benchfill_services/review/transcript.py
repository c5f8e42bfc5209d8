"""A candidate's transcript as a file: Markdown to read, JSON Lines to work with.

It holds what one person may see: what the agents of the fill said, what was said afterwards, and
the verdicts that are not hidden from them. Ids are those of the review page's permalinks.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..store.transcript import RedisTranscript
from .page.invisible import visible
from .page.timeline import said_of
from .view import RevisionView, VerdictView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

    from benchfill.items import Item

    from .desk import ReviewDesk
    from .page.timeline import Entry
    from .rules import Person
    from .view import CaseView

TranscriptFormat = Literal["markdown", "jsonl"]
_FENCE = re.compile(r"`{3,}")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")
_LONGEST_NAME = 200


class TranscriptEntry(BaseModel):
    """One message, revision or verdict. All text in it is untrusted."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(description="permalink's id: f fill, t thread, r revision, v verdict")
    at: str
    author: str
    kind: str
    revision: int | None = Field(description="the revision it is about; null in the fill")
    text: str
    verdict: str | None = None
    reasons: tuple[str, ...] = ()


async def transcript_of(
    redis: Redis, desk: ReviewDesk, candidate: str, person: Person
) -> tuple[CaseView, list[TranscriptEntry]]:
    """Return a case and what was said about it, as one person may see both, oldest first.

    Raises
    ------
    UnknownCaseError
        It is not under review.
    """
    view = await desk.look(candidate, person)
    fill = await RedisTranscript(redis, view.job, view.gap).read_with_ids()
    after = said_of(view, await desk.thread(candidate, person))
    return view, [*(_of_fill(*one) for one in fill), *map(_of_entry, after)]


def _of_fill(stream_id: str, message: dict[str, Any]) -> TranscriptEntry:
    return TranscriptEntry(
        id=f"f{stream_id}",
        at=str(message.get("at") or ""),
        author=str(message.get("author", "")),
        kind=str(message.get("kind", "")),
        revision=None,
        text=str(message.get("text", "")),
    )


def _of_entry(entry: Entry) -> TranscriptEntry:
    said = entry.said
    text, verdict = "", None
    reasons: tuple[str, ...] = ()
    if isinstance(said, VerdictView):
        text, verdict, reasons = said.text, said.verdict, said.reasons
    elif isinstance(said, RevisionView):
        text = said.item.question
    elif not isinstance(said, dict):
        text = said.text
    return TranscriptEntry(
        id=entry.id,
        at=entry.at,
        author=entry.author,
        kind=entry.kind,
        revision=entry.revision,
        text=text,
        verdict=verdict,
        reasons=reasons,
    )


def as_jsonl(entries: Sequence[TranscriptEntry]) -> str:
    """Return one JSON object a line, in ASCII: nothing in it steers a terminal."""
    return "".join(f"{json.dumps(one.model_dump(mode='json'))}\n" for one in entries)


def as_markdown(view: CaseView, entries: Sequence[TranscriptEntry]) -> str:
    """Return the item, its parent and all entries; every text stands in a fence of its own."""
    parts = [
        f"# Candidate {view.id}\n",
        f"Benchmark {_line(view.benchmark)}, {_line(view.gap)}, aimed at z {view.target.z:.3f} "
        f"({view.target.z_left:.3f} to {view.target.z_right:.3f}); {view.status}.\n",
        f"## Item, revision {view.latest.number}\n",
        *_item(view.latest.item),
        *(["## Parent\n", *_item(view.parent)] if view.parent else []),
        "## Transcript\n",
    ]
    for one in entries:
        about = f", revision {one.revision}" if one.revision is not None else ""
        parts.append(f"### {_line(one.author)}: {_line(one.kind)}{about}\n")
        parts.append(f"`{_code(one.id)}`, {_line(one.at)}\n")
        if one.verdict is not None:
            why = f" ({', '.join(map(_line, one.reasons))})" if one.reasons else ""
            parts.append(f"**{_line(one.verdict)}**{why}\n")
        if one.text:
            parts.append(fenced(one.text))
    return "\n".join(parts)


def _item(item: Item) -> list[str]:
    choices = [f"{number}. {choice}" for number, choice in enumerate(item.choices, start=1)]
    return [
        f"Id: {_line(item.id)}\n",
        fenced(item.question),
        *([fenced("\n".join(choices))] if choices else []),
        "Answer:\n",
        fenced(item.answer),
    ]


def fenced(text: str) -> str:
    """Return text in a code fence that it cannot close, with what hides in it made visible."""
    shown = visible(text)
    longest = max((len(run) for run in _FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown}\n{fence}\n"


def _line(text: str) -> str:
    """Return text on one line in which nothing is Markdown or HTML."""
    line = " ".join(visible(text[:_LONGEST_NAME]).split())
    return _MARKDOWN.sub(r"\\\1", html.escape(line, quote=False))


def _code(text: str) -> str:
    return " ".join(visible(text).split()).replace("`", "'")
