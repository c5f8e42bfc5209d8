"""A delimited text file, opened with suspicion: what it is, its header, its lines.

Pyarrow parses; Python's csv module reads again only to find the place of an error.
"""

from __future__ import annotations

import codecs
import csv
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv as arrow_csv

from ..errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None")
TEXT = pa.string()
NAMES = pa.dictionary(pa.int32(), pa.string())
LARGEST_FIELD = 1 << 24
RESPONSES_HEADER = "model,item,correct or model and item ids"
_MAGIC = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a ZIP or Excel file",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


@dataclass(frozen=True)
class Table:
    """A delimited file whose header has been looked at."""

    path: Path
    delimiter: str
    header: tuple[str, ...]
    header_line: int

    def error(self, message: str, row: int | None = None, field: str | None = None) -> InputError:
        """Make an error about a data row, counted from 0 without blank lines."""
        line = None if row is None else self._line_of(row)
        return InputError(message, source=str(self.path), line=line, field=field)

    def header_error(self, message: str) -> InputError:
        """Make an error about the header."""
        return InputError(message, source=str(self.path), line=self.header_line)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    def no_data(self) -> InputError:
        """Make an error about a table without lines."""
        return self.error("has a header but no data line.")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Iterate over (line, fields), the header's first; slow, for finding an error's place."""
        return _records(self.path, self.delimiter)

    def _line_of(self, row: int) -> int:
        return next(itertools.islice(self.records(), row + 1, None))[0]

    def read(self, types: dict[str, pa.DataType]) -> pa.Table:
        """Read all rows; ragged lines and undecodable text are errors, bad cells ArrowInvalid."""
        widest = max(1 << 24, 4 * sum(len(name) + 4 for name in self.header))
        try:
            return arrow_csv.read_csv(
                self.path,
                read_options=arrow_csv.ReadOptions(
                    block_size=widest, column_names=list(self.header), skip_rows=self._header_rows()
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=True
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, null_values=list(MISSING), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            _refuse_undecodable(self.path)
            if next(itertools.islice(self.records(), 1, None), None) is None:
                raise self.no_data() from None
            if "columns, got" in str(error):
                raise self._ragged() from None
            if all(kind in {TEXT, NAMES} for kind in types.values()):
                # text takes any cell, so that it is the file as such that cannot be parsed
                reason = " ".join(str(error).split())[:200]
                raise self.error(f"cannot be read as CSV ({reason}).") from None
            raise

    def _header_rows(self) -> int:
        """Lines that the header takes: more than one where a name holds a line break."""
        with self.path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            for fields in reader:
                if fields:
                    break
            return int(reader.line_num)

    def _ragged(self) -> InputError:
        for line, fields in itertools.islice(self.records(), 1, None):
            if len(fields) != len(self.header):
                return InputError(
                    f"has {len(fields)} fields where the header has {len(self.header)}; "
                    "give every line the same number of fields.",
                    source=str(self.path),
                    line=line,
                )
        return self.error("has lines of different length; give all the same number of fields.")


def open_table(path: Path, *, expected: str = RESPONSES_HEADER) -> Table:
    """Look at a file's kind and header; `expected` says in an error what a header would name.

    Raises
    ------
    InputError
        No such file, no text, no header, or a column without a name of its own.
    """
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be read ({reason}).", source=str(path)) from None
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise InputError(f"is {what}; save it as CSV in UTF-8.", source=str(path))
    if b"\0" in head:
        raise InputError("is binary, not text; expected CSV in UTF-8.", source=str(path))
    text = head.decode("utf-8-sig", errors="replace").strip("\r\n")
    if not text.strip():
        raise InputError(f"is empty; expected a header line with {expected}.", source=str(path))
    delimiter = max(",;\t", key=text.splitlines()[0].count)
    csv.field_size_limit(LARGEST_FIELD)
    try:
        line, fields = next(_records(path, delimiter), (1, []))
    except csv.Error as error:
        raise InputError(f"has a broken header ({error}).", source=str(path), line=1) from None
    # of a byte order mark that is cut short, the file's decoder makes nothing at all
    if not fields or any("\ufffd" in name for name in fields):
        _refuse_undecodable(path)
    table = Table(path, delimiter, tuple(name.strip() for name in fields), line)
    _check_header(table)
    return table


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record that is not blank."""
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        reader = csv.reader(file, delimiter=delimiter)
        start = 1
        for fields in reader:
            if fields:
                yield start, fields
            start = reader.line_num + 1


def _check_header(table: Table) -> None:
    seen: set[str] = set()
    for position, name in enumerate(table.header):
        if not name and position:
            raise table.header_error(f"column {position + 1} has no name; name every column.")
        if name in seen:
            raise table.header_error(f"column {shown(name)} stands twice; names must be unique.")
        seen.add(name)


def _refuse_undecodable(path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            try:
                decoder.decode(block, final=len(block) < 1 << 20)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                raise InputError(
                    "is not UTF-8 text; save it as CSV in UTF-8.", source=str(path), line=line
                ) from None
            line += block.count(b"\n")


def shown(text: str) -> str:
    """Quote a piece of the file for an error, cut where it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
