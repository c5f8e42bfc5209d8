"""`benchfill export` as a user runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from benchfill import read_items
from benchfill.exporting import all_exports
from benchfill_agents.sample import responses_path
from benchfill_services.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

ITEMS = [
    {"id": "a", "question": "1+1?", "answer": "2", "choices": ["1", "2", "3"]},
    {"id": "b", "question": "2+2?", "answer": "4", "choices": ["4", "5", "6"]},
]
RESPONSES = "model,item,correct,n\n" + "".join(
    f"m{m},{item},{min(4, m + right)},4\n" for m in range(4) for item, right in (("a", 1), ("b", 0))
)


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    write_items(tmp_path, ITEMS)
    (tmp_path / "responses.csv").write_text(RESPONSES, encoding="utf-8")


def write_items(folder: Path, items: list[dict[str, Any]]) -> None:
    lines = "".join(f"{json.dumps(item)}\n" for item in items)
    (folder / "items.jsonl").write_text(lines, encoding="utf-8")


def here(*words: str) -> Result:
    return CliRunner().invoke(app, ["export", "--items", "items.jsonl", *words])


def refused(*words: str) -> str:
    result = here(*words)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.mark.parametrize("to", sorted(all_exports()))
def test_every_format_writes_what_it_says(to: str, tmp_path: Path) -> None:
    result = here("--to", to, "--out", "deep/out", "--name", "My Bench", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    out = tmp_path / "deep" / "out"
    written = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert written == set(document["files"])
    assert document["name"] == "my_bench"
    assert document["multiple_choice"] == document["items"] == 2
    # nothing of the work is left beside it
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_difficulties_go_with_the_items(tmp_path: Path) -> None:
    given = ("--responses", "responses.csv", "--engine", "map")
    result = here("--to", "inspect", "--out", "out", *given)
    assert result.exit_code == 0, result.output
    assert "2 with a measured difficulty" in result.stdout
    assert "inspect eval items.py" in result.stdout
    lines = (tmp_path / "out" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    measured = [json.loads(line)["metadata"]["benchfill"]["difficulty"] for line in lines]
    assert [one["z"] for one in measured] == [0, 1]


def test_an_empty_folder_is_filled_and_another_one_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert here("--to", "csv", "--out", "empty").exit_code == 0
    before = (tmp_path / "empty" / "items.csv").read_bytes()
    assert "exists and is not empty" in refused("--to", "helm", "--out", "empty")
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["items.csv"]
    assert (tmp_path / "empty" / "items.csv").read_bytes() == before


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    assert "none of csv, helm" in refused("--to", "jsonl", "--out", "out")
    assert "--name" in refused("--to", "csv", "--out", "out", "--name", "数学")
    write_items(tmp_path, [ITEMS[0], ITEMS[1] | {"answer": "7"}])
    told = refused("--to", "inspect", "--out", "out")
    assert "items.jsonl, item 'b': has an answer that is not among its choices" in told
    write_items(tmp_path, [])
    assert "holds no item" in refused("--to", "inspect", "--out", "out")
    write_items(tmp_path, [ITEMS[0]])
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "file" in refused("--to", "csv", "--out", "file/out")
    strangers = ("--responses", str(responses_path()))
    assert "none of the items" in refused("--to", "hf", "--out", "out", *strangers)
    (tmp_path / "p.jsonl").write_text("{}\n", encoding="utf-8")
    assert "p.jsonl, line 1" in refused("--to", "hf", "--out", "out", "--provenance", "p.jsonl")
    assert not (tmp_path / "out").exists()


PROVENANCE = {
    "candidate": "c1", "revision": 0, "benchmark": "items.jsonl", "version": None,
    "made_for": {"items_sha256": "0", "responses_sha256": "1"},
    "merged_into": {"items_sha256": "0", "responses_sha256": "1"},
    "parent": "a", "parent_z": 0.0, "gap": "g", "target_z": 0.5, "target_left": 0.4,
    "target_right": 0.6, "z": 0.5, "q05": 0.45, "q95": 0.55, "p_in_gap": 0.9, "rollouts": 8,
    "counts": [], "rewriter": "llm", "writer": None, "prompts": {}, "reviews": [],
    "adjudicated": False, "seed": 0, "fill_version": "0", "merge_version": "0", "opened_at": "t",
    "written_at": "t", "decided_at": "t", "merged_at": "t",
}  # fmt: skip


def test_provenance_goes_with_its_item_and_another_wording_is_refused(tmp_path: Path) -> None:
    (_, item) = read_items(tmp_path / "items.jsonl")
    line = PROVENANCE | {"id": "b", "content_hash": item.content_hash}
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert here("--to", "inspect", "--out", "out", "--provenance", "p.jsonl").exit_code == 0
    lines = (tmp_path / "out" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    first, second = (json.loads(line)["metadata"] for line in lines)
    assert first == {}
    assert second["benchfill"]["provenance"]["parent"] == "a"
    path.write_text(json.dumps(line | {"content_hash": "0"}) + "\n", encoding="utf-8")
    told = refused("--to", "inspect", "--out", "other", "--provenance", "p.jsonl")
    assert "another wording of the item 'b'" in told
