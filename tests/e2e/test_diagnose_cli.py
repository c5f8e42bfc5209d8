"""`benchfill diagnose` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from benchfill_agents.sample import items_path, responses_path
from benchfill_services.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

FIELDS = {
    "schema_version",
    "benchfill_version",
    "command",
    "seed",
    "inputs",
    "models",
    "items",
    "missing_cells",
    "fit",
    "checks",
    "ddm",
    "max_gap",
    "top_k_sum",
    "scale",
    "reach",
    "gaps",
    "chance_width",
    "abilities",
    "difficulties",
}


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def here(*words: str) -> Result:
    """Run a command in this process, which has the imports done."""
    return CliRunner().invoke(app, list(words))


def benchfill(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchfill_services", *words],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=os.environ | {"BENCHFILL_DATA_DIR": str(folder / "data")},
        check=False,
    )


def test_the_sample_as_json_with_a_report(tmp_path: Path) -> None:
    words = ("diagnose", str(responses_path()), "--engine", "map", "--json", "--out", "report")
    done = benchfill(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == FIELDS
    assert document["gaps"][0]["verdict"] == "empty"
    assert all(check["passed"] is not False for check in document["checks"])
    assert json.loads((tmp_path / "report" / "report.json").read_text()) == document
    again = benchfill(tmp_path, *words)
    assert again.stdout == done.stdout


def test_words_for_a_terminal(tmp_path: Path) -> None:
    done = benchfill(tmp_path, "diagnose", str(responses_path()), "--engine", "map")
    assert done.returncode == 0
    assert "empty" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("model,item,correct\n", "no data line"),
        ("model,item,correct\na,x,0.5\n", "line 2, correct: 0.5 is neither 0 nor 1"),
        ("model,item,correct\na,x,1\na,x,0\n", "line 3"),
        ("model,item,score\na,x,1\n", "item"),
        ("model,item,correct\na,x,1\n", "only one item"),
        ("\x00\x01\x02", "binary"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "bad.csv").write_text(content)
    done = here("diagnose", "bad.csv", "--engine", "map", "--json")
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert said in json.loads(done.stdout)["error"]["message"]


def test_a_missing_file() -> None:
    done = here("diagnose", "nowhere.csv")
    assert done.exit_code == 2
    assert done.stderr.strip() == "Error: nowhere.csv: cannot be read (no such file or directory)."


def test_strict_turns_a_failed_check_into_exit_4(tmp_path: Path) -> None:
    rows = [f"{model},{item},1" for model in "abcd" for item in range(9)]
    rows += [f"{model},hard,{int(model == 'a')}" for model in "abcd"]
    (tmp_path / "easy.csv").write_text("model,item,correct\n" + "\n".join(rows) + "\n")
    words = ("diagnose", "easy.csv", "--engine", "map", "--json")
    assert here(*words).exit_code == 0
    done = here(*words, "--strict")
    assert done.exit_code == 4
    assert json.loads(done.stdout)["checks"][0]["passed"] is False


def test_choices() -> None:
    words = ("diagnose", str(responses_path()), "--engine", "map", "--json", "--choices")
    plain = json.loads(here(*words, "auto", "--items", str(items_path())).stdout)
    four = json.loads(here(*words, "4").stdout)
    # nobody guesses sums without options; with four options the same answers mean harder items
    assert plain["difficulties"][-1]["b"] < four["difficulties"][-1]["b"]
    bad = here(*words, "many")
    assert bad.exit_code == 2
    assert "--choices" in bad.stderr
