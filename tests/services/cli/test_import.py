"""`benchfill import` as a user runs it."""

from __future__ import annotations

import hashlib
import json
import signal
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from benchfill import entry_points, read_items, read_responses
from benchfill.importing import registry
from benchfill.importing.interface import Reading, Recognised, Response, ResultFormat
from benchfill_services.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

    from benchfill.importing.interface import ItemText
    from benchfill.importing.source import InputFile

ROWS = [
    {"model": "m", "item": "a", "correct": 1, "question": "1+1?", "answer": "2"},
    {"model": "m", "item": "b", "correct": 0.5, "question": "2+2?", "answer": "4"},
    {"model": "k", "item": "a", "correct": 0, "question": "1+1?", "answer": "2"},
]


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (tmp_path / "rows.jsonl").write_text(lines, encoding="utf-8")


def here(*words: str) -> Result:
    return CliRunner().invoke(app, ["import", *words])


def refused(*words: str) -> str:
    result = here(*words)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    return line


def test_the_folder_goes_straight_into_a_diagnosis(shared_data: Path, tmp_path: Path) -> None:
    raw = shared_data / "raw"
    result = here(str(raw), "--out", "imported")
    assert result.exit_code == 0, result.output
    out = tmp_path / "imported"
    names = {"responses.csv", "items.jsonl", "import.json"}
    assert {path.name for path in out.iterdir()} == names
    document = json.loads((out / "import.json").read_text(encoding="utf-8"))
    matrix = read_responses(out / "responses.csv")
    assert len(matrix.models) == document["models"]
    assert matrix.n.sum() == document["rollouts"]
    assert {item.id for item in read_items(out / "items.jsonl")} <= set(matrix.items)
    for file in document["files"]:
        data = (raw / file["file"]).read_bytes()
        assert document["inputs"][file["file"]] == hashlib.sha256(data).hexdigest()
    diagnosed = CliRunner().invoke(
        app, ["diagnose", "imported/responses.csv", "--engine", "map", "--json"]
    )
    assert diagnosed.exit_code == 0, diagnosed.output
    assert json.loads(diagnosed.stdout)["items"] == document["items"]


def test_the_summary_says_what_was_chosen_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hello")
    result = here(str(tmp_path), "--out", "imported", "--threshold", "0.5")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "2 models, 2 items, 3 rollouts, 66.7% of them right; 1 cell without a response." in said
    assert "1 scores lie between wrong and right; from 0.5 on they count as right" in said
    assert "columns model, item, correct" in said
    assert "--threshold 0.5 as you asked" in said
    assert "--repeat rollouts" in said
    assert "notes.md is of no known format." in said
    assert "benchfill diagnose imported/responses.csv" in said


def test_json_is_one_object_and_what_the_folder_holds(tmp_path: Path) -> None:
    result = here("rows.jsonl", "--out", "imported", "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    assert document == json.loads((tmp_path / "imported/import.json").read_text(encoding="utf-8"))
    assert document["command"] == "import"
    assert document["inputs"] == {"rows.jsonl": document["files"][0]["sha256"]}


def test_without_questions_there_is_no_items_file(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("model,a\nm,1\n", encoding="utf-8")
    assert here("wide.csv", "--out", "imported").exit_code == 0
    assert not (tmp_path / "imported/items.jsonl").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    assert here("rows.jsonl", "--out", "imported").exit_code == 0
    before = (tmp_path / "imported/responses.csv").read_bytes()
    said = refused("rows.jsonl", "--out", "imported", "--threshold", "0.5")
    assert "responses.csv: is there already; name another folder" in said
    assert (tmp_path / "imported/responses.csv").read_bytes() == before


def test_nothing_is_written_if_a_file_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROWS[0]) + '\n{"model": "m", "it')
    assert "rows.jsonl, line 2: is no JSON" in refused("rows.jsonl", "--out", "imported")
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("absent.json", "--out", "o"), "absent.json: cannot be read (no such file"),
        (("rows.jsonl", "--out", "rows.jsonl"), "rows.jsonl"),
        (("rows.jsonl", "--out", "o", "--threshold", "2"), "--threshold: must be above 0"),
        (("rows.jsonl", "--out", "o", "--max-score", "nan"), "--max-score: must be above 0"),
        (("rows.jsonl", "--out", "o", "--format", "x"), "--format: 'x' is none of"),
        (("rows.jsonl", "--out", "o", "--set", "x"), "--set: 'x' is not NAME=VALUE"),
        (("rows.jsonl", "--out", "o", "--columns", "x=y"), "--columns: 'x=y' is not understood"),
        (("rows.jsonl", "--out", "o", "--alias", "no.csv"), "no.csv: cannot be read"),
        (("rows.jsonl", "--out", "o", "--format", "helm"), "rows.jsonl"),
    ],
)
def test_bad_options_are_named(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)


def test_options_reach_the_formats(tmp_path: Path) -> None:
    columns = "model=model,item=question"
    result = here("rows.jsonl", "--out", "o", "--columns", columns, "--threshold", "0.2", "--json")
    assert result.exit_code == 0, result.output
    assert set(read_responses(tmp_path / "o/responses.csv").items) == {"1+1?", "2+2?"}


def test_names_and_rows(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(",a,b\nm1,1,0\nm2,0,1\n", encoding="utf-8")
    (tmp_path / "names.csv").write_text("name,alias\nm,m1\nm,m2\n", encoding="utf-8")
    assert "--rows models or --rows items" in refused("wide.csv", "--out", "o")
    words = ("--rows", "models", "--alias", "names.csv", "--duplicates", "rollouts")
    assert here("wide.csv", "--out", "o", *words).exit_code == 0
    assert read_responses(tmp_path / "o/responses.csv").n.tolist() == [[2, 2]]


def test_hostile_text_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    row = ROWS[0] | {"model": "[red]m[/red]\u202e\x1b[2J"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    result = here("rows.jsonl", "--out", "o", "--columns", "model=model")
    assert result.exit_code == 0, result.output
    assert "\x1b[2J" not in result.stdout
    assert "\u202e" not in result.stdout


class _Endless(ResultFormat):
    """A file that takes so long that its reader presses Ctrl-C."""

    name = "endless"
    title = recognised_by = "a file named endless"

    def recognise(self, file: InputFile) -> Recognised | None:
        return Recognised("its name") if file.path.stem == "endless" else None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        yield Response("m", "a", 1.0)
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("endless", f"{__name__}:FORMAT", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: _Endless())
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [point])
    registry.all_formats.cache_clear()
    (tmp_path / "endless.txt").write_text("on and on", encoding="utf-8")
    result = here("endless.txt", "--out", "imported")
    registry.all_formats.cache_clear()
    assert result.exit_code == 130
    assert result.stderr.strip() == (
        "Interrupted: interrupted; nothing was written, and the same command begins anew."
    )
    assert not (tmp_path / "imported").exists()
