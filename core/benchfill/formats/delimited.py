"""Response matrices from CSV and TSV files, long and wide.

Long: a header with ``model``, ``item``, ``correct`` and, if you like, ``n``; a line for each cell.
Wide: a header whose first field is ``model`` and whose other fields are item ids, a line for each
model; or ``item`` first, then models, a line for each item. Cells are 0 or 1. An empty cell, ``NA``
or ``NaN`` is missing.
"""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from ..errors import InputError
from ..responses import ResponseMatrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LONG_REQUIRED = ("model", "item", "correct")
LONG_COLUMNS = (*LONG_REQUIRED, "n")
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None")
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
MAX_CELLS = 1_000_000_000
_MAGIC = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a ZIP or Excel file",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_responses(path: str | Path, *, threshold: float | None = None) -> ResponseMatrix:
    """Read a response matrix from a long or wide CSV or TSV file.

    Parameters
    ----------
    path
        UTF-8 text with a header line; fields separated by comma, semicolon or tab.
    threshold
        Scores in [0, 1] that are neither 0 nor 1 count as correct from this value on. Without it
        such a score is refused (docs/method, section 1).

    Returns
    -------
    ResponseMatrix
        Models and items in the order in which the file first names them.

    Raises
    ------
    InputError
        One sentence that names file, line and cell.
    """
    path = Path(path)
    table = _open(path)
    if set(LONG_REQUIRED) <= set(table.header):
        return _Long(table, threshold).read()
    return _Wide(table, threshold).read()


