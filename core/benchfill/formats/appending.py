"""Cells of further items put behind a file of responses, whose own cells stay as they are."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .delimited import LONG_COLUMNS, read_responses
from .table import open_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..responses import ResponseMatrix


class Cell(NamedTuple):
    """Successes and rollouts of one model on one item."""

    model: str
    item: str
    correct: int
    n: int


def with_cells(path: str | Path, cells: Sequence[Cell]) -> bytes:
    """Return a file of responses with further cells behind its own.

    Parameters
    ----------
    path
        A file that `read_responses` reads.
    cells
        Of items that the file does not have, by models that it has.

    Returns
    -------
    bytes
        A long file with ``n`` goes on as it is, byte for byte, with a line a cell behind it; any
        other is written anew in that form, since it has no place for counts. `read_responses`
        gives back the same cells, models and items in the same order, then the new items.

    Raises
    ------
    InputError
        The file cannot be used.
    """
    path = Path(path)
    table = open_table(path)
    if set(table.header) != set(LONG_COLUMNS):
        matrix = read_responses(path)
        return _lines(LONG_COLUMNS, [*_all_named(matrix), *cells], ",", "\n", head=True)
    content = path.read_bytes()
    end = "\r\n" if b"\r\n" in content[: 1 << 16] else "\n"
    if not content.endswith((b"\n", b"\r")):
        content += end.encode()
    return content + _lines(table.header, cells, table.delimiter, end, head=False)


def _lines(
    columns: Sequence[str], cells: Iterable[Cell], delimiter: str, end: str, *, head: bool
) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end)
    if head:
        writer.writerow(columns)
    writer.writerows([getattr(cell, name) for name in columns] for cell in cells)
    return buffer.getvalue().encode()


def _all_named(matrix: ResponseMatrix) -> list[Cell]:
    """Return the cells; missing ones too where their model or item would else have no name.

    The first model names all items, so that they keep their order.
    """
    cells = []
    for j, model in enumerate(matrix.models):
        known = [i for i in range(len(matrix.items)) if j == 0 or matrix.n[j, i] > 0] or [0]
        cells += [
            Cell(model, matrix.items[i], int(matrix.correct[j, i]), int(matrix.n[j, i]))
            for i in known
        ]
    return cells
