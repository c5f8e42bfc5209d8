"""A table of scores from a delimited file: a line a model, a column a benchmark.

Which columns are benchmarks is decided by one rule, and every column that is not taken is told:

1. The column ``model``, or else the first one, names the models.
2. A column is left out when its name is one of `METADATA` (parameters, dates, averages, ...), when
   no cell or fewer than half of its cells hold a number (85% and 8,5 count as numbers here), or
   when it is the mean of the others.
3. Every other column is a benchmark; a cell of it that is neither empty nor a number is an error.

Columns that the caller names are taken in place of rules 2 and 3.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..suite.scores import ScoreTable, SkippedColumn
from .table import MISSING, TEXT, Table, open_table, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# compared in lower case, letters and digits only
METADATA = frozenset(
    (
        *("params", "paramsb", "parameters", "nparams", "numparams", "size", "sizeb", "modelsize"),
        *("rank", "position", "index", "id", "year", "date", "releasedate", "released", "updated"),
        *("average", "avg", "averagescore", "mean", "meanscore", "overall", "total", "totalscore"),
        *("price", "cost", "co2cost", "latency", "seconds", "time", "tokens", "contextlength"),
        *("votes", "likes", "downloads", "hubhearts", "moe", "merged", "flagged"),
    )
)
MODEL_COLUMN = "model"
_ALMOST = re.compile(r"[-+]?\d+([.,]\d+)?\s*%?")
_MEAN_TOLERANCE = 0.006  # of a mean that was written with two decimals
_OF_RANGE = 0.02  # and no more of what the column spans, or small scores would all be means


def read_score_table(path: str | Path, *, columns: Sequence[str] | None = None) -> ScoreTable:
    """Read models x benchmarks from a CSV or TSV file.

    Parameters
    ----------
    path
        UTF-8 text with a header line; fields separated by comma, semicolon or tab. A line for each
        model; the column ``model``, or else the first one, holds its name. An empty cell, ``NA`` or
        ``NaN`` is a missing score.
    columns
        The benchmarks. Without it, all columns but those that the rule of this module leaves out:
        names such as params_b or average, text, and means of the other columns.

    Returns
    -------
    ScoreTable
        With the columns that were left out, and why, in ``skipped``.

    Raises
    ------
    InputError
        One sentence that names file, line and column.
    """
    table = open_table(Path(path), expected="model and the names of benchmarks")
    rows = table.read(dict.fromkeys(table.header, TEXT))
    name = next((one for one in table.header if one.lower() == MODEL_COLUMN), table.header[0])
    models = [text.strip() for text in rows[name].to_pylist()]
    if not models:
        raise table.no_data()
    if name.lower() != MODEL_COLUMN:
        _refuse_scores_as_names(table, models, name)
    _check_models(table, models, name)
    texts = {one: rows[one].to_pylist() for one in table.header if one != name}
    if columns is not None:
        _check_columns(table, columns, texts)
        values = {one: _numbers(table, one, texts[one]) for one in columns}
        skipped = [SkippedColumn(one, "was not asked for") for one in texts if one not in values]
    else:
        values, skipped = _by_rule(table, texts)
    if not values:
        raise table.header_error(
            "has no column of scores; give each benchmark a column of numbers, or name the columns."
        )
    return ScoreTable(models, tuple(values), np.stack([*values.values()], 1), skipped=skipped)


def _refuse_scores_as_names(table: Table, models: Sequence[str], column: str) -> None:
    """Refuse a first column of numbers that are no whole ones: a benchmark, and no names."""
    numbers = [_number(one) for one in models]
    if any(one is None for one in numbers):
        return
    if any(one is not None and one % 1 > 0 for one in numbers):
        raise table.header_error(
            f"has no column 'model', and the first one, {shown(column)}, holds scores and no names;"
            " name the column of models 'model'."
        )


def _check_models(table: Table, models: Sequence[str], column: str) -> None:
    first: set[str] = set()
    for row, model in enumerate(models):
        if not model:
            raise table.error("the model has no name.", row, column or MODEL_COLUMN)
        if model in first:
            raise table.error(
                f"model {shown(model)} stands on an earlier line; give each model one line.",
                row,
            )
        first.add(model)


def _check_columns(table: Table, columns: Sequence[str], texts: dict[str, list[str]]) -> None:
    for place, column in enumerate(columns):
        if column not in texts:
            found = ", ".join(shown(name) for name in list(texts)[:6])
            more = ", ..." if len(texts) > 6 else ""
            raise table.header_error(f"lacks the column {shown(column)}; there are {found}{more}.")
        if column in columns[:place]:
            raise table.header_error(f"column {shown(column)} was asked for twice; name it once.")


def _by_rule(
    table: Table, texts: dict[str, list[str]]
) -> tuple[dict[str, NDArray[np.float64]], list[SkippedColumn]]:
    values: dict[str, NDArray[np.float64]] = {}
    skipped: list[SkippedColumn] = []
    for name, cells in texts.items():
        reason = _metadata(name, cells)
        if reason is None:
            values[name] = _numbers(table, name, cells)
        else:
            skipped.append(SkippedColumn(name, reason))
    for name in list(values):
        others = [value for other, value in values.items() if other != name]
        if len(others) >= 2 and _is_mean(values[name], np.stack(others, 1)):
            del values[name]
            skipped.append(SkippedColumn(name, "is the mean of the other columns"))
    return values, skipped


def _metadata(name: str, cells: Sequence[str]) -> str | None:
    """Say why a column is no benchmark, or None."""
    if re.sub(r"[^a-z0-9]", "", name.lower()) in METADATA:
        return "has a name that stands for metadata or an average"
    told = [cell for cell in cells if cell.strip() not in MISSING]
    if not told:
        return "is empty"
    # 85% and 8,5 are scores that were written otherwise: an error, lest a benchmark be lost
    wrong = [cell for cell in told if _number(cell) is None and not _ALMOST.fullmatch(cell.strip())]
    if 2 * len(wrong) > len(told):
        return f"holds text, such as {shown(wrong[0])}"
    return None


def _numbers(table: Table, name: str, cells: Sequence[str]) -> NDArray[np.float64]:
    values = np.empty(len(cells))
    for row, cell in enumerate(cells):
        value = _number(cell)
        if value is None:
            raise table.error(
                f"{shown(cell)} is no number; mend it, leave it empty, or name the columns that "
                "are benchmarks.",
                row,
                name,
            )
        values[row] = value
    return values


def _number(text: str) -> float | None:
    """Return a cell's number, NaN for a missing one, None for anything else."""
    text = text.strip()
    if text in MISSING:
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in text else None


def _is_mean(column: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    whole = ~np.isnan(column) & ~np.isnan(others).any(1)
    if whole.sum() < 3 or np.ptp(column[whole]) == 0:
        return False
    nearly = min(_MEAN_TOLERANCE, _OF_RANGE * float(np.ptp(column[whole])))
    return bool((np.abs(column - others.mean(1))[whole] <= nearly).all())
