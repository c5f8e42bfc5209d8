"""lighteval: the details of a task, a Parquet file with an answer a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import (
    Choice,
    ItemText,
    Reading,
    Recognised,
    Response,
    ResultFormat,
    inner_json,
    whole_metadata,
)
from ..tabular import open_tabular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_COLUMNS = ("doc", "metric", "model_response")
_EXPORTED = ("id", "question", "answer", "choices", "metadata")


class Lighteval(ResultFormat):
    """Details of lighteval, as ``--save-details`` leaves them."""

    name = "lighteval"
    example = "benchfill import out/details --metric em"
    title = "lighteval details"
    recognised_by = "Parquet with the columns `doc`, `metric` and `model_response`"
    choices = (
        Choice("--metric", "the first of the task", "which metric counts"),
        Choice("--model", "the folders between `details` and the run's date", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its columns, and the totals of a run by their keys."""
        if file.is_object and {"config_general", "summary_tasks"} <= set(file.first):
            return Recognised(
                "holds only totals of lighteval; give the details of the run (--save-details).",
                "no scores",
            )
        if file.kind != "parquet":
            return None
        table = open_tabular(file)
        known = table is not None and set(_COLUMNS) <= set(table.columns)
        return Recognised("columns doc, metric and model_response") if known else None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield an answer a row; rows are in no order, and name their item's position."""
        table = open_tabular(file)
        if table is None:
            raise file.error("cannot be read as Parquet; is the file cut off?")
        model = reading.model(_model_of(file), "folders")
        places = [table.columns.index(name) for name in ("doc", "metric")]
        for line, cells in table.rows():
            doc, metric = (table.cell(cells[place], line, table.columns[place]) for place in places)
            item = _item(doc)
            yield item
            score = metric[_metric(metric, reading)]
            found = None if score.value is None else score.number()
            yield Response(model, item.item, found, scope=item.scope, why="no score")


def _model_of(file: InputFile) -> str | None:
    """Return the model by the folders, ``details/MODEL/DATE``; its name may hold slashes."""
    folders = file.path.parts[:-2]
    if "details" not in folders:
        return None
    last = len(folders) - 1 - folders[::-1].index("details")
    return "/".join(folders[last + 1 :]) or None


def _metric(metric: Node, reading: Reading) -> str:
    names = [name for name, one in metric.entries() if one.is_a(int, float, bool, type(None))]
    if not names:
        raise metric.error("holds no metric that is a number.")
    return reading.choose("metric", names[0], names, because="the first")


def _item(doc: Node) -> ItemText:
    scope = doc["task_name"].text().rpartition("|")[0] or doc["task_name"].text()
    exported = doc.get("specific")
    if exported is not None and exported.has(*_EXPORTED):
        metadata = inner_json(exported["metadata"])
        return ItemText(
            exported["id"].name(),
            scope,
            exported["question"].text(),
            exported["answer"].text(),
            tuple(one.text() for one in exported["choices"].elements()),
            whole_metadata(metadata) if metadata.is_a(dict) else {},
        )
    options = [one.text() for one in doc["choices"].elements()]
    gold = doc["gold_index"]
    places = list(gold.elements()) if gold.is_a(list) else [gold]
    right = [options[one.whole()] for one in places if one.whole() < len(options)]
    return ItemText(
        doc["id"].name(),
        scope,
        doc["query"].text(),
        right[0].strip() if right else "",
        tuple(one.strip() for one in options) if len(options) > 1 else (),
    )


FORMATS = (Lighteval(),)
