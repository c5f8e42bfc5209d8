"""Long tables: a row for each answer, or for each item; CSV, JSON, Parquet, Hugging Face data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interface import (
    Choice,
    ItemText,
    Reading,
    Recognised,
    Response,
    ResultFormat,
    answer_text,
    inner_json,
    small_metadata,
    whole_metadata,
)
from ..node import Node
from ..tabular import Tabular, name_of, open_tabular, score_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..source import InputFile

NAMES = {
    "model": ("model", "model_name", "model_id", "subject", "subject_id", "llm", "system"),
    "item": (
        *("item", "item_id", "question_id", "task_id", "instance_id", "sample_id", "problem_id"),
        *("doc_id", "id"),
    ),
    "correct": ("correct", "is_correct", "score", "passed", "resolved", "success", "reward"),
    "n": ("n",),
    "rollout": ("rollout", "epoch", "trial", "attempt"),
    "question": ("question", "problem", "prompt", "input", "query"),
    "answer": ("answer", "target", "ideal", "reference", "solution"),
    "choices": ("choices", "options"),
    "metadata": ("metadata",),
}
ANSWERED = ("model", "item", "correct")
ASKED = ("item", "question")


class Rows(ResultFormat):
    """Tables with a row for each answer, and tables of items."""

    name = "rows"
    example = (
        "benchfill import answers.parquet --format rows --columns model=llm,item=qid,correct=ok"
    )
    title = "long tables, data sets (CSV, TSV, JSON lines or list, Parquet, Arrow)"
    recognised_by = "columns for model, item and score; or for item and question: items alone"
    generic = True
    choices = (
        Choice(
            "--columns",
            "the first known name of each",
            "which column is what, such as `model=llm,item=qid,correct=ok`",
        ),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by the names of its columns."""
        if file.is_object and ("_data_files" in file.first or "features" in file.first):
            return Recognised(
                "describes a Hugging Face data set, whose rows are read.", "companion"
            )
        table = open_tabular(file)
        if table is None:
            return None
        found = _columns(table.columns, {})
        for wanted in (ANSWERED, ASKED):
            if all(name in found for name in wanted):
                return Recognised(f"columns {', '.join(found[name] for name in wanted)}")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield answers, or items, or both."""
        table = open_tabular(file)
        if table is None:
            raise file.error("is no table; expected a header and rows, or objects.")
        columns = _columns(table.columns, _given(reading))
        answered = all(name in columns for name in ANSWERED)
        if not answered and not all(name in columns for name in ASKED):
            raise file.error(
                f"has the columns {', '.join(table.columns[:8])}; say which are what by --columns "
                "model=...,item=...,correct=..."
            )
        used = ",".join(f"{name}={column}" for name, column in columns.items())
        reading.choose("columns", used, because="the first known name of each")
        for line, cells in table.rows():
            row = _Row(table, line, cells, columns)
            text = row.text()
            if text is not None:
                yield text
            if answered:
                yield row.response()


def is_long(file: InputFile) -> bool:
    """Whether a table's columns are those of a row an answer, or a row an item."""
    table = open_tabular(file)
    found = _columns(table.columns, {}) if table is not None else {}
    return any(all(name in found for name in wanted) for wanted in (ANSWERED, ASKED))


def _given(reading: Reading) -> dict[str, str]:
    """Return what --columns says."""
    given: dict[str, str] = {}
    for pair in filter(None, reading.options.chosen.get("columns", "").split(",")):
        name, equals, column = pair.partition("=")
        if not equals or name not in NAMES:
            raise reading.file.error(
                f"{pair[:40]!r} is not understood; expected NAME=COLUMN, with a name among "
                f"{', '.join(NAMES)}.",
                field="--columns",
            )
        given[name] = column
    return given


def _columns(header: tuple[str, ...], given: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, known in NAMES.items():
        wanted = (given[name],) if name in given else known
        column = next((one for one in wanted if one in header), None)
        if column is not None and column not in found.values():
            found[name] = column
    return found


class _Row:
    """The cells of a row, by what they are."""

    def __init__(
        self, table: Tabular, line: int | None, cells: tuple[Any, ...], columns: dict[str, str]
    ) -> None:
        place = {column: k for k, column in enumerate(table.columns)}
        self._line = line
        self._whole = Node(dict(zip(table.columns, cells, strict=True)), table.file.name, line)
        self._columns = columns
        self._cells = {
            name: table.cell(cells[place[column]], line, column) for name, column in columns.items()
        }
        self.item = name_of(self._cells["item"])

    def response(self) -> Response:
        """Return the answer in this row."""
        rollout = self._cells.get("rollout")
        count = self._count()
        return Response(
            name_of(self._cells["model"]),
            self.item,
            score_of(self._cells["correct"]) if count else None,
            n=count or 1,
            rollout="" if rollout is None or rollout.value is None else name_of(rollout),
            why="no score",
            line=self._line,
        )

    def _count(self) -> int:
        cell = self._cells.get("n")
        if cell is None:
            return 1
        value = score_of(cell)
        if value is None:
            return 0
        return Node(value, cell.source, cell.line, cell.path).whole()

    def text(self) -> ItemText | None:
        """Return what this row says of its item."""
        question = self._cells.get("question")
        if question is None or question.value is None:
            return None
        choices = self._choices()
        answer = self._cells.get("answer")
        known = answer is not None and answer.value is not None and not answer.is_a(dict)
        return ItemText(
            self.item,
            question=question.text(),
            answer=_answer(answer, choices) if answer is not None and known else "",
            choices=choices,
            metadata=self._metadata(),
        )

    def _choices(self) -> tuple[str, ...]:
        cell = self._inner("choices")
        if cell is not None and cell.is_a(dict):
            cell = cell.get("text")
        if cell is None or not cell.is_a(list):
            return ()
        return tuple(one.shown_text() for one in cell.elements())

    def _metadata(self) -> dict[str, Any]:
        cell = self._inner("metadata")
        if cell is not None and cell.is_a(dict):
            return whole_metadata(cell)
        if "model" in self._columns:
            return {}
        return small_metadata(self._whole, tuple(self._columns.values()))

    def _inner(self, name: str) -> Node | None:
        cell = self._cells.get(name)
        return None if cell is None else inner_json(cell)


def _answer(answer: Node, choices: tuple[str, ...]) -> str:
    """Return the reference answer; the position or letter of an option becomes the option."""
    if choices and answer.is_a(int) and 0 <= answer.value < len(choices):
        return choices[int(answer.value)]
    text = answer.shown_text()
    return text if text in choices else answer_text(text, choices)


FORMATS = (Rows(),)
