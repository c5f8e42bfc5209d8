"""`benchfill suite` as a user runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchfill_services.cli import app
from support.fills import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

NAMES = ["Maths", "Code", "Law, common", "<b>Bio</b>", "Logic", "Noise"]


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def here(*words: str) -> Result:
    return CliRunner().invoke(app, ["suite", *words, "--bootstrap", "40"])


def found(*words: str) -> dict[str, Any]:
    result = here(*words, "--json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def written(path: Path, seed: int = 0) -> str:
    """Thirty models; Code follows Maths, Noise nothing; the first model has a hostile name."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(30, 2))
    scores = np.column_stack(
        [
            *(50 + 10 * ability[:, 0] + rng.normal(size=30) for _ in range(2)),
            *(40 + 9 * ability[:, 1] + rng.normal(size=30) for _ in range(3)),
            rng.uniform(0, 100, 30),
        ]
    )
    head = ",".join(["model", "params_b", *(f'"{name}"' for name in NAMES)])
    models = [HOSTILE.translate({0: None, 34: None}), *(f"m{j}" for j in range(1, 30))]
    lines = [
        ",".join([f'"{model}"', "7", *(f"{one:.3f}" for one in row)])
        for model, row in zip(models, scores, strict=True)
    ]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path.name


@pytest.fixture
def file(tmp_path: Path) -> str:
    return written(tmp_path / "scores.csv")


def test_the_report_holds_the_answer_and_what_json_prints(file: str, tmp_path: Path) -> None:
    document = found(file, "--out", "report", "--frontier", "1")
    report = tmp_path / "report"
    assert json.loads((report / "report.json").read_text()) == document
    assert {one.name for one in report.iterdir()} == {
        "report.html",
        "report.json",
        "answer.md",
        "suite-spectrum.png",
        "suite-biplot.png",
        "suite-coverage.png",
        "suite-redundancy.png",
        "suite-swaps.png",
    }
    answer = (report / "answer.md").read_text(encoding="utf-8")
    for sentence in document["answer"]:
        assert " ".join(sentence.split()) in answer
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "<b>Bio</b>" not in page
    assert "&lt;b&gt;Bio&lt;/b&gt;" in page
    assert "participation ratio of the eigenvalues" in page
    assert "arXiv:2606.05169" in page
    assert document["command"] == "suite"
    assert set(document["inputs"]) == {"scores.csv"}
    assert found(file, "--frontier", "1") == document


def test_the_answer_names_what_to_keep_and_what_adds_nothing(file: str) -> None:
    document = found(file, "--frontier", "1", "--coverage", "0.95")
    kept = document["coverage"]["kept"]
    assert len({"Maths", "Code"} & set(kept)) == 1
    assert "Noise" in kept
    told = " ".join(here(file, "--frontier", "1", "--coverage", "0.95").stdout.split())
    for name in kept:
        assert name in told
    spare = {"Maths", "Code"} - set(kept)
    nothing = {one["benchmark"] for one in document["places"] if one["verdict"] == "adds nothing"}
    assert spare <= nothing
    assert "These add nothing: " in told
    assert "This direction nobody measures" in told
    assert document["data"]["left_out"][0]["name"] == "params_b"


def test_a_number_of_benchmarks(file: str) -> None:
    document = found(file, "--select", "2")
    assert document["coverage"]["size"] == len(document["coverage"]["kept"]) == 2


def test_columns_are_named_with_commas_and_quotes(file: str) -> None:
    document = found(file, "--columns", 'Maths,"Law, common"', "--columns", "Logic, params_b")
    assert document["benchmarks"] == ["Maths", "Law, common", "Logic"]
    left = {one["name"]: one["reason"] for one in document["data"]["left_out"]}
    assert left["params_b"].startswith("is the same for all models")
    assert left["Code"] == "was not asked for"


