"""What the readers of all formats give: blocks in the order of the file."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from ..chapter import Why

Kind = Literal["text", "code", "output", "table", "heading"]
_HIDDEN = {"Cf", "Co", "Cc", "Cs"}


@dataclass(frozen=True)
class Place:
    """Where a block stands: lines and characters of a text file, or the page of a PDF."""

    line_start: int | None = None
    line_end: int | None = None
    char_start: int | None = None
    char_end: int | None = None
    page: int | None = None


@dataclass(frozen=True)
class Block:
    """A paragraph, heading, list, table or block of code; `why` it is left out, if it is."""

    kind: Kind
    text: str
    place: Place
    level: int = 0
    """Of a heading, from 1."""
    why: Why | None = None
    what: str = ""
    """What is left out, in words; empty: how it begins."""


@dataclass
class Parsed:
    """A file as its reader gives it."""

    blocks: list[Block]
    title: str | None = None
    notes: list[str] = field(default_factory=list)


class Reader(Protocol):
    """Reads one format."""

    def __call__(self, text: str) -> Parsed:
        """Return the blocks of a decoded file."""
        ...


class Lines:
    """The lines of a text, by their first characters."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self._length = len(text)
        for at, character in enumerate(text):
            if character == "\n":
                self._starts.append(at + 1)

    def place(self, first: int, end: int) -> Place:
        """Return the place of lines `first` up to, but not including, `end`; both from 0."""
        last = max(first, end - 1)
        stop = self._starts[last + 1] if last + 1 < len(self._starts) else self._length
        return Place(first + 1, last + 1, self._starts[min(first, len(self._starts) - 1)], stop)

    def line_of(self, at: int) -> int:
        """Return the line, from 0, in which a character stands."""
        return bisect_right(self._starts, at) - 1

    def start(self, line: int) -> int:
        """Return the first character of a line, from 0."""
        return self._starts[line]


def visible(text: str) -> tuple[str, int]:
    """Return a text without invisible characters, and how many there were."""
    kept = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _HIDDEN)
    return kept, len(text) - len(kept)
