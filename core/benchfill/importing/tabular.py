"""Tables of any container: CSV and TSV, JSON lines and lists, Parquet, Arrow; row by row."""

from __future__ import annotations

import csv
import io
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

from ..formats.delimited import parse_score
from ..formats.table import LARGEST_FIELD
from .archive import reason
from .json_stream import read_array, read_lines
from .node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .source import InputFile

_ARROW_ERRORS = (pa.ArrowException, OSError, ValueError, TypeError)
_BATCH = 1 << 14


@dataclass(frozen=True)
class Tabular:
    """A table's columns; its rows are read when asked for."""

    file: InputFile
    columns: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int | None, tuple[Any, ...]]]:
        """Iterate over (line, cells), the cells in the order of the columns."""
        if self.file.kind == "text":
            records = csv_records(self.file)
            next(records, None)
            return self._same_width(records)
        if self.file.kind in {"jsonl", "json"}:
            rows = read_lines(self.file) if self.file.kind == "jsonl" else read_array(self.file)
            return ((row.line, tuple(_cell(row, name) for name in self.columns)) for row in rows)
        return _arrow_rows(self.file, self.columns)

    def _same_width(
        self, records: Iterator[tuple[int, list[str]]]
    ) -> Iterator[tuple[int | None, tuple[Any, ...]]]:
        for line, fields in records:
            if len(fields) != len(self.columns):
                raise self.file.error(
                    f"has {len(fields)} fields where the header has {len(self.columns)}.",
                    line=line,
                )
            yield line, tuple(fields)

    def cell(self, value: Any, line: int | None, column: str) -> Node:
        """Return a cell that knows its place."""
        return Node(value, self.file.name, line, column)


def _cell(row: Node, name: str) -> Any:
    found = row.get(name)
    return None if found is None else found.value


def open_tabular(file: InputFile) -> Tabular | None:
    """Return a file's table by its head alone; None if it is none. Never raises."""
    if file.kind == "text":
        first = head_records(file, 1)
        return Tabular(file, tuple(name.strip() for name in first[0])) if first else None
    if file.kind == "jsonl" or file.is_list:
        return Tabular(file, tuple(file.first)) if file.first else None
    if file.kind in {"parquet", "arrow"}:
        try:
            return Tabular(file, tuple(arrow_schema(file).names))
        except _ARROW_ERRORS:
            return None
    return None


def head_records(file: InputFile, count: int) -> list[list[str]]:
    """Return the first records of a delimited text as far as its head goes; fewer if it is none."""
    csv.field_size_limit(LARGEST_FIELD)
    lines = file.head_text.splitlines(keepends=True)
    reader = csv.reader(lines, delimiter=_delimiter(file.head_text))
    try:
        found = list(itertools.islice((one for one in reader if one), count))
    except csv.Error:
        return []
    return found if found and len(found[0]) > 1 else []


def csv_records(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    """Iterate over (first line, fields) of every record that is not blank."""
    csv.field_size_limit(LARGEST_FIELD)
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=_delimiter(file.head_text))
        line = 1
        try:
            for fields in reader:
                if fields:
                    yield line, fields
                line = reader.line_num + 1
        except csv.Error as error:
            raise file.error(f"cannot be read as CSV ({error}).", line=line) from None
        except UnicodeDecodeError:
            raise file.error("is not UTF-8 text; save it as CSV in UTF-8.", line=line) from None


def _delimiter(text: str) -> str:
    return max(",;\t", key=text.lstrip("\r\n").partition("\n")[0].count)


def _source(file: InputFile) -> Any:
    if file.on_disk is not None and not file.on_disk.name.endswith(".gz"):
        return pa.memory_map(str(file.on_disk))
    with file.open() as stream:
        return pa.BufferReader(stream.read())


def arrow_schema(file: InputFile) -> pa.Schema:
    """Return the schema of a Parquet or Arrow file."""
    if file.kind == "parquet":
        return parquet.ParquetFile(_source(file)).schema_arrow
    return _arrow_reader(file).schema


def _arrow_reader(file: InputFile) -> Any:
    source = _source(file)
    is_file = file.head.startswith(b"ARROW1")
    return pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)


def _arrow_rows(
    file: InputFile, columns: tuple[str, ...]
) -> Iterator[tuple[int | None, tuple[Any, ...]]]:
    try:
        for batch in _batches(file, columns):
            values = [batch.column(name).to_pylist() for name in columns]
            for row in zip(*values, strict=True):
                yield None, row
    except _ARROW_ERRORS as error:
        raise file.error(f"cannot be read ({reason(error)}); is the file cut off?") from None


def _batches(file: InputFile, columns: tuple[str, ...]) -> Iterator[Any]:
    if file.kind == "parquet":
        return iter(parquet.ParquetFile(_source(file)).iter_batches(_BATCH, columns=list(columns)))
    reader = _arrow_reader(file)
    if file.head.startswith(b"ARROW1"):
        return (reader.get_batch(k) for k in range(reader.num_record_batches))
    return iter(reader)


def score_of(cell: Node) -> float | None:
    """Return the score in a cell, None where it is missing."""
    value = cell.value
    if value is None or is_nan(value):
        return None
    if not isinstance(value, str):
        return cell.number()
    score = parse_score(value)
    if score is None:
        raise cell.error(f"{value[:40]!r} is no score.")
    return None if math.isnan(score) else score


def is_nan(value: Any) -> bool:
    """Whether a value of any kind is the float that is no number."""
    return isinstance(value, float) and math.isnan(value)


def name_of(cell: Node) -> str:
    """Return the name in a cell; a whole number that some table holds as 3.0 is 3."""
    if cell.is_a(float) and math.isfinite(cell.value) and cell.value % 1 == 0:
        return str(int(cell.value))
    return cell.name()
