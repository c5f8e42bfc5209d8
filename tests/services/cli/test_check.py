"""`benchfill check` as a user runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from benchfill import write_responses
from benchfill_services.cli import app
from support.checks import flawed
from support.fills import HOSTILE
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write_responses(flawed(), "flawed.csv")


def check(*words: str) -> Result:
    return CliRunner().invoke(app, ["check", *words, "--replicates", "20", "--folds", "2"])


def test_a_report_that_says_what_to_look_at(tmp_path: Path) -> None:
    done = check("flawed.csv", "--json", "--out", "report")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    kinds = {one["kind"]: one["names"] for one in document["findings"]}
    assert kinds["identical_models"] == ["m-0", "m-1"]
    assert kinds["inverted_item"] == ["m-item-0"]
    folder = tmp_path / "report"
    assert json.loads((folder / "report.json").read_text()) == document
    for picture in ("item-fit.png", "leave-one-out.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    page = (folder / "report.html").read_text()
    for said in (
        "1 group of models with equal responses",
        "1 item that better models do worse on",
        "is never evidence that it fits",
        "false discovery rate of 5%",
        "log predictive density of 300 cells",
        "doi:10.1007/BF02293801",
    ):
        assert said in page
    # every row as wide as its head
    for table in page.split("<table>")[1:]:
        rows = table.split("</table>")[0].split("<tr>")[1:]
        assert len({row.count("<td") + row.count("<th") for row in rows}) == 1


def test_words_for_a_terminal() -> None:
    done = check("flawed.csv")
    assert done.exit_code == 0
    told = " ".join(done.stdout.split())
    assert "Look at 1 group of models with equal responses" in told
    assert "predict" in told
    assert "moves them most" in told
    assert "better models do worse m-item-0" in told
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_strict_is_about_copies_and_the_2pl() -> None:
    assert check("flawed.csv", "--strict").exit_code == 4
    rng = np.random.default_rng(4)
    write_responses(respond(rng, abilities(rng, 10), rng.normal(0, 1, 30), 4), "clean.csv")
    done = check("clean.csv", "--strict")
    assert done.exit_code == 0
    assert "stands out" in done.stdout
    help_text = CliRunner().invoke(app, ["check", "--help"]).stdout
    assert "2PL" in " ".join(help_text.split())


def test_names_from_strangers_do_no_harm(tmp_path: Path) -> None:
    write_responses(flawed(HOSTILE.replace("\0", "")), "hostile.csv")
    done = check("hostile.csv", "--out", "report")
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "\u202e" not in page + done.stdout


@pytest.mark.parametrize(
    ("correct", "said"),
    [
        ([[1, 0, 1, 1]], "at least 3 of each"),
        (np.zeros((4, 5), dtype=int), "tell models apart"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(correct: list[list[int]], said: str) -> None:
    write_responses(matrix_of(correct, 1), "odd.csv")
    done = check("odd.csv")
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
