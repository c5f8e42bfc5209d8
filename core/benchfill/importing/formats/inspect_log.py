"""Inspect AI logs: ``.eval`` (a ZIP file with a JSON file a sample) and ``.json``.

If inspect_ai is installed (extra ``inspect``), its own reader opens the log, so that every version
of the format that it knows is read; what is in the samples is judged here either way.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import posixpath
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ..archive import reason
from ..interface import (
    Choice,
    ItemText,
    Reading,
    Recognised,
    Response,
    ResultFormat,
    answer_text,
    whole_metadata,
)
from ..json_stream import read_document, read_object
from ..node import Node
from ..source import member_files
from ..tabular import is_nan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..source import InputFile

# as inspect_ai.scorer.value_to_float has it
VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ATTACHED = "attachment://"
_INTERRUPTED = "The run was interrupted; the samples up to then are read."


class Inspect(ResultFormat):
    """Logs of Inspect AI."""

    name = "inspect"
    example = "benchfill import logs/*.eval"
    title = "Inspect AI logs, `.eval` and `.json`"
    recognised_by = "a ZIP file with `header.json` or `_journal/`; JSON with `eval` and `plan`"
    choices = (
        Choice("--scorer", "the first", "which scorer's values count"),
        Choice("--metric", "the first key", "which part of a value that is an object"),
        Choice("--null", "wrong, as in Inspect's accuracy", "no answer (N): wrong or missing"),
        Choice("--incomplete", "missing", "a sample that broke off: wrong or missing"),
        Choice("--model", "`eval.model`", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know a log by its members or keys."""
        if file.archive is not None:
            names = set(file.archive.names)
            inner = names & {"header.json", "_journal/start.json"}
            return Recognised(f"ZIP file with {', '.join(sorted(inner))}") if inner else None
        run = file.first.get("eval")
        if file.is_object and isinstance(run, dict) and {"task", "dataset"} <= set(run):
            # the model stands behind the data set's ids, of which there may be many
            return Recognised("keys eval.task and eval.dataset")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield the samples' scores, an epoch a rollout."""
        with_inspect = file.on_disk is not None and importlib.util.find_spec("inspect_ai")
        log = _through_inspect(file, reading) if with_inspect else _through_us(file, reading)
        judge: _Judge | None = None
        for key, node in log:
            if key == "header":
                judge = _Judge(node, reading)
            elif judge is None:
                raise file.error("has its samples before its field eval.")
            else:
                yield from judge.sample(node)
        if judge is None:
            raise file.error("lacks the field 'eval'.")
        judge.finish()


def _through_us(file: InputFile, reading: Reading) -> Iterator[tuple[str, Node]]:
    if file.archive is not None:
        return _members(file, reading)
    return _document(file)


def _document(file: InputFile) -> Iterator[tuple[str, Node]]:
    header: dict[str, Any] = {}
    told = False
    for key, node in read_object(file, {"samples"}):
        if key != "samples":
            header[key] = node.value
            continue
        if not told:
            yield "header", Node(header, file.name)
            told = True
        if node.is_a(dict):
            yield "sample", node
    if not told:
        yield "header", Node(header, file.name)


def _members(file: InputFile, reading: Reading) -> Iterator[tuple[str, Node]]:
    if file.archive is None or file.on_disk is None:
        raise file.error("is no ZIP file.")
    members = {
        posixpath.relpath(one.name, str(file.on_disk)): one
        for one in member_files(file.archive, file.on_disk)
    }
    if "header.json" in members:
        yield "header", read_document(members["header.json"])
    else:
        reading.note(_INTERRUPTED)
        yield "header", read_document(members["_journal/start.json"])
    for name, member in members.items():
        if name.startswith("samples/") and name.endswith(".json"):
            yield "sample", read_document(member)


def _through_inspect(file: InputFile, reading: Reading) -> Iterator[tuple[str, Node]]:
    """Yield header and samples as inspect_ai reads them; what it refuses is left to our reader."""
    try:
        header, samples = _opened(file)
    except Exception as error:
        reading.note(f"inspect_ai cannot read it ({reason(error)}); BenchFill's own reader did.")
        yield from _through_us(file, reading)
        return
    reading.note("Read by inspect_ai's own reader.")
    if header.get("status") == "started":
        reading.note(_INTERRUPTED)
    yield "header", Node(header, file.name)
    try:
        for number, sample in enumerate(samples):
            yield "sample", Node(sample, file.name, None, f"samples[{number}]")
    except InputError:
        raise
    except Exception as error:
        raise file.error(f"cannot be read by inspect_ai ({reason(error)}).") from error


