"""Wide tables: models x items, items x models, with a header or without one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...formats.delimited import parse_score
from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat, key_name
from ..source import HEAD
from ..tabular import (
    Tabular,
    arrow_schema,
    csv_records,
    head_records,
    is_nan,
    name_of,
    open_tabular,
    score_of,
)
from .rows import NAMES, is_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..source import InputFile

_LOOKED_AT = 20
_NUMBERS = {kind() for kind in (pa.bool_, pa.int8, pa.int16, pa.int32, pa.int64)} | {
    *(kind() for kind in (pa.uint8, pa.float32, pa.float64, pa.null)),
}
_MODELS, _ITEMS = {*NAMES["model"], "models"}, {*NAMES["item"], "items", "question"}


@dataclass(frozen=True)
class _Layout:
    """How the cells lie."""

    header: bool
    row_names: bool
    rows: str | None
    """models or items, if the table itself says so."""
    why: str
    odd: bool = False
    """Whether the first header cell names neither: a table of anything, read if asked for."""


class Wide(ResultFormat):
    """Tables with a cell for each model and item."""

    name = "wide"
    example = "benchfill import matrix.csv --rows items"
    title = "wide tables (CSV, TSV, Parquet): models x items, items x models, without a header"
    recognised_by = "cells from 0 to 1 in every column but the first"
    generic = True
    choices = (
        Choice(
            "--rows",
            "by the first header cell, else by which side is only numbered",
            "whether rows are models or items",
        ),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its cells."""
        layout = _layout(file)
        if layout is None or layout.odd or is_long(file):
            return None
        head = "a header" if layout.header else "no header"
        return Recognised(f"{head}, and cells from 0 to 1")

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield every cell."""
        layout = _layout(file)
        if layout is None:
            head = head_records(file, 1)
            if not head and file.kind not in {"parquet", "arrow"}:
                raise file.error("is no table of scores.")
            layout = _Layout(header=True, row_names=True, rows=None, why="--format wide")
        yield from _Cells(file, reading, layout).read()


def _is_score(cell: Any) -> bool:
    value = parse_score(cell) if isinstance(cell, str) else cell
    if value is None:
        return not isinstance(cell, str)
    return isinstance(value, int | float) and (is_nan(value) or 0 <= value <= 1)


def _layout(file: InputFile) -> _Layout | None:
    """Return how the cells lie, by the head of the file; None if they are no scores."""
    if file.kind in {"parquet", "arrow"}:
        return _of_columns(open_tabular(file))
    records = _whole_records(file) if file.kind == "text" else []
    if not records or any(len(one) != len(records[0]) for one in records):
        return None
    first, body = records[0], records[1:]
    if all(_is_score(cell) for one in records for cell in one) and _no_header(first):
        return _Layout(header=False, row_names=False, rows=None, why="")
    if not body or not all(_is_score(cell) for one in body for cell in one[1:]):
        return None
    corner = first[0].strip().casefold()
    rows = _side(corner)
    if rows is None and corner and all(_is_score(cell) for cell in first[1:]):
        return _Layout(header=False, row_names=True, rows=None, why="")
    why = f"the first header is {corner!r}"
    return _Layout(header=True, row_names=True, rows=rows, why=why, odd=bool(corner and not rows))


def _side(corner: str) -> str | None:
    return "models" if corner in _MODELS else "items" if corner in _ITEMS else None


def _whole_records(file: InputFile) -> list[list[str]]:
    """Return the first records, without one that the head may have cut."""
    records = head_records(file, _LOOKED_AT)
    cut = len(file.head) == HEAD and len(records) < _LOOKED_AT
    return records[:-1] if cut else records


def _no_header(first: list[str]) -> bool:
    """Whether a first record of scores is data: names are unique, and scores soon are not."""
    return bool(first[0].strip()) or len(set(first[1:])) < len(first[1:])


def _of_columns(table: Tabular | None) -> _Layout | None:
    if table is None or len(table.columns) < 2:
        return None
    schema = arrow_schema(table.file)
    if not all(one.type in _NUMBERS for one in list(schema)[1:]):
        return None
    corner = table.columns[0].casefold()
    rows = _side(corner)
    if rows is None:
        return None
    return _Layout(header=True, row_names=True, rows=rows, why=f"the first column is {corner!r}")


class _Cells:
    """Reads the cells of one table."""

    def __init__(self, file: InputFile, reading: Reading, layout: _Layout) -> None:
        self._file, self._reading, self._layout = file, reading, layout

    def read(self) -> Iterator[Response]:
        """Yield every cell; rows are models, or items."""
        columns, rows = self._parts()
        wide_rows = self._rows_are(columns)
        by_model = wide_rows == "models"
        known: dict[Any, float | None] = {}
        for number, (line, cells) in enumerate(rows, start=1):
            if self._layout.row_names:
                name = name_of(self._node(cells[0], line, "first column"))
            else:
                name = f"{wide_rows.removesuffix('s')} {number}"
            scores = cells[1:] if self._layout.row_names else cells
            for column, cell in zip(columns, scores, strict=True):
                # a table has many cells, and few different ones
                score = known[cell] if cell in known else self._score(cell, line, column, known)
                model, item = (name, column) if by_model else (column, name)
                yield Response(model, item, score, why="empty cell", line=line)

    def _score(
        self, cell: Any, line: int | None, column: str, known: dict[Any, float | None]
    ) -> float | None:
        score = score_of(self._node(cell, line, column))
        known[cell] = score
        return score

    def _node(self, value: Any, line: int | None, column: str) -> Any:
        return Tabular(self._file, ()).cell(value, line, column)

    def _parts(self) -> tuple[list[str], Iterator[tuple[int | None, tuple[Any, ...]]]]:
        table = open_tabular(self._file)
        if table is None:
            raise self._file.error("is no table.")
        if self._layout.header:
            names = [
                key_name(name, self._node(name, None, f"column {k}"))
                for k, name in enumerate(table.columns[1:], start=2)
            ]
            if len(set(names)) < len(names):
                twice = Counter(names).most_common(1)[0][0]
                raise self._file.error(f"column {twice!r} stands twice; names must be unique.")
            return names, table.rows()
        width = len(table.columns) - self._layout.row_names
        kind = "item" if self._rows_are([""] * width) == "models" else "model"
        return [f"{kind} {k}" for k in range(1, width + 1)], self._records(len(table.columns))

    def _records(self, width: int) -> Iterator[tuple[int | None, tuple[Any, ...]]]:
        for line, fields in csv_records(self._file):
            if len(fields) != width:
                raise self._file.error(
                    f"has {len(fields)} fields where the first line has {width}.", line=line
                )
            yield line, tuple(fields)

    def _rows_are(self, columns: list[str]) -> str:
        default, why = self._layout.rows, self._layout.why
        if default is None:
            default, why = self._by_names(columns)
        if default is None and "rows" not in self._reading.options.chosen:
            raise self._file.error(
                "does not say what its rows are; --rows models or --rows items does."
            )
        return self._reading.choose("rows", default or "", ("models", "items"), because=why)

    def _by_names(self, columns: list[str]) -> tuple[str | None, str]:
        if not self._layout.row_names:
            height = sum(1 for _ in csv_records(self._file))
            if height == len(columns):
                return None, ""
            rows = "models" if height < len(columns) else "items"
            return rows, f"{height} rows and {len(columns)} columns: there are more items"
        start = int(self._layout.header)
        labels = [one[0].strip() for one in head_records(self._file, _LOOKED_AT)[start:]]
        numbered = all(one.isdecimal() for one in labels)
        if numbered and not all(one.isdecimal() for one in columns):
            return "items", "rows are numbered, columns are named"
        if columns[0] and not numbered and all(one.isdecimal() for one in columns):
            return "models", "columns are numbered, rows are named"
        return None, ""


FORMATS = (Wide(),)
