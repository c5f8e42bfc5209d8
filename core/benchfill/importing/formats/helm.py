"""HELM run folders: scores in ``per_instance_stats.json``, texts in ``scenario_state.json``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat
from ..json_stream import read_array, read_document, read_object
from .helm_instances import instance_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

# main_name and main_split of HELM's schema_lite.yaml; elsewhere exact_match and test
MAIN_METRIC = {
    "narrative_qa": "f1_score",
    "natural_qa": "f1_score",
    "gsm": "exact_match_indicator",
    "math": "math_equiv_chain_of_thought",
    "code": "pass",
    "legalbench": "quasi_exact_match",
    "med_qa": "quasi_exact_match",
    "wmt_14": "bleu_4",
}
MAIN_SPLIT = {"natural_qa": "valid"}
_FALLBACK = ("exact_match", "quasi_exact_match", "prefix_exact_match", "f1_score", "pass")
_COMPANIONS = {
    "run_spec.json": {"adapter_spec", "scenario_spec"},
    "scenario_state.json": {"adapter_spec", "request_states"},
    "scenario.json": {"name", "tags"},
}


class Helm(ResultFormat):
    """Runs of HELM."""

    name = "helm"
    example = "benchfill import benchmark_output/runs/v1 --metric exact_match"
    title = "HELM run folders"
    recognised_by = "a JSON list with `instance_id` and `stats` (`per_instance_stats.json`)"
    choices = (
        Choice("--metric", "the scenario's main metric in HELM's schema", "which statistic counts"),
        Choice("--split", "the scenario's main split, mostly test", "which instances count"),
        Choice("--model", "`adapter_spec.model` of `run_spec.json`", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know the statistics of instances, and the files that go with them."""
        if file.is_list and {"instance_id", "stats"} <= set(file.first):
            return Recognised("a list with keys instance_id and stats")
        beside = file.beside("per_instance_stats.json")
        if beside is not None and beside.is_list:
            name = file.path.name
            if _COMPANIONS.get(name, {"?"}) <= set(file.first) or (
                file.is_list and {"name", "count"} <= set(file.first)
            ):
                return Recognised("belongs to a HELM run, read with it.", "companion")
        elif {"adapter_spec", "scenario_spec"} <= set(file.first) or (
            {"adapter_spec", "request_states"} <= set(file.first)
        ):
            return Recognised(
                "is part of a HELM run without its scores; give per_instance_stats.json beside it.",
                "no scores",
            )
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield the texts, then one statistic of each instance."""
        spec = file.beside("run_spec.json")
        run = None if spec is None else read_document(spec)
        name = _run_name(run, file)
        model = _model(run, name, reading)
        scope = re.sub(r",?\bmodel(_deployment)?=[^,]*", "", name).rstrip(":,-_ ") or "helm"
        yield from _items(file, run, scope)
        judge = _Judge(reading, _group(run, name))
        for row in read_array(file):
            score = judge.score(row)
            if score is None:
                continue
            trial = row.get("train_trial_index")
            yield Response(
                model,
                row["instance_id"].name(),
                score.value,
                rollout="" if trial is None else trial.name(),
                scope=scope,
                why=f"no value of {judge.metric}",
            )
        _totals(file, judge.metric, reading)


def _totals(file: InputFile, metric: str, reading: Reading) -> None:
    """Keep the run's own mean of the metric, if stats.json lies beside."""
    beside = file.beside("stats.json")
    split = reading.choose("split", "test")
    for row in read_array(beside) if beside is not None and metric else ():
        name = row["name"]
        same = name["name"].value == metric and name.get("perturbation") is None
        if same and (name.get("split") is None or name["split"].value == split):
            reading.total(f"{metric}, {split}", row.get("mean"))


def _run_name(run: Node | None, file: InputFile) -> str:
    named = run.get("name") if run else None
    return named.text() if named else file.parent


def _model(run: Node | None, name: str, reading: Reading) -> str:
    adapter = run.get("adapter_spec") if run else None
    model = adapter.get("model") if adapter else None
    if model is not None:
        return reading.model(model.name(), "adapter_spec.model of run_spec.json")
    found = re.search(r"\bmodel=([^,]+)", name)
    return reading.model(found[1] if found else None, "folder's name; there is no run_spec.json")


def _group(run: Node | None, name: str) -> str:
    listed = run.get("groups") if run else None
    groups = [one.text() for one in listed.elements()] if listed else []
    return groups[0] if groups else name


def _main(group: str, table: dict[str, str], default: str) -> str:
    return next((value for key, value in table.items() if group.startswith(key)), default)


class _Judge:
    """Which statistic of which instances counts."""

    def __init__(self, reading: Reading, group: str) -> None:
        self._reading, self._group = reading, group
        self.metric = ""

    def score(self, row: Node) -> _Score | None:
        """Return the instance's score; None if the row is left out, which is counted."""
        if row.get("perturbation") is not None:
            self._reading.drop("perturbed copy of an instance")
            return None
        stats = [(one, one["name"]) for one in row["stats"].elements()]
        plain = [(one, name) for one, name in stats if name.get("perturbation") is None]
        if not plain:
            self._reading.drop("perturbed copy of an instance" if stats else "without statistics")
            return None
        split = plain[0][1].get("split")
        main = _main(self._group, MAIN_SPLIT, "test")
        wanted = self._reading.choose("split", main, because="main_split of HELM's schema")
        if split is not None and wanted not in {split.text(), "all"}:
            self._reading.drop(f"instance of the split {split.text()} (--split)")
            return None
        names = [name["name"].text() for _, name in plain]
        metric = self._choose_metric(names)
        for one, name in plain:
            if name["name"].text() == metric:
                return _Score(_mean(one))
        return _Score(None)

    def _choose_metric(self, names: list[str]) -> str:
        if not self.metric:
            main = _main(self._group, MAIN_METRIC, "exact_match")
            default = next((one for one in (main, *_FALLBACK) if one in names), names[0])
            because = "main_name of HELM's schema" if default == main else f"there is no {main}"
            self.metric = self._reading.choose("metric", default, names, because=because)
        return self.metric


class _Score:
    """A score that may be unknown."""

    def __init__(self, value: float | None) -> None:
        self.value = value


def _mean(stat: Node) -> float | None:
    count, mean = stat.get("count"), stat.get("mean")
    if mean is None or (count is not None and not count.number()):
        return None
    return mean.number()


def _items(file: InputFile, run: Node | None, scope: str) -> Iterator[ItemText]:
    """Yield the instances' texts, of a file that may be much larger than the scores."""
    state = file.beside("scenario_state.json")
    adapter = run.get("adapter_spec") if run else None
    method = adapter.get("method") if adapter else None
    has_choices = method is not None and str(method.value).startswith("multiple_choice")
    seen: set[str] = set()
    if state is None:
        return
    for key, node in read_object(state, {"request_states"}):
        if key != "request_states" or not node.is_a(dict):
            continue
        instance = node["instance"]
        named = instance.get("id")
        if named is None or named.name() in seen or instance.get("perturbation") is not None:
            continue
        seen.add(named.name())
        yield instance_item(instance, named.name(), scope, has_choices=has_choices)


FORMATS = (Helm(),)
