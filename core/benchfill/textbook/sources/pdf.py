"""PDF by pypdf: text by page, chapters by bookmarks where there are any."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...errors import InputError
from .block import Block, Parsed, Place
from .plain import text_blocks

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 3_000
MIN_CHARACTERS = 20
"""On a page, on average; below it a file is a scan."""
_EDGE_LINES = 2
_REPEATED = 0.4


def read_pdf(content: bytes, source: str) -> Parsed:
    """Return the blocks of a PDF.

    Raises
    ------
    InputError
        It is encrypted, damaged, a scan without text, or too long; or pypdf is not installed.
    """
    if find_spec("pypdf") is None:
        raise InputError(
            "is a PDF, which needs pypdf; pip install 'benchfill[textbook]'.", source=source
        )
    from pypdf.errors import PyPdfError  # noqa: PLC0415 - an extra

    # it logs each breach of the standard; what makes a file useless is said below, once
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = _open(content, source)
        pages = [page.extract_text() or "" for page in reader.pages]
        starts = _bookmarks(reader)
    except InputError:
        raise
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        # pypdf raises many kinds for files that break the standard
        raise InputError(
            f"is a damaged PDF ({type(error).__name__}); save it anew, or give its text.",
            source=source,
        ) from None
    if sum(len(page.strip()) for page in pages) < MIN_CHARACTERS * max(len(pages), 1):
        raise InputError(
            "has no text: it is a scan; run a text recognition on it first (ocrmypdf), or read it "
            "with docling.",
            source=source,
        )
    return _parsed(pages, starts)


def _open(content: bytes, source: str) -> PdfReader:
    from pypdf import PdfReader  # noqa: PLC0415 - an extra

    reader = PdfReader(io.BytesIO(content), strict=False)
    if reader.is_encrypted and not _opens(reader):
        raise InputError("is encrypted; give a copy without a password.", source=source)
    if len(reader.pages) > MAX_PAGES:
        raise InputError(
            f"has {len(reader.pages)} pages, more than {MAX_PAGES}; give its chapters as files.",
            source=source,
        )
    return reader


def _opens(reader: PdfReader) -> bool:
    """Whether a file that only forbids editing opens without a password."""
    from pypdf.errors import DependencyError  # noqa: PLC0415 - an extra

    try:
        return bool(reader.decrypt(""))
    except (DependencyError, NotImplementedError):  # AES without a library for it
        return False


def _bookmarks(reader: PdfReader) -> dict[int, list[tuple[int, str]]]:
    """Return the bookmarks (level, title) by page, from 0."""
    found: dict[int, list[tuple[int, str]]] = {}

    def walk(entries: object, level: int) -> None:
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, list):
                walk(entry, level + 1)
                continue
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0 and entry.title:
                found.setdefault(page, []).append((level, " ".join(str(entry.title).split())))

    walk(reader.outline, 1)
    return found


def _parsed(pages: list[str], starts: dict[int, list[tuple[int, str]]]) -> Parsed:
    parsed = Parsed([])
    repeated = _running_lines(pages)
    for number, page in enumerate(pages):
        headings = starts.get(number, [])
        parsed.blocks += [
            Block("heading", title, Place(page=number + 1), level) for level, title in headings
        ]
        kept, dropped = _without(page, repeated)
        parsed.blocks += [
            Block("text", line, Place(page=number + 1), why="page header") for line in dropped
        ]
        if not kept.strip():
            parsed.blocks.append(Block("text", "", Place(page=number + 1), why="empty page"))
            continue
        titles = {title.casefold() for _, title in headings}
        for block in text_blocks(kept, number + 1):
            if block.kind == "heading" and block.text.casefold() in titles:
                continue  # the bookmark says it already
            # Where there are bookmarks, they tell where chapters begin.
            below = bool(starts) and block.kind == "heading" and block.level == 1
            parsed.blocks.append(_deeper(block) if below else block)
    return parsed


def _deeper(block: Block) -> Block:
    return Block(block.kind, block.text, block.place, 2)


def _running_lines(pages: list[str]) -> set[str]:
    """Return the lines at the edges of pages that stand on many of them, digits left out."""
    counts: Counter[str] = Counter()
    for page in pages:
        lines = [line.strip() for line in page.splitlines() if line.strip()]
        edges = {_masked(line) for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])}
        counts.update(edges)
    least = max(3, int(_REPEATED * len(pages)))
    return {line for line, count in counts.items() if count >= least}


def _without(page: str, repeated: set[str]) -> tuple[str, list[str]]:
    lines = page.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    edges = {*filled[:_EDGE_LINES], *filled[-_EDGE_LINES:]}
    dropped = [n for n in sorted(edges) if _masked(lines[n]) in repeated]
    kept = ["" if n in dropped else line for n, line in enumerate(lines)]
    return "\n".join(kept), [lines[n].strip() for n in dropped]


def _masked(line: str) -> str:
    return re.sub(r"\d+", "#", line.strip())