def _opened(file: InputFile) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Open a log by inspect_ai; the first sample is read, to see whether they can be."""
    # an extra, and a slow import
    from inspect_ai.log import read_eval_log, read_eval_log_samples  # noqa: PLC0415

    place = str(file.on_disk)
    log = read_eval_log(place, header_only=file.kind == "zip")
    header: dict[str, Any] = log.model_dump(mode="json", exclude={"samples", "reductions"})
    if file.kind == "zip":
        found = read_eval_log_samples(place, all_samples_required=False)
    else:
        found = iter(log.samples or ())
    left_out = {"events", "store", "messages", "output"}
    samples = (json.loads(one.model_dump_json(exclude=left_out)) for one in found)
    first = next(samples, None)
    return header, samples if first is None else itertools.chain([first], samples)


class _Judge:
    """Turns samples into responses, by the settings of one log."""

    def __init__(self, header: Node, reading: Reading) -> None:
        self._reading = reading
        run = header["eval"]
        self.model = reading.model(run["model"].name(), "field eval.model")
        self.task = run["task"].name()
        # a log that was converted, or a run that was retried, keeps its task_id
        task_id, created = run.get("task_id"), run.get("created")
        self._run = "" if task_id is None else f"inspect {task_id.name()}"
        self._created = 0.0 if created is None else _seconds(created)
        self._samples = 0
        self._header = header
        self._scorer: str | None = None

    def sample(self, sample: Node) -> Iterator[Response | ItemText]:
        """Yield the item, and what was scored."""
        self._samples += 1
        item = sample["id"].name()
        epoch = sample.get("epoch")
        if sample.get("invalidation") is not None:
            self._reading.drop("sample that was invalidated")
            return
        yield _item(sample, item, self.task)
        correct, why = self._score(sample)
        yield Response(
            self.model,
            item,
            correct,
            rollout="" if epoch is None else epoch.name(),
            scope=self.task,
            run=self._run,
            stamp=self._created if self._run else None,
            why=why,
            line=sample.line,
        )

    def _score(self, sample: Node) -> tuple[float | None, str]:
        scores = sample.get("scores", "score")
        if scores is not None and sample.get("scores") is None:
            scores = Node({"score": scores.value}, sample.source, sample.line, sample.path)
        if scores is None or not scores.value:
            if sample.get("error") is None:
                return None, "not scored"
            meaning = "Inspect scores only samples that were completed"
            wrong = self._reading.wrong("incomplete", meaning, "missing")
            return (0.0, "") if wrong else (None, "sample broke off with an error")
        names = [key for key, _ in scores.entries()]
        if self._scorer is None:
            self._scorer = self._reading.choose(
                "scorer", names[0], names, because="the first that the log lists"
            )
            self._add_totals(self._scorer)
        one = scores.get(self._scorer)
        if one is None:
            return None, f"not scored by {self._scorer}"
        value = one["value"] if one.is_a(dict) else one
        return self._number(value)

    def _number(self, value: Node) -> tuple[float | None, str]:
        if value.is_a(dict):
            names = [key for key, _ in value.entries()]
            if not names:
                return None, "an empty score"
            key = self._reading.choose("metric", names[0], names, because="the first of the score")
            value = value[key]
        if value.value is None or is_nan(value.value):
            return None, "a score without a value"
        if value.is_a(str):
            return self._letter(value)
        return value.number(), ""

    def _letter(self, value: Node) -> tuple[float | None, str]:
        text = value.text()
        if text == "N":
            wrong = self._reading.wrong("null", "Inspect's accuracy counts no answer (N) as 0")
            return (0.0, "") if wrong else (None, "no answer (N)")
        known = VALUES.get(text, _WORDS.get(text.casefold()))
        if known is not None:
            return known, ""
        try:
            return float(text), ""
        except ValueError:
            raise value.error(
                f"{text[:40]!r} is no score; expected C, I, P, N, a number, true or false."
            ) from None

    def _add_totals(self, scorer: str) -> None:
        results = self._header.get("results")
        listed = results.get("scores") if results else None
        for one in listed.elements() if listed else ():
            name, metrics = one.get("name"), one.get("metrics")
            if name is None or name.value != scorer or metrics is None or not metrics.is_a(dict):
                continue
            accuracy = metrics.get("accuracy", "mean")
            if accuracy is not None and accuracy.is_a(dict):
                self._reading.total(f"{scorer}: accuracy", accuracy.get("value"))

    def finish(self) -> None:
        """Say what was not to be found."""
        if not self._samples:
            self._reading.note("The log holds no samples.")
        results = self._header.get("results")
        total = results.get("total_samples") if results else None
        if total is not None and total.whole() > self._samples:
            self._reading.note(
                f"The log speaks of {total.whole():,} samples and holds {self._samples:,}."
            )


def _item(sample: Node, item: str, task: str) -> ItemText:
    listed = sample.get("choices")
    choices = tuple(one.text() for one in listed.elements()) if listed else ()
    target = sample.get("target")
    metadata = sample.get("metadata")
    return ItemText(
        item,
        task,
        _question(sample),
        answer_text(target.shown_text(), choices) if target else "",
        choices,
        whole_metadata(metadata) if metadata is not None and metadata.is_a(dict) else {},
    )


def _seconds(created: Node) -> float:
    try:
        return datetime.fromisoformat(created.text()).timestamp()
    except (ValueError, OverflowError):
        raise created.error("is no point in time.") from None


def _question(sample: Node) -> str:
    given = sample.get("input")
    if given is None:
        return ""
    if given.is_a(str):
        return _resolved(given, sample)
    asked = []
    for message in given.elements():
        role, content = message.get("role"), message.get("content")
        if content is None or (role is not None and role.value != "user"):
            continue
        if content.is_a(str):
            asked.append(_resolved(content, sample))
            continue
        parts = [part.get("text") for part in content.elements()]
        asked += [_resolved(part, sample) for part in parts if part is not None]
    return "\n\n".join(asked)


def _resolved(text: Node, sample: Node) -> str:
    """Return a text, or the attachment that it stands for."""
    plain = text.text()
    if not plain.startswith(_ATTACHED):
        return plain
    attachments = sample.get("attachments")
    found = attachments.get(plain.removeprefix(_ATTACHED)) if attachments else None
    if found is None:
        raise text.error("stands for an attachment that the log does not hold.")
    return found.text()


FORMATS = (Inspect(),)
