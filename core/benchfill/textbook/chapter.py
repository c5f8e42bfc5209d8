"""A chapter as it was read from a source: what is used, what was left out and why, and where."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .frozen import Frozen

Why = Literal[
    "front matter",
    "table of contents",
    "index",
    "exercise",
    "solution",
    "summary",
    "navigation",
    "licence",
    "references",
    "hidden text",
    "markup",
    "page header",
    "empty page",
]


class SourceSpan(Frozen):
    """A place in a source, to cite it by."""

    file: str = Field(description="name of the file, without its folder")
    chapter: str = Field(description="title of the chapter")
    heading: tuple[str, ...] = Field((), description="headings above the place, outermost first")
    line_start: int | None = Field(None, ge=1, description="first line, from 1; None for a PDF")
    line_end: int | None = Field(None, ge=1, description="last line, inclusive")
    char_start: int | None = Field(
        None, ge=0, description="first character of the decoded file (PDF: of the page's text)"
    )
    char_end: int | None = Field(None, ge=0, description="one behind the last character")
    page: int | None = Field(None, ge=1, description="page of a PDF, from 1")

    def cite(self) -> str:
        """Return the citation in words: ``02-numpy.md, "Slicing data", lines 250-262``."""
        place = [self.file]
        if self.heading:
            place.append(f'"{self.heading[-1]}"')
        if self.page is not None:
            place.append(f"page {self.page}")
        elif self.line_start is not None:
            one = self.line_end in (None, self.line_start)
            lines = f"line {self.line_start}" if one else f"lines {self.line_start}-{self.line_end}"
            place.append(lines)
        return ", ".join(place)


class Passage(Frozen):
    """A paragraph, list, table or block of code."""

    id: str = Field(description="unique within its chapter: p1, p2, ...")
    kind: Literal["text", "code", "output", "table", "heading"] = "text"
    text: str
    span: SourceSpan


class LeftOut(Frozen):
    """Something of the source that no item is made from."""

    why: Why
    what: str = Field(description="its heading, or how it begins")
    characters: int = Field(ge=0, description="length of what was left out")
    span: SourceSpan


class Chapter(Frozen):
    """One chapter of a source. Its text is untrusted."""

    id: str = Field(description="unique within a run: file name, and a number where it has several")
    title: str
    file: str
    passages: tuple[Passage, ...]
    sha256: str = Field("", description="of the file")
    licence: str | None = Field(None, description="licence that the user gave for the source")
    attribution: str | None = Field(None, description="whom to name when it is used")

    @property
    def text(self) -> str:
        """What is used of it, passage by passage, headings included."""
        return "\n\n".join(passage.text for passage in self.passages)

    def passage(self, passage_id: str) -> Passage | None:
        """Return the passage with this id, if there is one."""
        return next((one for one in self.passages if one.id == passage_id), None)


class Reading(Frozen):
    """What was read from the sources."""

    chapters: tuple[Chapter, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = Field((), description="what a user should know, one sentence each")


def find_span(chapter: Chapter, quote: str) -> SourceSpan | None:
    """Return where a chapter says something, by its words; white space and case don't matter."""
    wanted = _folded(quote)
    if not wanted:
        return None
    return next((one.span for one in chapter.passages if wanted in _folded(one.text)), None)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
