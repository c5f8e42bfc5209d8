"""lm-evaluation-harness: ``samples_<task>_<time>.jsonl`` and, beside it, ``results_<time>.json``.

With several filters there is a row for each filter and item; files of 2024 name no filter, so that
there the k-th row of an item is of the k-th filter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..interface import (
    Choice,
    ItemText,
    Reading,
    Recognised,
    Response,
    ResultFormat,
    inner_json,
    small_metadata,
    whole_metadata,
)
from ..json_stream import read_document, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

TIME = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?"
_SAMPLES = re.compile(rf"^samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.jsonl$")
_OWN = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "submission"),
}
_QUESTIONS = ("question", "problem", "query", "goal", "input", "prompt", "text", "instruction")


class LmEval(ResultFormat):
    """Samples files of lm-evaluation-harness."""

    name = "lm-eval"
    example = "benchfill import results/*/samples_gsm8k_*.jsonl --filter strict-match"
    title = "lm-evaluation-harness samples"
    recognised_by = "JSON lines with `doc_id`, `target` and `resps`; `results_*.json` beside it"
    choices = (
        Choice("--filter", "the first of the file", "which filter's rows count"),
        Choice("--metric", "the first of the task", "which metric is the score"),
        Choice("--model", "`model_name` of the results file, else the folder", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know the samples by their keys, and the results that belong to them."""
        keys = [key for key in ("doc_id", "target", "resps", "filtered_resps") if key in file.first]
        if file.kind == "jsonl" and {"doc_id", "target"} <= set(keys) and len(keys) > 2:
            named = "file name samples_*.jsonl, " if _SAMPLES.match(file.path.name) else ""
            return Recognised(f"{named}keys {', '.join(keys)}")
        # lighteval's totals have these keys, too, and `summary_tasks`
        totals = file.is_object and {"results", "versions"} <= set(file.first)
        if totals and "summary_tasks" not in file.first:
            if _samples_beside(file):
                return Recognised("belongs to samples beside it, read with them.", "companion")
            return Recognised(
                "holds only totals of lm-evaluation-harness; give the samples_*.jsonl of the run "
                "(--log_samples).",
                "no scores",
            )
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield the rows of one filter."""
        named = _SAMPLES.match(file.path.name)
        task = named["task"] if named else file.stem()
        results = _results_of(file, named["time"] if named else None)
        model = _model(results, reading)
        rows = _Rows(reading, task, results)
        for row in read_lines(file):
            if not rows.wanted(row):
                reading.drop("row of another filter")
                continue
            own = _exported(row)
            if own is not None:
                reading.note("The task is an export of BenchFill: items have their own ids again.")
            item = row["doc_id"].name() if own is None else own["id"].name()
            yield _item(row, item, task) if own is None else _own_item(own, item, task)
            yield Response(model, item, rows.score(row), scope=task, line=row.line, why="no score")


def _samples_beside(file: InputFile) -> bool:
    time = re.search(TIME, file.path.name)
    if file.on_disk is not None:
        pattern = f"samples_*{time[0]}.jsonl" if time else "samples_*.jsonl"
        folder = file.on_disk.parent
        return any(folder.glob(pattern)) or any(folder.glob(f"{pattern}.gz"))
    return True


def _results_of(file: InputFile, time: str | None) -> Node | None:
    """Return the results file of the same run, if it lies beside the samples."""
    beside = file.beside(f"results_{time}.json" if time else "results.json")
    if beside is None and file.on_disk is not None:
        folder = file.on_disk.parent
        found = sorted([*folder.glob("results*.json"), *folder.glob("results*.json.gz")])
        beside = file.beside(found[0].name) if len(found) == 1 else None
    return None if beside is None else read_document(beside)


def _model(results: Node | None, reading: Reading) -> str:
    if results is not None:
        named = results.get("model_name")
        if named is not None:
            return reading.model(named.name(), "field model_name of the results file")
        config = results.get("config")
        arguments = config.get("model_args") if config else None
        if arguments is not None and arguments.is_a(str):
            found = re.search(r"(?:^|,)(?:pretrained|model)=([^,]+)", arguments.text())
            if found:
                return reading.model(found[1], "model_args of the results file")
    return reading.model(reading.file.parent or None, "folder's name; no results file names it")


class _Rows:
    """Which filter's rows count, and which metric of them."""

    def __init__(self, reading: Reading, task: str, results: Node | None) -> None:
        self._reading, self._task, self._results = reading, task, results
        self._times: dict[str, int] = {}
        self._metric = ""
        scores = results.get("results") if results else None
        self._totals = scores.get(task) if scores else None
        self._filters = _filters(self._totals)

    def wanted(self, row: Node) -> bool:
        """Whether a row is of the filter that counts."""
        named = row.get("filter")
        if named is not None:
            mine = named.text()
        else:
            item = row["doc_id"].name()
            turn = self._times[item] = self._times.get(item, -1) + 1
            mine = self._filters[turn] if turn < len(self._filters) else f"filter {turn + 1}"
        chosen = self._reading.choose(
            "filter", mine, because="the first of the file, as the task lists them"
        )
        return mine == chosen

    def score(self, row: Node) -> float | None:
        """Return a row's score; None if it has none."""
        names = self._names(row)
        default = next(
            (one for one in _metric_order(self._results, self._task) if one in names), ""
        )
        first = not self._metric
        self._metric = self._reading.choose(
            "metric", default or names[0], names, because="the first that the task lists"
        )
        if first and self._totals is not None:
            chosen = self._reading.choose("filter", "none")
            key = f"{self._metric},{chosen}"
            self._reading.total(key, self._totals.get(key, self._metric))
        value = row.get(self._metric)
        if value is not None and not value.is_a(int, float, bool):
            raise value.error("is no single score; choose another by --metric.")
        return None if value is None else value.number()

    def _names(self, row: Node) -> list[str]:
        listed = row.get("metrics")
        if listed is not None:
            names = [one.text() for one in listed.elements()]
        else:
            names = [
                key for key, one in row.entries() if key not in _OWN and one.is_a(int, float, bool)
            ]
        if not names:
            raise row.error("holds no metric.")
        return names


