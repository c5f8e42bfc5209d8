"""Details of lighteval 0.13.0, in the form that a run of it left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchfill.errors import InputError
from benchfill.importing import Imported, ImportOptions, import_results

if TYPE_CHECKING:
    from pathlib import Path


METADATA = {"topic": {"deep": [1, None, "é"]}}


def exported(place: int) -> dict[str, Any]:
    """What a task of `benchfill export` keeps of an item."""
    return {
        "id": f"sum {place}",
        "question": f"{place} + 1 =",
        "answer": f"{place + 1}",
        "choices": [f"{place + 1}", "0"],
        "metadata": json.dumps(METADATA),
    }


def row(place: int, right: int | None, specific: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "doc": {
            "query": f"Question: {place} + 1 =\nAnswer:",
            "choices": [f" {place + 1}", " 0"],
            "gold_index": [0],
            "specific": specific,
            "id": str(place),
            "task_name": "sums|0",
        },
        "metric": {"acc": right, "length": 3},
        "model_response": {"text": ["1"], "logprobs": [-0.5, -1.0]},
    }


def details(folder: Path, rows: list[dict[str, Any]], model: str = "openai/small") -> Path:
    place = folder / "details" / model / "2026-11-30T17-15-57"
    place.mkdir(parents=True)
    path = place / "details_sums|0_2026-11-30T17-15-57.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def imported(path: Path, **options: Any) -> Imported:
    return import_results([path], ImportOptions(**options))


def test_what_was_exported_comes_back(tmp_path: Path) -> None:
    rows = [row(k, right, exported(k)) for k, right in ((2, 1), (0, 0), (1, 1))]
    details(tmp_path, rows)
    found = imported(tmp_path)
    assert found.responses.models == ("openai/small",)
    cells = dict(zip(found.responses.items, found.responses.correct[0].tolist(), strict=True))
    assert cells == {"sum 2": 1, "sum 0": 0, "sum 1": 1}
    first = next(item for item in found.items if item.id == "sum 0")
    assert (first.question, first.answer, first.choices) == ("0 + 1 =", "1", ("1", "0"))
    assert first.metadata == METADATA | {"task": "sums"}


def test_a_task_of_others_names_items_by_their_place(tmp_path: Path) -> None:
    details(tmp_path, [row(0, 1), row(1, None)])
    found = imported(tmp_path)
    assert found.responses.items == ("0",)
    (item,) = found.items
    assert item.answer == "1"
    assert item.choices == ("1", "0")


def test_another_metric_and_another_model(tmp_path: Path) -> None:
    details(tmp_path, [row(0, 0), row(1, 0)], "small")
    found = imported(tmp_path, chosen={"metric": "length", "model": "mine"}, max_score=3)
    assert found.responses.models == ("mine",)
    assert found.responses.correct.tolist() == [[1, 1]]


def test_totals_are_no_answers(tmp_path: Path) -> None:
    path = tmp_path / "results_2026.json"
    totals = {"config_general": {}, "results": {"all": {"em": 0.5}}, "versions": {}}
    path.write_text(json.dumps(totals | {"config_tasks": {}, "summary_tasks": {}}))
    with pytest.raises(InputError, match=r"only totals of lighteval; give the details"):
        imported(path)


def test_details_that_are_cut_off(tmp_path: Path) -> None:
    path = details(tmp_path, [row(0, 1)])
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"sums"):
        imported(path, format="lighteval")
