"""No real example is left out: each is imported to numbers counted here, or refused with a reason.

The counts are made from the files by a few lines each, without the importer.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zipfile
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from benchfill import InputError
from benchfill.importing import import_results
from support.import_files import is_a_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


class Counted(NamedTuple):
    models: int
    items: int
    right: int
    rollouts: int


def one_model(scores: Iterable[Any]) -> Counted:
    """Count scores of one model, an item each; only full marks are right."""
    known = [*scores]
    return Counted(1, len(known), sum(score == 1 for score in known), len(known))


def document(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def inspect_json(path: Path) -> Counted:
    samples = document(path)["samples"]
    values = [value["value"] for one in samples for value in one["scores"].values()]
    return one_model({"C": 1, "I": 0}.get(value, value) for value in values)


def inspect_eval(path: Path) -> Counted:
    with zipfile.ZipFile(path) as log:
        names = [name for name in log.namelist() if name.startswith("samples/")]
        samples = [json.loads(log.read(name)) for name in names]
    (values,) = zip(*([s["value"] for s in one["scores"].values()] for one in samples), strict=True)
    return one_model({"C": 1, "I": 0}[value] for value in values)


def helm(metric: str) -> Callable[[Path], Counted]:
    return lambda path: one_model(
        stat["mean"]
        for row in document(path)
        for stat in row["stats"]
        if (stat["name"]["name"], stat["name"]["split"]) == (metric, "test")
    )


def items_by_models(path: Path) -> Counted:
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    cells = [float(cell) for row in rows for cell in row[1:]]
    return Counted(len(header) - 1, len(rows), int(sum(cells)), len(cells))


def py_irt(path: Path) -> Counted:
    rows = lines(path)
    answers = [right for row in rows for right in row["responses"].values()]
    items = {item for row in rows for item in row["responses"]}
    return Counted(len(rows), len(items), sum(answers), len(answers))


def evalperf(path: Path) -> Counted:
    found = document(path)
    percents = [one["pass@1"] for one in found["eval"].values()]
    rollouts = found["config"]["n_samples"] * len(percents)
    return Counted(1, len(percents), round(sum(percents)), rollouts)


def livebench(path: Path) -> Counted:
    rows = lines(path)
    scored = {(row["model"], row["question_id"]): row["score"] for row in rows}
    models, items = ({pair[k] for pair in scored} for k in (0, 1))
    return Counted(len(models), len(items), sum(one == 1 for one in scored.values()), len(scored))


IN_GZIP = r"unpack the gzip file first"
BELONGS = r"belongs to .* read with"
WANTED: dict[str, Callable[[Path], Counted] | str] = {
    "FORMATS.md": r"is of no known format",
    "evalplus_evalperf/*_evalperf.brief.first6.json": evalperf,
    "helm/mmlu-*/per_instance_stats.json": helm("exact_match"),
    "helm/mmlu-*/run_spec.json": BELONGS,
    "helm/mmlu-*/scenario_state.json": BELONGS,
    "helm/narrative_qa-*/per_instance_stats.json": helm("f1_score"),
    "helm/narrative_qa-*/run_spec.json": BELONGS,
    "helm/narrative_qa-*/scenario_state.json": BELONGS,
    "inspect_ai/*_popularity_*.eval": r"no scored answer \(10 rows: not scored",
    "inspect_ai/data_arc_qwen.json": inspect_json,
    "inspect_ai/data_arc_sonnet.json": inspect_json,
    "inspect_ai/data_pubmedqa_gpt4o_mini.json": inspect_json,
    "inspect_ai/data_with_llm_scoring.json": r"speaks of 1,000 samples and holds 0",
    "inspect_ai/log_formats.eval": inspect_eval,
    "inspect_ai/log_formats.json": inspect_json,
    "inspect_ai/mmlu-summary-choices.eval": inspect_eval,
    "livebench/ground_truth_judgment.AMPS_Hard.first9.jsonl": livebench,
    "lm_eval_harness/results_*.json": BELONGS,
    "lm_eval_harness/samples_math_perturbed_*.jsonl": lambda path: one_model(
        row["exact_match"] for row in lines(path)
    ),
    "matrix_items_x_models.first20.csv": items_by_models,
    "mmlu_pro/gemini-1.5-pro-002.first10.json": lambda path: one_model(
        row["pred"] == row["answer"] for row in document(path)
    ),
    "py_irt/minitest.jsonlines": py_irt,
    "swebench_pro/gpt-4o-paper_eval_results.json": lambda path: one_model(document(path).values()),
    "swebench_pro/gpt-5_eval_results.json": lambda path: one_model(document(path).values()),
    "tau_bench/gpt-4o-airline.trajtrimmed.first20.json": lambda path: one_model(
        row["reward"] for row in document(path)
    ),
}


@pytest.fixture
def real_files(shared_data: Path) -> dict[Path, str]:
    """Every file under raw, with the name under which `WANTED` has it, or an empty one."""
    raw = shared_data / "raw"
    return {
        path: next((name for name in WANTED if fnmatch(path.relative_to(raw).as_posix(), name)), "")
        for path in sorted(raw.rglob("*"))
        if path.is_file()
    }


def imports_as(path: Path, source: Path, wanted: Callable[[Path], Counted] | str) -> None:
    if isinstance(wanted, str):
        with pytest.raises(InputError) as caught:
            import_results([path])
        is_a_sentence(caught.value, path)
        assert re.search(wanted, str(caught.value)), (path, str(caught.value))
        return
    matrix = import_results([path]).responses
    right, rollouts = int(matrix.correct.sum()), int(matrix.n.sum())
    found = Counted(len(matrix.models), len(matrix.items), right, rollouts)
    assert found == wanted(source), path


def test_no_real_file_is_left_out(real_files: dict[Path, str]) -> None:
    assert [path for path, name in real_files.items() if not name] == []
    assert sorted(real_files.values()) == sorted(WANTED)


def test_every_real_file_is_what_is_counted_here(real_files: dict[Path, str]) -> None:
    for path, name in real_files.items():
        imports_as(path, path, WANTED[name])


def test_every_real_file_gzip_ed(
    real_files: dict[Path, str], shared_data: Path, tmp_path: Path
) -> None:
    """A ZIP file in gzip is refused; the others read the same, their companions gzip-ed too."""
    packed = {path: tmp_path / path.relative_to(shared_data) for path in real_files}
    for path, place in packed.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        packed[path] = place.with_name(f"{place.name}.gz")
        packed[path].write_bytes(gzip.compress(path.read_bytes()))
    for path, place in packed.items():
        is_zip = path.suffix == ".eval"
        imports_as(place, path, IN_GZIP if is_zip else WANTED[real_files[path]])
