"""LiveCodeBench: ``*_eval_all.json`` of one model, and the leaderboard's ``performances``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import (
    Choice,
    ItemText,
    Reading,
    Recognised,
    Response,
    ResultFormat,
    small_metadata,
)
from ..json_stream import read_array, read_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_PASS = ("pass@1", "Pass@1", "Pass@1-COT")
_TEXTS = ("question_content", "question_id", "graded_list", "pass@1", "output_list", "code_list")


class LiveCodeBench(ResultFormat):
    """Results of LiveCodeBench."""

    name = "livecodebench"
    example = "benchfill import output/*/*_eval_all.json"
    title = "LiveCodeBench results"
    recognised_by = "a JSON list with `question_id` and `graded_list`; JSON with `performances`"
    choices = (
        Choice("--incomplete", "wrong, as pass@1 counts it", "a sample graded -1, not run"),
        Choice("--metric", "`pass@1`", "which column of a leaderboard table"),
        Choice("--model", "the folder's name", "the model of a list"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know a list by its grades, a table by its performances."""
        if file.is_list and {"question_id", "graded_list"} <= set(file.first):
            return Recognised("a list with keys question_id and graded_list")
        rows = file.first.get("performances") if file.is_object else None
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            keys = set(rows[0])
            if "model" in keys and keys & set(_PASS) and keys & {"question_id", "sample_id"}:
                return Recognised("key performances with model and pass@1")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield grades as counts, or percents as shares."""
        if file.is_object:
            yield from _table(file, reading)
            return
        model = reading.model(file.parent or None, "folder's name")
        for row in read_array(file):
            item = row["question_id"].name()
            if row.get("test_id") is not None:
                item = f"{item}/{row['test_id'].name()}"
            text = row.get("question_content")
            if text is not None:
                yield ItemText(item, "", text.text(), metadata=small_metadata(row, _TEXTS))
            yield _graded(row, model, item, reading)


def _graded(row: Node, model: str, item: str, reading: Reading) -> Response:
    right = run = broken = 0
    for one in row["graded_list"].elements():
        if one.is_a(int, float) and one.value < 0:
            broken += 1
            continue
        right += one.flag()
        run += 1
    if broken and reading.wrong("incomplete", "pass@1 counts samples that were not run as wrong"):
        run += broken
    if not run:
        return Response(model, item, None, why="no sample was run")
    return Response(model, item, float(right), run)


def _table(file: InputFile, reading: Reading) -> Iterator[Response]:
    for key, row in read_object(file, {"performances"}):
        if key != "performances" or not row.is_a(dict):
            continue
        names = [name for name in _PASS if row.has(name)]
        if not names:
            raise row.error("lacks the field 'pass@1'.")
        percent = row[reading.choose("metric", names[0], names)]
        known = percent.value is not None and percent.number() >= 0
        yield Response(
            row["model"].name(),
            (row["question_id"] if row.has("question_id") else row["sample_id"]).name(),
            percent.number() / 100 * reading.options.max_score if known else None,
            why="not run (-1)",
        )


FORMATS = (LiveCodeBench(),)
