"""`benchfill prune` as a user runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchfill import ResponseMatrix, read_responses, write_responses
from benchfill_services.cli import app
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

HOSTILE = 'item "2",\n<script>=1+1</script>\u202e Ω'


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def here(*words: str) -> Result:
    return CliRunner().invoke(app, ["prune", *words, "--engine", "map"])


def found(*words: str) -> dict[str, Any]:
    result = here(*words, "--json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Six models on thirty items; the easiest item has a hostile name."""
    rng = np.random.default_rng(1)
    data = respond(rng, abilities(rng, 6), np.linspace(-2, 2, 30), 8)
    items = (HOSTILE, *data.items[1:])
    write_responses(ResponseMatrix(data.models, items, data.correct, data.n), tmp_path / "r.csv")
    return "r.csv"


def test_the_pruned_benchmark_is_written_and_read_again(file: str, tmp_path: Path) -> None:
    document = found(file, "--size", "29", "--out", "report")
    report = tmp_path / "report"
    assert json.loads((report / "report.json").read_text()) == document
    assert {one.name for one in report.iterdir()} == {
        "report.html",
        "report.json",
        "responses.csv",
        "kept.txt",
        "pruned.png",
        "pruning-curve.png",
    }
    kept = [one["item"] for one in document["kept"]]
    assert (len(set(kept)), document["size"], document["method"]) == (29, 29, "optimal")
    whole, pruned = read_responses(file), read_responses(report / "responses.csv")
    assert set(pruned.items) == set(kept)
    stay = [whole.items.index(item) for item in pruned.items]
    np.testing.assert_array_equal(pruned.correct, whole.correct[:, stay])
    # an id that would not stay on its line is a JSON string there
    assert HOSTILE in kept
    lines = (report / "kept.txt").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) if line[0] == '"' else line for line in lines] == kept
    assert document["reference"] is None
    assert "<script>" not in (report / "report.html").read_text()
    assert found(file, "--size", "29") == document


def test_greedy_and_optimal_differ_and_optimal_is_nearer(file: str) -> None:
    greedy, optimal = (
        found(file, "--size", "25", "--method", method) for method in ("greedy", "optimal")
    )
    assert optimal["distance_after"] < greedy["distance_after"] < optimal["distance_before"]


def test_a_reference_is_compared_and_strangers_are_named(file: str, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("model,score\nm0,3\nm1,1\nm2,2\nm3,5\nM4,4\n")
    words = (file, "--size", "10", "--reference", "scores.csv")
    document = found(*words)
    assert set(document["inputs"]) == {"r.csv", "scores.csv"}
    reference = document["reference"]
    assert reference["common"] == 4
    assert reference["only_in_responses"] == ["m4", "m5"]
    assert reference["only_in_reference"] == ["M4"]
    assert set(reference["kendall"]) == {"before", "after", "change", "random"}
    told = " ".join(here(*words).stdout.split())
    assert "The order of 4 models agrees with the reference" in told
    assert "2 models are not in the reference: m4, m5." in told
    assert "1 model of the reference is not in the responses: M4." in told


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("30", "--size: 30 of 30 items would prune nothing"),
        ("31", "--size: 31 of 30 items would prune nothing"),
        ("0", "--size: 0 items cannot be kept"),
        ("-4", "--size: -4 items cannot be kept"),
    ],
)
def test_sizes_that_cannot_be(file: str, size: str, said: str) -> None:
    done = here(file, "--size", size)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("model,score\nm0,1\nm1,2\nx,3\n", "2 of 3 models have the name of one of the 6 models"),
        ("model,score\nm0,best\n", "scores.csv, line 2, score: 'best' is no number"),
        ("", "scores.csv: is empty"),
    ],
)
def test_references_that_cannot_be_used(file: str, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "scores.csv").write_text(content)
    done = here(file, "--size", "10", "--reference", "scores.csv")
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_reference(file: str) -> None:
    done = here(file, "--size", "10", "--reference", "nowhere.csv")
    assert done.exit_code == 2
    assert done.stderr.strip() == "Error: nowhere.csv: cannot be read (no such file or directory)."
