"""Reads sources: each file by its format, with one sentence for what cannot be read."""

from __future__ import annotations

import hashlib
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...errors import InputError
from ..chapter import Reading
from .assemble import assemble, twice
from .docling import read_with_docling
from .html import read_html
from .markdown import read_markdown
from .pdf import read_pdf
from .plain import read_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..chapter import Chapter, LeftOut
    from .assemble import Assembled
    from .block import Parsed

PdfReaderName = Literal["pypdf", "docling"]

MAX_TEXT_BYTES = 10_000_000
MAX_PDF_BYTES = 200_000_000
_FORMATS: dict[str, Callable[[str], Parsed]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".qmd": read_markdown,
    ".rmd": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".txt": read_plain,
    ".text": read_plain,
}


def read_sources(
    paths: Sequence[str | Path],
    *,
    pdf: PdfReaderName = "pypdf",
    licence: str | None = None,
    attribution: str | None = None,
) -> Reading:
    """Read the chapters of Markdown, plain text, HTML and PDF files.

    Parameters
    ----------
    paths
        Files, told apart by their names' endings; a PDF also by its first bytes.
    pdf
        Library that reads PDF files.
    licence, attribution
        What is to be said of the source wherever an item made from it goes.

    Returns
    -------
    Reading
        Chapters in the order of the files, what was left out with its reason, and notes.

    Raises
    ------
    InputError
        Names the file: it is missing, empty, binary, too large, of an unknown format, no UTF-8,
        holds nothing but what is left out, or is a PDF that is encrypted, damaged or scanned.
    """
    if not paths:
        raise InputError("--source needs at least one file.")
    files = [Path(path) for path in paths]
    repeated = twice(str(path.resolve()) for path in files)
    if repeated is not None:
        raise InputError("is given twice.", source=repeated)
    chapters: list[Chapter] = []
    left_out: list[LeftOut] = []
    notes: list[str] = []
    names = Counter(path.stem.lower() for path in files)
    for path in files:
        stem = path.stem if names[path.stem.lower()] == 1 else f"{path.parent.name}-{path.stem}"
        found = _read(path, stem, pdf, notes)
        said = {"licence": licence, "attribution": attribution}
        chapters += [chapter.model_copy(update=said) for chapter in found.chapters]
        left_out += found.left_out
    repeated = twice(chapter.id for chapter in chapters)
    if repeated is not None:
        raise InputError(f"two chapters have the id {repeated!r}; rename a file.")
    notes += _licences(files, licence)
    return Reading(chapters=tuple(chapters), left_out=tuple(left_out), notes=tuple(notes))


def summarise(reading: Reading) -> str:
    """Say in a few lines what is used of the sources, and what is left out and why."""
    lines = []
    for chapter in reading.chapters:
        words = sum(len(passage.text.split()) for passage in chapter.passages)
        lines.append(
            f"{chapter.id}: {chapter.title!r} ({chapter.file}), {len(chapter.passages)} passages, "
            f"{words} words used"
        )
        gone: dict[str, list[LeftOut]] = {}
        for one in reading.left_out:
            if (one.span.file, one.span.chapter) == (chapter.file, chapter.title):
                gone.setdefault(one.why, []).append(one)
        for why, found in gone.items():
            shown = ", ".join(f'"{one.what}"' for one in found[:4])
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            size = sum(one.characters for one in found)
            lines.append(f"  left out as {why} ({size} characters): {shown}{more}")
    known = {(chapter.file, chapter.title) for chapter in reading.chapters}
    lines += [
        f"  left out as {one.why}: {one.span.chapter!r} ({one.span.file})"
        for one in reading.left_out
        if (one.span.file, one.span.chapter) not in known
    ]
    return "\n".join([*lines, *reading.notes])


def _read(path: Path, stem: str, pdf: PdfReaderName, notes: list[str]) -> Assembled:
    content = _content(path)
    sha256 = hashlib.sha256(content).hexdigest()
    source = str(path)
    try:
        if content.startswith(b"%PDF-") or path.suffix.lower() == ".pdf":
            parsed = read_with_docling(path) if pdf == "docling" else read_pdf(content, source)
        else:
            parsed = _reader(path)(_text(content, source))
    except RecursionError:
        raise InputError("is nested too deeply.", source=source) from None
    found = assemble(parsed, path.name, stem, sha256)
    if not found.chapters:
        raise InputError(
            "holds nothing to make items from; all of it is left out as "
            f"{', '.join(dict.fromkeys(one.why for one in found.left_out)) or 'empty'}.",
            source=source,
        )
    if found.invisible:
        notes.append(f"{path.name}: {found.invisible} invisible characters were removed.")
    hidden = sum(one.why == "hidden text" for one in found.left_out)
    if hidden:
        notes.append(
            f"{path.name}: {hidden} hidden texts (comments, elements that a browser does not show) "
            "were left out."
        )
    notes += parsed.notes
    return found


def _content(path: Path) -> bytes:
    source = str(path)
    try:
        if path.is_dir():
            raise InputError("is a folder; name its files.", source=source)
        size = path.stat().st_size
        is_pdf = path.suffix.lower() == ".pdf"
        limit = MAX_PDF_BYTES if is_pdf else MAX_TEXT_BYTES
        if size > limit:
            raise InputError(
                f"has {size // 1_000_000} MB, more than {limit // 1_000_000}; give its chapters as "
                "files of their own.",
                source=source,
            )
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}).", source=source) from None
    if not content.strip():
        raise InputError("is empty.", source=source)
    if is_pdf and not content.startswith(b"%PDF-") and b"%PDF-" not in content[:1024]:
        raise InputError("is named .pdf but is no PDF.", source=source)
    return content


def _reader(path: Path) -> Callable[[str], Parsed]:
    reader = _FORMATS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"has the ending {path.suffix!r}; sources are Markdown (.md), plain text (.txt), HTML "
            "(.html) or PDF.",
            source=str(path),
        )
    if reader is read_html and find_spec("bs4") is None:
        raise InputError(
            "is HTML, which needs Beautiful Soup; pip install 'benchfill[textbook]'.",
            source=str(path),
        )
    return reader


def _text(content: bytes, source: str) -> str:
    if b"\x00" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("is a binary file; give text, HTML, Markdown or PDF.", source=source)
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8; save the file as UTF-8.", source=source
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _licences(files: Sequence[Path], licence: str | None) -> list[str]:
    if licence is not None:
        return []
    beside = {found.name for path in files for found in path.parent.glob("LICEN[CS]E*")}
    return [f"{name} stands beside the sources: name the licence with the items."
            for name in sorted(beside)]  # fmt: skip