def _filters(totals: Node | None) -> list[str]:
    """Return the filters in the order of the results file: exact_match,strict-match."""
    if totals is None:
        return []
    names = [key.partition(",")[2] for key, _ in totals.entries() if "," in key]
    return list(dict.fromkeys(names))


def _metric_order(results: Node | None, task: str) -> list[str]:
    configs = results.get("configs") if results else None
    config = configs.get(task) if configs else None
    listed = config.get("metric_list") if config else None
    if listed is None:
        return []
    names = [one.get("metric") for one in listed.elements()]
    return [one.text() for one in names if one is not None and one.is_a(str)]


def _item(row: Node, item: str, task: str) -> ItemText:
    doc = row.get("doc")
    question, used = "", ""
    if doc is not None and doc.is_a(dict):
        for key in _QUESTIONS:
            one = doc.get(key)
            if one is not None and one.is_a(str):
                question, used = one.text(), key
                break
    prompts, continuations = _arguments(row)
    choices = _choices(doc) or continuations
    return ItemText(
        item,
        task,
        question or prompts,
        _answer(row["target"], choices),
        choices,
        small_metadata(doc, (used, "choices")) if doc is not None and doc.is_a(dict) else {},
    )


def _exported(row: Node) -> Node | None:
    """Return the item of a task that `benchfill export` wrote, with its id and metadata."""
    doc = row.get("doc")
    if doc is None or not doc.has("id", "question", "answer", "choices", "metadata"):
        return None
    return doc if inner_json(doc["metadata"]).is_a(dict) and doc["id"].is_a(str) else None


def _own_item(doc: Node, item: str, task: str) -> ItemText:
    return ItemText(
        item,
        task,
        doc["question"].text(),
        doc["answer"].text(),
        tuple(one.text() for one in doc["choices"].elements()),
        whole_metadata(inner_json(doc["metadata"])),
    )


def _arguments(row: Node) -> tuple[str, tuple[str, ...]]:
    """Return the prompt, and the continuations whose likelihood was asked for."""
    arguments = row.get("arguments")
    if arguments is None:
        return "", ()
    if arguments.is_a(dict):
        calls = [[one for _, one in call.entries()] for _, call in arguments.entries()]
    else:
        calls = [list(call.elements()) for call in arguments.elements()]
    texts = [[one.text() for one in call if one.is_a(str)] for call in calls]
    if not texts or not texts[0]:
        return "", ()
    many = len(texts) > 1 and all(len(one) == 2 and one[0] == texts[0][0] for one in texts)
    return texts[0][0], tuple(one[1].strip() for one in texts) if many else ()


def _choices(doc: Node | None) -> tuple[str, ...]:
    listed = (
        doc.get("choices", "options", "endings") if doc is not None and doc.is_a(dict) else None
    )
    if listed is not None and listed.is_a(dict):
        listed = listed.get("text")
    if listed is None or not listed.is_a(list):
        return ()
    return tuple(one.text() for one in listed.elements() if one.is_a(str))


def _answer(target: Node, choices: tuple[str, ...]) -> str:
    """Return the reference answer; an index into the options becomes the option."""
    text = target.shown_text() if target.value is not None else ""
    number = text.strip()
    if choices and number.isdecimal() and number not in choices and int(number) < len(choices):
        return choices[int(number)]
    return text


FORMATS = (LmEval(),)
