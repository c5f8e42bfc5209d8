"""EvalPlus (``*_eval_results.json``) and EvalPerf (``*_evalperf_results.brief.json``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat, key_name
from ..json_stream import read_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

PASS = "pass"  # noqa: S105 - a verdict


class EvalPlus(ResultFormat):
    """Results of EvalPlus: a list of solutions a task."""

    name = "evalplus"
    example = "benchfill import *_eval_results.json --metric base"
    title = "EvalPlus results"
    recognised_by = "JSON with `eval.<task>[].base_status`"
    choices = (
        Choice("--metric", "plus: base and extra tests pass", "plus, or base for the base tests"),
        Choice("--model", "the file's name", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by the verdict of the first solution."""
        solutions = _first_task(file)
        first = solutions[0] if isinstance(solutions, list) and solutions else None
        known = isinstance(first, dict) and "base_status" in first
        return Recognised("keys eval.<task>[].base_status") if known else None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield every solution, a rollout each."""
        document = read_document(file)
        model = reading.model(file.stem("_eval_results.json"), "file's name")
        stated = document.get("pass_at_k")
        for task, solutions in document["eval"].entries():
            item = key_name(task, solutions)
            for number, solution in enumerate(solutions.elements()):
                right = _passed(solution, reading)
                yield Response(model, item, float(right), rollout=str(number))
        for name in ("plus", "base"):
            part = stated.get(name) if stated else None
            if part is not None and reading.choose("metric", "plus") == name:
                reading.total("pass@1", part.get("pass@1"))


def _passed(solution: Node, reading: Reading) -> bool:
    plus = solution.get("plus_status")
    because = "EvalPlus ranks by base and extra tests"
    metric = reading.choose(
        "metric",
        "base" if plus is None else "plus",
        ("plus", "base"),
        because="there are no extra tests in this file" if plus is None else because,
    )
    base = solution["base_status"].text() == PASS
    if metric == "base":
        return base
    if plus is None:
        raise solution.error("lacks the field 'plus_status'; --metric base takes the base tests.")
    return base and plus.text() == PASS


class EvalPerf(ResultFormat):
    """Results of EvalPerf: how many of n samples pass, in percent."""

    name = "evalperf"
    example = "benchfill import *_evalperf_results.brief.json"
    title = "EvalPerf results"
    recognised_by = "JSON with `config.n_samples` and `eval.<task>.pass@1`"
    choices = (Choice("--model", "the file's name", "the model"),)

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its number of samples and its tasks' pass@1."""
        config, task = file.first.get("config"), _first_task(file)
        if isinstance(config, dict) and "n_samples" in config and isinstance(task, dict):
            return Recognised("keys config.n_samples and eval.<task>")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield counts: pass@1 is in percent of the samples."""
        document = read_document(file)
        n = document["config"]["n_samples"].whole()
        endings = ("_evalperf_results.brief.json", "_evalperf_results.json")
        model = reading.model(file.stem(*endings), "file's name")
        reading.note(f"pass@1 is in percent of {n} samples; imported as counts.")
        scored = document["eval"]
        for task, one in scored.entries():
            item = key_name(task, one)
            share = one.get("pass@1")
            if share is None:
                yield Response(model, item, None, why="no pass@1")
                continue
            right = share.number() / 100 * n
            if abs(right - round(right)) > 1e-6 * n:
                raise share.error(f"is no whole number of {n} samples in percent.")
            yield Response(model, item, float(round(right)), n)
        summary = document.get("summary")
        reading.total("pass@1", summary.get("pass@1") if summary else None, 100)


def _first_task(file: InputFile) -> object:
    tasks = file.first.get("eval") if file.is_object else None
    return next(iter(tasks.values()), None) if isinstance(tasks, dict) else None


FORMATS = (EvalPlus(), EvalPerf())
