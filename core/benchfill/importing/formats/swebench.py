"""SWE-bench: reports of the harness, per-instance details, and the verdicts of SWE-bench Pro."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat, key_name
from ..json_stream import read_document, read_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_FAILED = (
    ("unresolved_ids", "unresolved"),
    ("error_ids", "error"),
    ("empty_patch_ids", "empty_patch"),
)
FEW = 10
_LISTS_SUCCESSES = (
    "lists only what was resolved, not what was tried; give the harness report of the run, or "
    "per-instance details."
)


class SweBenchReport(ResultFormat):
    """Reports of the SWE-bench harness, of 2024 and later."""

    name = "swebench-report"
    example = "benchfill import reports/*.json --incomplete missing"
    title = "SWE-bench harness reports"
    recognised_by = "JSON with `total_instances` and `resolved_ids` (2024: `resolved`)"
    choices = (
        Choice("--incomplete", "wrong, as in the resolved rate", "instances that were not run"),
        Choice("--model", "the file's name", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know a report by its counts; the experiments' list of successes is none."""
        keys = set(file.first) if file.is_object else set()
        if "total_instances" in keys and keys & {"resolved_ids", "resolved", "submitted_ids"}:
            return Recognised("keys total_instances and resolved ids")
        if {"resolved", "no_generation"} <= keys or {"resolved", "no_logs"} <= keys:
            return Recognised(_LISTS_SUCCESSES, "no scores")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield resolved as right, tried in vain as wrong, the rest as the option says."""
        report = read_document(file)
        model = reading.model(file.stem(), "file's name")
        resolved = _ids(report, ("resolved_ids", "resolved"))
        if resolved is None:
            raise report.error("lacks the field 'resolved_ids'.")
        failed: dict[str, Node] = {}
        for keys in _FAILED:
            failed |= _ids(report, keys) or {}
        both = next((one for one in resolved if one in failed), None)
        if both is not None:
            raise failed[both].error(f"{both[:60]!r} is resolved and not resolved.")
        for item in resolved:
            yield Response(model, item, 1.0)
        for item in failed:
            yield Response(model, item, 0.0)
        yield from _not_run(report, model, resolved.keys() | failed.keys(), reading)
        _totals(report, reading)


def _ids(report: Node, keys: tuple[str, ...]) -> dict[str, Node] | None:
    """Return the ids under the first of the keys that holds a list."""
    for key in keys:
        listed = report.get(key)
        if listed is not None and listed.is_a(list):
            return {one.name(): one for one in listed.elements()}
    return None


def _not_run(report: Node, model: str, known: set[str], reading: Reading) -> Iterator[Response]:
    left: dict[str, Node] = {}
    for keys in (("incomplete_ids", "incomplete"), ("submitted_ids",), ("completed_ids",)):
        left |= {item: one for item, one in (_ids(report, keys) or {}).items() if item not in known}
    if left:
        meaning = "the resolved rate is of all instances"
        wrong = reading.wrong("incomplete", meaning)
        for item in left:
            yield Response(model, item, 0.0 if wrong else None, why="not run (incomplete)")
    total = report["total_instances"].whole()
    unnamed = total - len(known) - len(left)
    if unnamed > 0:
        reading.note(
            f"{unnamed:,} of {total:,} instances are not named in the report, and so missing."
        )


def _totals(report: Node, reading: Reading) -> None:
    right, total = report.get("resolved_instances"), report["total_instances"].whole()
    if right is not None and total:
        reading.total("resolved / total_instances", right, total)


class SweBenchDetails(ResultFormat):
    """Per-instance details: of many models, or of one."""

    name = "swebench-details"
    example = "benchfill import per_instance_details.json"
    title = "SWE-bench per-instance details"
    recognised_by = "JSON with `<model>.<instance>.resolved`, or `<instance>.resolved`"
    choices = (
        Choice("--null", "wrong", "a verdict that is null"),
        Choice("--model", "the folder's name", "the model of a file of one model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by a verdict at the first or second level."""
        one = next(iter(file.first.values()), None) if file.is_object else None
        if isinstance(one, dict):
            if "resolved" in one:
                return Recognised("keys <instance>.resolved")
            inner = next(iter(one.values()), None)
            if isinstance(inner, dict) and "resolved" in inner:
                return Recognised("keys <model>.<instance>.resolved")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield a verdict an instance."""
        for key, one in read_object(file, ()):
            if one.has("resolved"):
                model = reading.model(file.parent or None, "folder's name")
                yield _verdict(model, key, one, reading)
                continue
            model = key_name(key, one)
            for instance, inner in one.entries():
                yield _verdict(model, instance, inner, reading)


def _verdict(model: str, instance: str, node: Node, reading: Reading) -> Response:
    item, verdict = key_name(instance, node), node["resolved"]
    if verdict.value is None:
        wrong = reading.wrong("null", "an instance without a verdict is not resolved")
        return Response(model, item, 0.0 if wrong else None, why="no verdict")
    return Response(model, item, float(verdict.flag()))


class Verdicts(ResultFormat):
    """One object of instance and true or false, as SWE-bench Pro writes it."""

    name = "swebench-pro"
    example = "benchfill import traj/*/eval_results.json"
    title = "SWE-bench Pro verdicts"
    recognised_by = "JSON with an id and true or false in every field (`eval_results.json`)"
    choices = (Choice("--model", "the file's name, else the folder's", "the model"),)

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by nothing but verdicts."""
        values = list(file.first.values()) if file.is_object else []
        # a few switches, {"debug": true}, are somebody's settings
        enough = len(values) >= FEW or ("result" in file.path.name and values)
        if enough and all(isinstance(one, bool) for one in values):
            return Recognised("every field is true or false")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield the verdicts; an id that another run has and this one lacks is missing."""
        bare = file.path.name == "eval_results.json"
        name = file.parent if bare else file.stem("_eval_results.json")
        model = reading.model(name or None, "folder's name" if bare else "file's name")
        for key, one in read_object(file, ()):
            yield Response(model, key_name(key, one), float(one.flag()))


FORMATS = (SweBenchReport(), SweBenchDetails(), Verdicts())