@dataclass(frozen=True)
class _Table:
    """A delimited file whose header has been looked at."""

    path: Path
    delimiter: str
    header: tuple[str, ...]

    def error(self, message: str, row: int | None = None, field: str | None = None) -> InputError:
        """Make an error about a data row, counted from 0 without blank lines."""
        line = None if row is None else self._line_of(row)
        return InputError(message, source=str(self.path), line=line, field=field)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line, fields), the header's first; slow, for finding the place of an error."""
        with self.path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            start = 1
            for fields in reader:
                if fields:
                    yield start, fields
                start = reader.line_num + 1

    def _line_of(self, row: int) -> int:
        return next(itertools.islice(self.records(), row + 1, None))[0]

    def read(self, types: dict[str, pa.DataType]) -> pa.Table:
        """Read all rows; ragged lines and undecodable text are errors, bad cells ArrowInvalid."""
        widest = max(1 << 24, 4 * sum(len(name) + 4 for name in self.header))
        ragged: list[tuple[int, int]] = []

        def refuse(row: Any) -> str:
            ragged.append((row.expected_columns, row.actual_columns))
            return "error"

        try:
            return arrow_csv.read_csv(
                self.path,
                read_options=arrow_csv.ReadOptions(
                    block_size=widest, column_names=list(self.header), skip_rows=self._header_rows()
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=refuse,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, null_values=list(MISSING), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            if ragged:
                raise self._ragged() from None
            if "UTF8" in str(error):
                raise self.error(
                    "is not UTF-8 text; save it as CSV in UTF-8.", field=None
                ) from None
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


def _open(path: Path) -> _Table:
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be read ({reason}).", source=str(path)) from None
    if not head.strip():
        raise InputError(
            "is empty; expected a header line with model,item,correct or model and item ids.",
            source=str(path),
        )
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise InputError(f"is {what}; save it as CSV in UTF-8.", source=str(path))
    if b"\0" in head:
        raise InputError("is binary, not text; expected CSV in UTF-8.", source=str(path))
    first = head.decode("utf-8-sig", errors="replace").lstrip("\r\n").splitlines()[0]
    delimiter = max(",;\t", key=first.count)
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        csv.field_size_limit(1 << 24)
        try:
            fields = next((row for row in csv.reader(file, delimiter=delimiter) if row), [])
        except csv.Error as error:
            raise InputError(f"has a broken header ({error}).", source=str(path), line=1) from None
    header = tuple(name.strip() for name in fields)
    _check_header(path, header)
    return _Table(path, delimiter, header)


def _check_header(path: Path, header: Sequence[str]) -> None:
    seen: set[str] = set()
    for position, name in enumerate(header):
        if not name and position:
            raise InputError(
                f"column {position + 1} has no name; name every column.", source=str(path), line=1
            )
        if name in seen:
            raise InputError(
                f"column {name!r} stands twice; names must be unique.", source=str(path), line=1
            )
        seen.add(name)


class _Long:
    """A line for each cell: model, item, correct and perhaps n."""

    def __init__(self, table: _Table, threshold: float | None) -> None:
        unknown = [name for name in table.header if name not in LONG_COLUMNS]
        if unknown:
            raise table.error(
                f"unknown column {unknown[0]!r}; expected {', '.join(LONG_REQUIRED)} and, "
                "if you like, n."
            )
        self.table, self.threshold = table, threshold

    def read(self) -> ResponseMatrix:
        names = pa.dictionary(pa.int32(), pa.string())
        counts: list[str] = [name for name in ("correct", "n") if name in self.table.header]
        try:
            rows = self.table.read(
                {"model": names, "item": names} | {name: pa.int64() for name in counts}
            )
            numbers = {name: _filled(rows[name]) for name in counts}
        except pa.ArrowInvalid:
            # some cell is no integer: read text, so that scores, true/false and errors are seen
            rows = self.table.read(
                {"model": names, "item": names} | {name: pa.string() for name in counts}
            )
            numbers = {name: self._parse(name, rows[name].to_pylist()) for name in counts}
        if not len(rows):
            raise self.table.error("has a header but no data line.")
        models, j = self._codes(rows, "model")
        items, i = self._codes(rows, "item")
        correct, n = self._counts(numbers)
        return self._matrix(models, items, (j, i), (correct, n))

    def _codes(self, rows: pa.Table, name: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        column = rows[name].unify_dictionaries().combine_chunks()
        labels = tuple(column.dictionary.to_pylist())
        codes = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        for code, label in enumerate(labels):
            if not label.strip():
                row = int(np.flatnonzero(codes == code)[0])
                raise self.table.error(f"the {name} has no name.", row, name)
        return labels, codes

    def _parse(self, name: str, texts: list[str]) -> NDArray[np.float64]:
        values = np.empty(len(texts))
        for row, text in enumerate(texts):
            value = parse_score(text)
            if value is None:
                raise self.table.error(f"{_shown(text)} is no number.", row, name)
            values[row] = value
        return values

    def _counts(
        self, numbers: dict[str, NDArray[np.float64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        correct = numbers["correct"]
        missing = np.isnan(correct)
        n = numbers.get("n")
        if n is None:
            binary = self._binary(np.where(missing, 0.0, correct))
            return binary, np.where(missing, 0, 1)
        missing |= np.isnan(n)
        correct, n = np.where(missing, 0, correct), np.where(missing, 0, n)
        for name, values in (("n", n), ("correct", correct)):
            self._refuse((values < 0) | (values % 1 != 0), name, values, "is no whole count")
        self._refuse(correct > n, "correct", correct, "is more than n")
        return correct.astype(np.int64), n.astype(np.int64)

    def _binary(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        if self.threshold is None:
            self._refuse(
                (scores != 0) & (scores != 1),
                "correct",
                scores,
                "is neither 0 nor 1; give a column n for counts, or a threshold for partial scores",
            )
            return scores.astype(np.int64)
        self._refuse((scores < 0) | (scores > 1), "correct", scores, "is outside [0, 1]")
        return (scores >= self.threshold).astype(np.int64)

    def _refuse(
        self, bad: NDArray[np.bool_], field: str, values: NDArray[np.float64], why: str
    ) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            raise self.table.error(f"{values[row]:g} {why}.", row, field)

    def _matrix(
        self,
        models: tuple[str, ...],
        items: tuple[str, ...],
        place: tuple[NDArray[np.int64], NDArray[np.int64]],
        counts: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> ResponseMatrix:
        shape = (len(models), len(items))
        if shape[0] * shape[1] > MAX_CELLS:
            raise self.table.error(
                f"names {shape[0]} models and {shape[1]} items, too many for one dense matrix; "
                "is a column swapped?"
            )
        cell = np.ravel_multi_index(place, shape)
        order = np.argsort(cell, kind="stable")
        again = np.flatnonzero(np.diff(cell[order]) == 0)
        if len(again):
            row = int(order[again + 1].min())
            j, i = place[0][row], place[1][row]
            raise self.table.error(
                f"model {models[j]!r} and item {items[i]!r} stand on an earlier line already; "
                "put repeated rollouts into one line with n.",
                row,
            )
        kind = _smallest(int(counts[1].max(initial=0)))
        correct, n = np.zeros(shape, kind), np.zeros(shape, kind)
        correct.ravel()[cell], n.ravel()[cell] = counts[0], counts[1]
        return ResponseMatrix(models, items, correct, n)


class _Wide:
    """A line for each model and a column for each item, or the other way round."""

    def __init__(self, table: _Table, threshold: float | None) -> None:
        if table.header[0] not in {"model", "item"} or len(table.header) < 2:
            found = ", ".join(_shown(name) for name in table.header[:4])
            raise table.error(
                "expected the columns model, item, correct (long), or a first column named model "
                "and then item ids, or named item and then models (wide); "
                f"found {found}{', ...' if len(table.header) > 4 else ''}."
            )
        self.table, self.threshold = table, threshold
        self.row_kind = table.header[0]
        self.column_kind = "item" if self.row_kind == "model" else "model"

    def read(self) -> ResponseMatrix:
        first, *columns = self.table.header
        try:
            rows = self.table.read({first: pa.string()} | {name: pa.int16() for name in columns})
            scores = np.stack([_filled(rows[name]) for name in columns], axis=1)
        except pa.ArrowInvalid:
            rows = self.table.read({name: pa.string() for name in self.table.header})
            scores = self._parse(rows, columns)
        names = rows[first].to_pylist()
        if not names:
            raise self.table.error("has a header but no data line.")
        self._check_names(names)
        missing = np.isnan(scores)
        correct = self._binary(np.where(missing, 0.0, scores), columns)
        n = (~missing).astype(np.int8)
        if self.row_kind == "model":
            return ResponseMatrix(tuple(names), tuple(columns), correct, n)
        return ResponseMatrix(tuple(columns), tuple(names), correct.T.copy(), n.T.copy())

    def _check_names(self, names: list[str]) -> None:
        seen: set[str] = set()
        for row, name in enumerate(names):
            if not name.strip():
                raise self.table.error(f"the {self.row_kind} has no name.", row)
            if name in seen:
                raise self.table.error(
                    f"{self.row_kind} {name!r} stands on an earlier line already; "
                    "use the long form with n for repeated rollouts.",
                    row,
                )
            seen.add(name)

    def _parse(self, rows: pa.Table, columns: list[str]) -> NDArray[np.float64]:
        scores = np.empty((len(rows), len(columns)))
        for column, name in enumerate(columns):
            for row, text in enumerate(rows[name].to_pylist()):
                value = parse_score(text)
                if value is None:
                    raise self.table.error(f"{_shown(text)} is no number.", row, self._field(name))
                scores[row, column] = value
        return scores

    def _field(self, name: str) -> str:
        return f"{self.column_kind} {name!r}"

    def _binary(self, scores: NDArray[np.float64], columns: list[str]) -> NDArray[np.int8]:
        if self.threshold is None:
            bad = (scores != 0) & (scores != 1)
            why = "is neither 0 nor 1; use the long form with n, or a threshold for partial scores"
        else:
            bad, why = (scores < 0) | (scores > 1), "is outside [0, 1]"
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise self.table.error(
                f"{scores[row, column]:g} {why}.", int(row), self._field(columns[column])
            )
        limit = 1.0 if self.threshold is None else self.threshold
        return (scores >= limit).astype(np.int8)


def parse_score(text: str) -> float | None:
    """Return the number in a cell, NaN for a missing one, None for anything else."""
    text = text.strip()
    if text in MISSING:
        return float("nan")
    if text in TRUE or text in FALSE:
        return float(text in TRUE)
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _filled(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(pc.cast(column, pa.float64()).to_numpy(), dtype=np.float64)


def _smallest(largest: int) -> type[np.signedinteger[Any]]:
    return next(
        kind for kind in (np.int8, np.int16, np.int32, np.int64) if largest <= np.iinfo(kind).max
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def write_responses(matrix: ResponseMatrix, path: str | Path) -> None:
    """Write a response matrix as a long CSV with n, missing cells left out."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(LONG_COLUMNS)
    for j, i in np.argwhere(matrix.n > 0):
        writer.writerow(
            [matrix.models[j], matrix.items[i], int(matrix.correct[j, i]), int(matrix.n[j, i])]
        )
    Path(path).write_text(buffer.getvalue(), encoding="utf-8")
