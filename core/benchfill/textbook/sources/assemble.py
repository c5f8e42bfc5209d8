"""Chapters out of a file's blocks: split at the highest headings, without what is left out."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..chapter import Chapter, LeftOut, Passage, SourceSpan
from .block import visible
from .headings import left_out_by_heading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..chapter import Why
    from .block import Block, Parsed

_SHOWN = 80


@dataclass
class _Part:
    """A chapter in the making."""

    title: str
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Assembled:
    """The chapters of one file, and what they lack of it."""

    chapters: list[Chapter] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    invisible: int = 0


def assemble(parsed: Parsed, file: str, stem: str, sha256: str) -> Assembled:
    """Split a file into chapters and leave out sections that no item is made from."""
    result = Assembled()
    parts = _parts(parsed, stem)
    for number, part in enumerate(parts, start=1):
        chapter_id = slug(stem) if len(parts) == 1 else f"{slug(stem)}-{number}"
        passages = _passages(part, file, result)
        if any(passage.kind != "heading" for passage in passages):
            chapter = Chapter(
                id=chapter_id, title=part.title, file=file, passages=passages, sha256=sha256
            )
            result.chapters.append(chapter)
    return result


def slug(text: str) -> str:
    """Return a name that may stand in a file name and a URL."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()
    return plain[:80] or "chapter"


def _parts(parsed: Parsed, stem: str) -> list[_Part]:
    """Split where the highest level of headings has at least two, else keep the file whole."""
    levels = Counter(
        block.level for block in parsed.blocks if block.kind == "heading" and block.why is None
    )
    top = min(levels, default=0)
    alone = levels[top] == 1
    if alone or not top or (top > 1 and parsed.title is not None):
        first = next((b.text for b in parsed.blocks if b.level == top and alone and top == 1), None)
        return [_Part(parsed.title or first or stem, list(parsed.blocks))]
    if top > 1:
        return [_Part(parsed.title or stem, list(parsed.blocks))]
    parts = [_Part(parsed.title or stem)]
    for block in parsed.blocks:
        if block.kind == "heading" and block.level == top and block.why is None:
            parts.append(_Part(block.text))
        parts[-1].blocks.append(block)
    return [part for part in parts if part.blocks]


def _passages(part: _Part, file: str, result: Assembled) -> tuple[Passage, ...]:
    headings: list[tuple[int, str]] = []
    leaving: tuple[int, Why, str] | None = None
    passages: list[Passage] = []
    pending: dict[tuple[Why, str], list[tuple[Block, SourceSpan]]] = {}
    for block in part.blocks:
        if block.kind == "heading" and block.why is None:
            headings = [one for one in headings if one[0] < block.level]
            headings.append((block.level, block.text))
            if leaving is None or block.level <= leaving[0]:
                why = left_out_by_heading(block.text)
                leaving = None if why is None else (block.level, why, block.text)
        text, dropped = visible(block.text)
        result.invisible += dropped
        span = _span(block, file, part.title, tuple(one for _, one in headings))
        why, what = block.why, block.what
        if leaving is not None and why is None:
            _, why, what = leaving
        if why is None:
            number = f"p{len(passages) + 1}"
            passages.append(Passage(id=number, kind=block.kind, text=text, span=span))
        else:
            key = (why, what or _begins(text))
            pending.setdefault(key, []).append((block, span))
    result.left_out += [_left_out(key, found) for key, found in pending.items()]
    return tuple(passages)


def _left_out(key: tuple[Why, str], found: list[tuple[Block, SourceSpan]]) -> LeftOut:
    """Tell of a section once, from its first to its last block."""
    (_, first), (_, last) = found[0], found[-1]
    span = first.model_copy(update={"line_end": last.line_end, "char_end": last.char_end})
    return LeftOut(
        why=key[0],
        what=key[1],
        characters=sum(len(block.text) for block, _ in found),
        span=span,
    )


def _span(block: Block, file: str, chapter: str, heading: tuple[str, ...]) -> SourceSpan:
    place = block.place
    return SourceSpan(
        file=file,
        chapter=chapter,
        heading=heading,
        line_start=place.line_start,
        line_end=place.line_end,
        char_start=place.char_start,
        char_end=place.char_end,
        page=place.page,
    )


def _begins(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."


def twice(values: Iterable[str]) -> str | None:
    """Return a value that stands twice, if there is one."""
    return next((one for one, count in Counter(values).items() if count > 1), None)