def test_outside_columns_and_a_later_date(file: str, tmp_path: Path) -> None:
    later = written(tmp_path / "later.csv", seed=1)
    words = (file, "--frontier", "1", "--outside", "Code", "--outside", "Noise", "--later", later)
    document = found(*words)
    code, noise = document["novelty"]
    assert code["benchmark"] == "Code"
    assert code["novelty"]["value"] < 0.1
    assert noise["novelty"]["value"] > 0.7
    assert document["transfer"]["only_later"] == []
    assert document["transfer"]["benchmarks"] == 4
    assert set(document["inputs"]) == {"scores.csv", "later.csv"}
    assert "At the later date" in here(*words).stdout


def test_responses_by_name_and_by_folder(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = [
        f"m{j},i{i},{int(rng.random() < 1 / (1 + np.exp(i / 3 - 2)))}"
        for j in range(6)
        for i in range(12)
    ]
    text = "\n".join(["model,item,correct", *rows])
    for name in ("Maths.csv", "Logic.csv"):
        (folder / name).write_text(text)
    document = found(file, "--responses", "answers")
    assert {one["benchmark"] for one in document["items"]} == {"Maths", "Logic"}
    assert document["items"][0]["help"] >= document["items"][1]["help"]
    assert {"scores.csv", "answers/Maths.csv", "answers/Logic.csv"} == set(document["inputs"])
    one = found(file, "--responses", "Law, common=answers/Maths.csv")
    assert one["items"][0]["benchmark"] == "Law, common"
    assert one["items"][0]["items"] == 12


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--frontier", "0"), "--frontier: 0 is no share of the models"),
        (("--select", "9"), "--select: 9 of 6 benchmarks cannot be kept"),
        (("--select", "2", "--coverage", "0.5"), "--select: give either"),
        (("--coverage", "1.5"), "--coverage: 1.5 is no share"),
        (("--columns", "Maths,Physics"), "lacks the column 'Physics'"),
        (("--outside", "Physics"), "--outside: there is no benchmark 'Physics'"),
        (("--later", "nowhere.csv"), "nowhere.csv: cannot be read"),
        (("--responses", "nowhere.csv"), "nowhere.csv: cannot be read"),
        (("--responses", "empty"), "empty, --responses: holds no CSV or TSV file"),
        (("--responses", "scores.csv"), "scores.csv"),
    ],
)
def test_what_cannot_be_is_one_sentence(file: str, tmp_path: Path, words, said: str) -> None:
    (tmp_path / "empty").mkdir()
    done = here(file, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("model,A,B\nm1,1,2\n", "the scores are of 1 model"),
        ("model,A,B\nm1,1,2\nm2,1,2\nm3,1,2\n", "none of them tells the models in use apart"),
        ("model,A,B\nm1,1,2\nm2,?,2\nm3,1,2\n", "line 3, A: '?' is no number"),
        ("model,A,B\nm1,,2\nm2,3,\nm3,4,5\n", "1 model of 3 has all scores"),
    ],
)
def test_scores_that_cannot_be_used_are_one_sentence(tmp_path: Path, text, said) -> None:
    (tmp_path / "s.csv").write_text(text)
    done = here("s.csv")
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_missing_scores_are_told_both_ways(tmp_path: Path) -> None:
    written(tmp_path / "scores.csv")
    lines = (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()
    lines[3:9] = [line.rsplit(",", 1)[0] + "," for line in lines[3:9]]
    (tmp_path / "holes.csv").write_text("\n".join(lines), encoding="utf-8")
    whole, pairs = (
        found("holes.csv", "--frontier", "1", "--missing", how) for how in ("complete", "pairwise")
    )
    assert (whole["data"]["models"], pairs["data"]["models"]) == (24, 30)
    assert whole["data"]["d_eff_pairwise"] == pairs["data"]["d_eff_pairwise"]
    assert whole["data"]["d_eff_complete"] == pairs["data"]["d_eff_complete"]
    assert "6 scores are missing" in " ".join(pairs["cautions"])
