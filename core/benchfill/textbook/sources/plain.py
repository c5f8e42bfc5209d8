"""Plain text: paragraphs between blank lines, and headings by how they are written."""

from __future__ import annotations

import re

from .block import Block, Lines, Parsed, Place

_CHAPTER = re.compile(r"(?:chapter|part)\s+(?:\d+|[IVXLC]+)\b[.:]?\s*.{0,80}", re.IGNORECASE)
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+(?P<title>[A-Z][^.!?]{2,80})")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,:'&\-]{3,60}")
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\d+\s*$|\s{3,}\d{1,4}\s*$")
_INDEX_LINE = re.compile(r"^\S.{2,60},\s+\d{1,4}(?:[-–,]\s*\d{1,4})*\s*$")


def read_plain(text: str) -> Parsed:
    """Return the blocks of a plain text file."""
    return Parsed(list(_blocks(text, Lines(text))))


def text_blocks(text: str, page: int) -> list[Block]:
    """Return the blocks of a PDF page's text."""
    return [
        Block(
            one.kind,
            one.text,
            Place(char_start=one.place.char_start, char_end=one.place.char_end, page=page),
            one.level,
            one.why,
            one.what,
        )
        for one in _blocks(text, Lines(text))
    ]


def heading_level(paragraph: str) -> int:
    """Return the level of a heading, from 1; 0 for what is no heading."""
    line = paragraph.strip()
    if "\n" in line or not line:
        return 0
    if _CHAPTER.fullmatch(line):
        return 1
    numbered = _NUMBERED.fullmatch(line)
    if numbered is not None:
        return 1 + numbered["number"].count(".") + 1
    return 2 if _CAPITALS.fullmatch(line) and any(c.isalpha() for c in line[1:]) else 0


def is_contents(text: str) -> bool:
    """Whether lines are those of a table of contents: most end in dots and a page."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= 3 and sum(bool(_LEADERS.search(one)) for one in lines) >= len(lines) * 0.6


def is_index(text: str) -> bool:
    """Whether lines are those of an index: most are a word and pages."""
    lines = [line for line in text.splitlines() if line.strip()]
    return (
        len(lines) >= 5 and sum(bool(_INDEX_LINE.match(one)) for one in lines) >= len(lines) * 0.7
    )


def _blocks(text: str, counted: Lines) -> list[Block]:
    found: list[Block] = []
    lines = text.split("\n")
    start = 0
    for end in range(len(lines) + 1):
        if end < len(lines) and lines[end].strip():
            continue
        if end > start:
            found += _paragraph(lines, start, end, counted)
        start = end + 1
    return found


def _paragraph(lines: list[str], start: int, end: int, counted: Lines) -> list[Block]:
    """Return the blocks of lines that no blank line parts; a first line may be a heading."""
    if end - start >= 2 and re.fullmatch(r"\s*(?:={3,}|-{3,})\s*", lines[start + 1]):
        level = 1 if "=" in lines[start + 1] else 2
        first = Block("heading", lines[start].strip(), counted.place(start, start + 2), level)
        return [first, *(_paragraph(lines, start + 2, end, counted) if end - start > 2 else [])]
    level = heading_level(lines[start])
    if level:
        first = Block("heading", lines[start].strip(), counted.place(start, start + 1), level)
        return [first, *(_paragraph(lines, start + 1, end, counted) if end - start > 1 else [])]
    text = "\n".join(line.rstrip() for line in lines[start:end])
    place = counted.place(start, end)
    if is_contents(text):
        return [Block("text", text, place, why="table of contents")]
    if is_index(text):
        return [Block("text", text, place, why="index")]
    indented = all(line.startswith(("    ", "\t")) for line in lines[start:end])
    if indented:
        return [Block("code", text, place)]
    joined = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text)
    return [Block("text", " ".join(joined.split()), place)]
