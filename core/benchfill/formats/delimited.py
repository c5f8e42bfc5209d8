"""Response matrices from CSV and TSV files, long and wide.

Long: a header with ``model``, ``item``, ``correct`` and, if you like, ``n``; a line for each cell.
Wide: a header whose first field is ``model`` and whose other fields are item ids, a line for each
model; or ``item`` first, then models, a line for each item. Cells are 0 or 1. An empty cell, ``NA``
or ``NaN`` is missing.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..responses import ResponseMatrix
from .table import MISSING, NAMES, TEXT, Table, open_table, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG_REQUIRED = ("model", "item", "correct")
LONG_COLUMNS = (*LONG_REQUIRED, "n")
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
MAX_CELLS = 1_000_000_000
MAX_COUNT = 1_000_000_000
_LONG_FILE = 1 << 23  # bytes


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
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError(f"{threshold} is no score; give a number in [0, 1].", field="threshold")
    table = open_table(path)
    if set(LONG_REQUIRED) <= set(table.header):
        return _Long(table, threshold).read()
    return _Wide(table, threshold).read()


class _Long:
    """A line for each cell: model, item, correct and perhaps n."""

    def __init__(self, table: Table, threshold: float | None) -> None:
        unknown = [name for name in table.header if name not in LONG_COLUMNS]
        if unknown:
            raise table.header_error(
                f"unknown column {shown(unknown[0])}; expected {', '.join(LONG_REQUIRED)} and, "
                "if you like, n."
            )
        self.table, self.threshold = table, threshold

    def read(self) -> ResponseMatrix:
        counts: list[str] = [name for name in ("correct", "n") if name in self.table.header]
        # the reader makes dictionaries slowly; made later they need an import, for long files only
        names = dict.fromkeys(("model", "item"), TEXT if self.table.size > _LONG_FILE else NAMES)
        try:
            rows = self.table.read(names | {name: pa.int64() for name in counts})
            numbers = {name: _filled(rows[name]) for name in counts}
        except pa.ArrowInvalid:
            # some cell is no integer: read text, so that scores, true/false and errors are seen
            rows = self.table.read(names | dict.fromkeys(counts, TEXT))
            numbers = {name: self._parse(name, rows[name].to_pylist()) for name in counts}
        if not len(rows):
            raise self.table.no_data()
        models, j = self._codes(rows, "model")
        items, i = self._codes(rows, "item")
        correct, n = self._counts(numbers)
        return self._matrix(models, items, (j, i), (correct, n))

    def _codes(self, rows: pa.Table, name: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        column = rows[name]
        if column.type == TEXT:
            column = column.dictionary_encode()
        column = column.unify_dictionaries().combine_chunks()
        labels = tuple(column.dictionary.to_pylist())
        codes = np.from_dlpack(column.indices).astype(np.int64)
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
                raise self.table.error(f"{shown(text)} is no number.", row, name)
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
            self._refuse(values > MAX_COUNT, name, values, f"is more than {MAX_COUNT}")
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
        kind = _smallest(int(counts[1].max(initial=0)))
        correct, n = np.zeros(shape, kind), np.zeros(shape, kind)
        correct.ravel()[cell] = 1
        if np.count_nonzero(correct) < len(cell):
            raise self._repeated(models, items, cell)
        correct.ravel()[cell], n.ravel()[cell] = counts[0], counts[1]
        return ResponseMatrix(models, items, correct, n)

    def _repeated(
        self, models: tuple[str, ...], items: tuple[str, ...], cell: NDArray[np.int64]
    ) -> InputError:
        order = np.argsort(cell, kind="stable")
        again = np.flatnonzero(np.diff(cell[order]) == 0)
        row = int(order[again + 1].min())
        j, i = divmod(int(cell[row]), len(items))
        return self.table.error(
            f"model {shown(models[j])} and item {shown(items[i])} stand on an earlier line "
            "already; put repeated rollouts into one line with n.",
            row,
        )


class _Wide:
    """A line for each model and a column for each item, or the other way round."""

    def __init__(self, table: Table, threshold: float | None) -> None:
        if table.header[0] not in {"model", "item"} or len(table.header) < 2:
            found = ", ".join(shown(name) for name in table.header[:4])
            raise table.header_error(
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
            rows = self.table.read({first: TEXT} | {name: pa.int16() for name in columns})
            scores = np.stack([_filled(rows[name]) for name in columns], axis=1)
        except pa.ArrowInvalid:
            rows = self.table.read(dict.fromkeys(self.table.header, TEXT))
            scores = self._parse(rows, columns)
        names = rows[first].to_pylist()
        if not names:
            raise self.table.no_data()
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
                    f"{self.row_kind} {shown(name)} stands on an earlier line already; "
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
                    raise self.table.error(f"{shown(text)} is no number.", row, self._field(name))
                scores[row, column] = value
        return scores

    def _field(self, name: str) -> str:
        return f"{self.column_kind} {shown(name)}"

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
    """Return integers as floats, NaN where missing.

    By the buffers themselves: pyarrow's own way imports pandas, which takes half a second.
    """
    values = np.empty(len(column))
    start = 0
    for chunk in column.chunks:
        known, data = chunk.buffers()
        part = slice(start, start + len(chunk))
        bare = pa.Array.from_buffers(chunk.type, len(chunk), [None, data], offset=chunk.offset)
        values[part] = np.from_dlpack(bare)
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(known, np.uint8), bitorder="little")
            values[part][bits[chunk.offset :][: len(chunk)] == 0] = np.nan
        start = part.stop
    return values


def _smallest(largest: int) -> type[np.signedinteger[Any]]:
    return next(
        kind for kind in (np.int8, np.int16, np.int32, np.int64) if largest <= np.iinfo(kind).max
    )


def responses_csv(matrix: ResponseMatrix) -> str:
    """Return a response matrix as a long CSV with n, missing cells left out."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(LONG_COLUMNS)
    for j, i in np.argwhere(matrix.n > 0):
        writer.writerow(
            [matrix.models[j], matrix.items[i], int(matrix.correct[j, i]), int(matrix.n[j, i])]
        )
    return buffer.getvalue()


def write_responses(matrix: ResponseMatrix, path: str | Path) -> None:
    """Write a response matrix as a long CSV with n, missing cells left out."""
    Path(path).write_text(responses_csv(matrix), encoding="utf-8")
