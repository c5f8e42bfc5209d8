"""OpenAI evals: a log of events, one a line, of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat
from ..json_stream import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile


class OpenAiEvals(ResultFormat):
    """Logs of OpenAI evals."""

    name = "openai-evals"
    example = "benchfill import evallogs/*.jsonl"
    title = "OpenAI evals logs"
    recognised_by = "JSON lines that begin with `spec`, or with `final_report`"
    choices = (
        Choice("--metric", "match events, else the first metric", "score of model-graded evals"),
        Choice("--model", "`spec.completion_fns`", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its first line."""
        spec = file.first.get("spec")
        if file.kind == "jsonl" and isinstance(spec, dict) and "completion_fns" in spec:
            return Recognised("first line is spec with completion_fns")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield match and metrics events; prompts and references from where they stand."""
        model = scope = ""
        for row in read_lines(file):
            spec, final = row.get("spec"), row.get("final_report")
            if spec is not None:
                names = [one.name() for one in spec["completion_fns"].elements()]
                model = reading.model(names[0] if names else None, "field spec.completion_fns")
                named = spec.get("eval_name", "base_eval")
                scope = named.name() if named is not None else ""
            elif final is not None:
                reading.total("accuracy", final.get("accuracy") if final.is_a(dict) else None)
            elif not model:
                raise row.error("stands before the line with spec.")
            else:
                yield from _event(row, model, scope, reading)


def _event(row: Node, model: str, scope: str, reading: Reading) -> Iterator[Response | ItemText]:
    sample, kind, data = row.get("sample_id"), row["type"].text(), row.get("data")
    if sample is None or data is None or not data.is_a(dict):
        reading.drop(f"event of the type {kind[:40]}")
        return
    item = sample.name()
    if kind == "sampling":
        reading.drop("event of the type sampling")
        prompt = data.get("prompt")
        if prompt is not None:
            yield ItemText(item, scope, _prompt(prompt))
    elif kind == "match":
        expected = data.get("expected")
        if expected is not None:
            yield ItemText(item, scope, answer=_expected(expected))
        right = float(data["correct"].flag())
        yield Response(model, item, right, scope=scope, line=row.line)
    elif kind == "metrics":
        yield Response(model, item, _metric(data, reading), scope=scope, line=row.line)
    else:
        reading.drop(f"event of the type {kind[:40]}")


def _metric(data: Node, reading: Reading) -> float:
    names = [key for key, one in data.entries() if one.is_a(int, float, bool)]
    if not names:
        raise data.error("holds no metric that is a number.")
    return data[reading.choose("metric", names[0], names, because="the first")].number()


def _prompt(prompt: Node) -> str:
    if prompt.is_a(str):
        return prompt.text()
    messages = list(prompt.elements())
    users = [one for one in messages if one.get("role") and one["role"].value == "user"]
    contents = [one["content"] for one in users or messages]
    return "\n\n".join(one.text() for one in contents)


def _expected(expected: Node) -> str:
    if expected.is_a(list):
        options = list(expected.elements())
        return options[0].shown_text() if options else ""
    return "" if expected.is_a(dict) else expected.shown_text()


FORMATS = (OpenAiEvals(),)
