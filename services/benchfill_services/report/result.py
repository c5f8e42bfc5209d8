"""A command's result, told once: for the terminal, and as a report folder with one page.

A command says what was found as a `ResultPage`; how that looks is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table as TerminalTable
from rich.text import Text

from .folder import json_bytes, merged, write_folder
from .page import render
from .text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rich.console import Console

    from .methods import Methods
    from .pictures import Picture

NAME = 34
TERMINAL_ROWS = 12
Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """A table: text stands left, numbers right, floats with three decimals, None as a dash."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    on_terminal: bool = True
    on_page: bool = True


@dataclass(frozen=True)
class Drawing:
    """A picture that is drawn only if a report is written, and the line under it."""

    draw: Callable[[], Picture]
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the page: words, then the picture, then the tables."""

    title: str
    words: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class ResultPage:
    """What a command found, in plain words first.

    ``lead`` is the answer in one to three sentences, ``caveats`` what weakens it; both are shown on
    the terminal too, with the first rows of the tables that are meant for it.
    """

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    caveats: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


def write_result(
    out: Path,
    envelope: Mapping[str, Any],
    result: Mapping[str, Any],
    page: ResultPage,
    methods: Methods,
) -> None:
    """Write report.html, report.json, the pictures and the page's own files into a folder.

    Raises
    ------
        InputError: the folder cannot be written.
    """
    document = merged(envelope, result)
    drawn = {
        number: tuple((one.draw(), one.caption) for one in section.drawings)
        for number, section in enumerate(page.sections)
    }
    pictures = [picture for pairs in drawn.values() for picture, _ in pairs]
    files = ["report.json", *(picture.file for picture in pictures), *page.files]
    html = render(
        "result.html.jinja",
        title=page.title,
        lead=page.lead,
        caveats=page.caveats,
        sections=tuple(zip(page.sections, drawn.values(), strict=True)),
        document=document,
        methods=methods,
        files=files,
    )
    write_folder(
        out,
        {
            "report.html": html,
            "report.json": json_bytes(document, indent=2),
            **{picture.file: picture.light for picture in pictures},
            **page.files,
        },
    )


def print_result(console: Console, page: ResultPage, out: Path | None) -> None:
    """Print the answer, what weakens it, and the heads of the tables."""
    for sentence in page.lead:
        console.print(Text(sentence))
    for sentence in page.caveats:
        console.print(Text(sentence, style="yellow"))
    for section in page.sections:
        for table in section.tables:
            if table.on_terminal and table.rows:
                console.print()
                console.print(Text(table.caption, style="bold"))
                console.print(_terminal(table))
    if out is not None:
        console.print()
        # on one line however long it is, so that it can be clicked and copied
        console.print(Text(f"report  {out / 'report.html'}"), soft_wrap=True)


def _terminal(table: Table) -> TerminalTable:
    shown = TerminalTable(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for column, head in enumerate(table.heads):
        number = all(not isinstance(row[column], str) for row in table.rows)
        shown.add_column(head, justify="right" if number else "left", overflow="fold")
    for row in table.rows[:TERMINAL_ROWS]:
        shown.add_row(*(Text(_shown(cell)) for cell in row))
    left = len(table.rows) - TERMINAL_ROWS
    if left > 0:
        shown.add_row(Text(f"… {left:,} more", style="dim"), *[""] * (len(table.heads) - 1))
    return shown


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return one_line(cell, NAME)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.3f}"
