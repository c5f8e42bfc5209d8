"""`benchfill ranking` as a user runs it."""

from __future__ import annotations

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

HOSTILE = 'gpt "2"\n<script>=1+1</script>\u202e Ω'


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def here(*words: str) -> Result:
    return CliRunner().invoke(app, ["ranking", *words, "--engine", "map"])


def found(*words: str) -> dict[str, Any]:
    result = here(*words, "--json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def save(path: Path, *, models: int = 6, items: int = 30, missing: float = 0.0) -> str:
    rng = np.random.default_rng(models)
    n = np.where(rng.random((models, items)) < missing, 0, 4)
    data = respond(rng, abilities(rng, models), rng.normal(0, 1.5, items), n)
    names = (HOSTILE, *data.models[1:])
    write_responses(ResponseMatrix(names, data.items, data.correct, data.n), path)
    return str(path)


def test_json_and_report_say_the_same(tmp_path: Path) -> None:
    file = save(tmp_path / "r.csv")
    document = found(file, "--out", "report", "--bootstrap", "200", "--target-dist", "beta:2,5")
    assert document["command"] == "ranking"
    assert (document["target"], document["replicates"], document["pairs"]) == ("beta:2,5", 200, 15)
    assert {one["model"] for one in document["scores"]} == {
        HOSTILE,
        *(f"m{j}" for j in range(1, 6)),
    }
    assert set(document["likeliest_flips"][0]) >= {"ahead", "behind", "p_flip", "d_target", "bound"}
    report = tmp_path / "report"
    assert json.loads((report / "report.json").read_text()) == document
    assert {one.name for one in report.iterdir()} == {
        "report.html",
        "report.json",
        "leaderboards.png",
        "flips.png",
    }
    page = (report / "report.html").read_text()
    assert "<script>" not in page
    assert "the Beta(2, 5) distribution" in page
    assert "The fitted model itself flips nobody" in page
    assert "the uniform target is the cautious choice" not in page
    assert "doi:10.1080/01621459.1963.10500830" in page
    assert found(file, "--bootstrap", "200", "--target-dist", "beta:2,5") == document


def test_the_terminal_tells_who_leads_and_which_pairs_hold(tmp_path: Path) -> None:
    done = here(save(tmp_path / "r.csv"), "--bootstrap", "200")
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert " on the benchmark" in told
    assert "Of 15 pairs of models, " in told
    assert "keep their order" in told
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_missing_cells_are_said_to_matter(tmp_path: Path) -> None:
    done = here(save(tmp_path / "r.csv", missing=0.3), "--bootstrap", "200")
    assert "Not every model answered every item" in done.stdout


def test_one_model_is_told_in_one_sentence(tmp_path: Path) -> None:
    file = save(tmp_path / "r.csv", models=1)
    done = here(file, "--out", "report")
    assert done.exit_code == 0, done.stderr
    assert "There is only one model" in " ".join(done.stdout.split())
    document = found(file)
    assert (document["pairs"], document["shares"], document["likeliest_flips"]) == (0, None, [])
    assert (tmp_path / "report/leaderboards.png").exists()
    page = (tmp_path / "report/report.html").read_text()
    assert "the uniform target is the cautious choice" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--bootstrap", "10"),
            "--bootstrap: 10 is no number of replicates from 100 to 100,000, the most for 6",
        ),
        (("--delta", "1"), "--delta: 1.0 is no probability"),
        (("--delta", "nan"), "--delta: nan is no probability"),
        (("--target-dist", "gauss"), "--target-dist: 'gauss' is neither"),
        (("--choices", "1"), "--choices: '1' is neither"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = here(save(tmp_path / "r.csv"), *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("model,item,correct\na,x,1\n", "only one item"),
        ("model,item,correct\na,x,1\na,y,1\nb,x,1\nb,y,1\n", "the same difficulty"),
        ("model,item,correct\na,x,NA\nb,y,NA\n", "no cell"),
    ],
)
def test_data_without_a_scale_are_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "r.csv").write_text(content)
    done = here("r.csv")
    assert done.exit_code == 2
    assert said in done.stderr
    assert "bug" not in done.stderr
