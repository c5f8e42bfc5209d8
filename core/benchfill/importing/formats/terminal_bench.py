"""Terminal-Bench: ``results.json`` of a run, or of a single trial."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat
from ..json_stream import read_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_TRIAL = re.compile(r"\.(\d+)-of-\d+(?:\.|$)")


class TerminalBench(ResultFormat):
    """Results of Terminal-Bench."""

    name = "terminal-bench"
    example = "benchfill import runs/ --null missing"
    title = "Terminal-Bench results"
    recognised_by = "JSON with `results[].is_resolved` and `task_id`; a trial's own file too"
    choices = (
        Choice("--null", "wrong, as in its accuracy", "a run that broke: wrong or missing"),
        Choice("--model", "`run_metadata.json`, else the folder's name", "the agent and model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know a run by its results; a trial's file within a run belongs to that."""
        rows = file.first.get("results") if file.is_object else None
        one = rows[0] if isinstance(rows, list) and rows else None
        if isinstance(one, dict) and {"task_id", "is_resolved"} <= set(one):
            return Recognised("keys results[].task_id and is_resolved")
        if file.is_object and {"task_id", "is_resolved", "trial_name"} <= set(file.first):
            if _run_of(file) is not None:
                return Recognised("is one trial of a run whose results.json is read.", "companion")
            return Recognised("keys task_id, is_resolved, trial_name: one trial")
        if file.is_object and {"agent_name", "run_id"} <= set(file.first):
            return Recognised("belongs to a Terminal-Bench run, read with it.", "companion")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield the trials, each a rollout."""
        document = read_document(file)
        single = not document.has("results")
        model = _model(file, reading)
        for row in [document] if single else document["results"].elements():
            item = row["task_id"].name()
            text = row.get("instruction")
            if text is not None:
                yield ItemText(item, "", text.text())
            yield _trial(row, item, model, reading)
        if not single:
            reading.total("accuracy", document.get("accuracy"))


def _trial(row: Node, item: str, model: str, reading: Reading) -> Response:
    named = row.get("trial_name")
    found = _TRIAL.search(named.text()) if named is not None else None
    rollout = found[1] if found else "" if named is None else named.text()
    verdict = row["is_resolved"]
    if verdict.value is None:
        wrong = reading.wrong("null", "the accuracy counts a run that broke as a failure")
        return Response(
            model, item, 0.0 if wrong else None, rollout=rollout, why="run broke (null)"
        )
    return Response(model, item, float(verdict.flag()), rollout=rollout)


def _run_of(file: InputFile) -> InputFile | None:
    for place in ("../results.json", "../../results.json"):
        above = file.beside(place)
        if above is not None and "results" in above.first:
            return above
    return None


def _model(file: InputFile, reading: Reading) -> str:
    beside = file.beside("run_metadata.json")
    if beside is not None:
        run = read_document(beside)
        names = [run.get("agent_name"), run.get("model_name")]
        known = [one.name() for one in names if one is not None]
        if known:
            return reading.model(" + ".join(known), "agent and model in run_metadata.json")
    return reading.model(file.parent or None, "folder's name")


FORMATS = (TerminalBench(),)
