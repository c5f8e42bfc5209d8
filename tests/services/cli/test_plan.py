"""`benchfill plan` as a user runs it."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from benchfill import write_responses
from benchfill_services.cli import app
from support.fills import HOSTILE
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    b = np.concatenate([np.linspace(-2, -0.3, 6), np.linspace(0.7, 2, 6)])
    write_responses(respond(rng, abilities(rng), b, 8), "bench.csv")


def plan(*words: str) -> Result:
    return CliRunner().invoke(app, ["plan", *words, "--engine", "map"])


def test_both_budgets_with_a_report(tmp_path: Path) -> None:
    words = ("--budget-items", "2", "--budget-rollouts", "60", "--json", "--out", "report")
    done = plan("bench.csv", *words)
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert len(document["new_items"]["items"]) == 2
    folder = tmp_path / "report"
    assert json.loads((folder / "report.json").read_text()) == document
    assert (folder / "plan.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "report.html").read_text()
    assert "plain midpoints" in page
    assert "rerun.csv" in page
    with (folder / "rerun.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {key: str(value) for key, value in one.items()} for one in document["reruns"]["reruns"]
    ]
    assert sum(int(row["rollouts"]) for row in rows) == 60


@pytest.mark.parametrize("objective", ["max-gap", "ddm", "top-k"])
def test_words_for_a_terminal(objective: str) -> None:
    done = plan("bench.csv", "--budget-items", "3", "--objective", objective)
    assert done.exit_code == 0
    told = " ".join(done.stdout.split())
    assert "3 new items at difficulty" in told
    assert "idpoints of the widest gaps" in told
    assert "Items to run again" not in told
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_reruns_alone_and_nothing_to_decide() -> None:
    done = plan("bench.csv", "--budget-rollouts", "40")
    assert "With 40 further answers" in " ".join(done.stdout.split())
    write_responses(matrix_of([[900, 100], [700, 50]], 1000), "sure.csv")
    done = plan("sure.csv", "--budget-rollouts", "40")
    assert done.exit_code == 0
    assert "There is nothing to decide" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to plan"),
        (("--budget-items", "1001"), "1,001 new items are too many"),
        (("--budget-items", "1", "--placement-sd", "nan"), "--placement-sd"),
        (("--budget-items", "1", "--target-dist", "gamma"), "--target-dist"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    done = plan("bench.csv", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_one_item_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("model,item,correct\na,x,1\nb,x,0\n")
    done = plan("one.csv", "--budget-items", "1")
    assert done.exit_code == 2
    assert "only one item" in done.stderr


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    name = HOSTILE.replace("\x00", "")
    with (tmp_path / "bad.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("model", "item", "correct", "n"))
        rng = np.random.default_rng(0)
        for j in range(3):
            for i in range(5):
                writer.writerow((f"{name}{j}", f'{name}"\n{i}', rng.binomial(6, 0.9 - i / 6), 6))
    words = ("--budget-items", "1", "--budget-rollouts", "9", "--out", "report")
    done = plan("bad.csv", *words)
    assert done.exit_code == 0, done.stderr
    assert "<script" not in (tmp_path / "report" / "report.html").read_text().split("</style>")[1]
    with (tmp_path / "report" / "rerun.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert all(row["item"].startswith(name) for row in rows)
