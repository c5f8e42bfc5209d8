"""`benchfill progress` and `benchfill power` as a user runs them."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchfill import ResponseMatrix, write_responses
from benchfill_services.cli import app
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

HOSTILE = 'ckpt "2"\n<script>=1+1</script>\u202e'


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def here(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def found(*words: str) -> dict[str, Any]:
    result = here(*words, "--engine", "map", "--json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def refused(*words: str) -> str:
    result = here(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert "bug" not in result.stderr
    return " ".join(result.stderr.split())


def save(path: Path, matrix: ResponseMatrix, *names: str) -> str:
    named = ResponseMatrix(names or matrix.models, matrix.items, matrix.correct, matrix.n)
    write_responses(named, path)
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Ten models; one of them before and after a gain among the harder items."""
    rng = np.random.default_rng(1)
    b = np.linspace(-2, 2, 40)
    theta = abilities(rng, 10)
    pool = respond(rng, theta, b, 8)
    before = respond(rng, np.zeros(1), b, 8)
    after = respond(rng, np.zeros(1), np.where(b > 0.3, b - 1.5, b), 8)
    again = respond(rng, theta, b, 8)
    return {
        "pool": save(tmp_path / "pool.csv", pool),
        "before": save(tmp_path / "before.csv", before, "ckpt-1"),
        "after": save(tmp_path / "after.csv", after, HOSTILE),
        "again": save(tmp_path / "again.csv", again),
    }


def test_a_gain_is_told_in_words_json_and_a_report(files: dict[str, str], tmp_path: Path) -> None:
    words = ["progress", "--before", files["before"], "--after", files["after"]]
    words += ["--difficulties", files["pool"], "--permutations", "499"]
    document = found(*words, "--out", "report")
    (test,) = document["tests"]
    assert (document["mode"], document["placed_by"]) == ("scan", "difficulties")
    assert test["detected"]
    assert test["p"] == 1 / 500
    assert test["local"]["z_left"] > 0.4
    folder = tmp_path / "report"
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == document
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "can be invisible however many rollouts are taken" in page
    assert "doi:10.1093/jnci/22.4.719" in page
    assert (folder / "progress-1.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "interval-items.csv").open(encoding="utf-8", newline="") as file:
        items = [row["item"] for row in csv.DictReader(file)]
    assert items == test["local"]["item_ids"]
    shown = here(*words, "--engine", "map", "--interval", "0,0.3")
    assert shown.exit_code == 0
    assert "shows no gain" in shown.stdout
    assert "a gain there leaves no trace" in " ".join(shown.stdout.split())


def test_several_models_place_the_items_themselves(files: dict[str, str]) -> None:
    words = ["progress", "--before", files["pool"], "--after", files["again"]]
    document = found(*words, "--interval", "0.4,0.9", "--randomised-ties", "--seed", "3")
    assert document["placed_by"] == "pooled"
    assert len(document["tests"]) == 10
    assert document == found(*words, "--interval", "0.4,0.9", "--randomised-ties", "--seed", "3")
    assert all(test["p_holm"] >= test["p"] for test in document["tests"])
    shown = here(*words, "--engine", "map", "--interval", "0.4,0.9")
    assert shown.exit_code == 0, shown.stderr
    assert "None of 10 models shows a gain" in shown.stdout
    assert "Holm" in shown.stdout


def test_a_model_under_test_places_no_items(files: dict[str, str], tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    mine = respond(rng, np.zeros(1), np.linspace(-2, 2, 40), 8)
    one = save(tmp_path / "one.csv", mine, "m3")
    document = found(
        *("progress", "--before", one, "--after", files["before"]),
        *("--difficulties", files["pool"], "--interval", "0.1,0.9"),
    )
    assert document["models_not_placing"] == ["m3"]
    assert document["models"] == 9


def test_what_cannot_be_tested_is_one_sentence(files: dict[str, str], tmp_path: Path) -> None:
    pair = ["progress", "--before", files["before"], "--after", files["after"]]
    placed = [*pair, "--difficulties", files["pool"], "--engine", "map"]
    assert "--difficulties" in refused(*pair)
    assert "not both" in refused(*placed, "--interval", "0.1,0.2", "--scan")
    for wrong in ("0.2", "a,b", "0.1,0.2,0.3", "", "0.9,0.1", "-1,2", "nan,1"):
        assert "0 <= L < R <= 1" in refused(*placed, f"--interval={wrong}")
    assert "level" in refused(*placed, "--alpha", "0.9")
    assert "permutations" in refused(*placed, "--permutations", "5")
    assert "nowhere.csv" in refused(
        "progress", "--before", "nowhere.csv", "--after", files["after"]
    )
    assert "no model but those under test" in refused(
        *pair, "--difficulties", files["before"], "--engine", "map"
    )
    other = tmp_path / "other.csv"
    other.write_text("model,item,correct\nm,x,1\n")
    assert "items are matched by id" in refused(
        *pair[:3], "--after", str(other), "--difficulties", files["pool"], "--engine", "map"
    )


def test_power_is_told_in_words_json_and_a_report(files: dict[str, str], tmp_path: Path) -> None:
    words = ["power", files["pool"], "-k", "8", "-k", "1", "-k", "8", "--simulations", "100"]
    document = found(*words, "--out", "report")
    assert [one["k"] for one in document["maps"]] == [8, 1]
    folder = tmp_path / "report"
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == document
    assert "can be invisible however many" in (folder / "report.html").read_text(encoding="utf-8")
    with (folder / "power.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(one["cells"]) for one in document["maps"])
    shown = here(*words, "--engine", "map", "--model", "m3")
    assert shown.exit_code == 0
    assert "With 8 rollouts an item before and as many after" in " ".join(shown.stdout.split())
    assert "none of the 10 models" in refused(*words, "--engine", "map", "--model", "nobody")
    assert refused("power", files["pool"])  # -k is missing
    assert "level" in refused("power", files["pool"], "-k", "1", "--alpha", "0")
