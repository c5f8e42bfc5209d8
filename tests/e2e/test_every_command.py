"""Every command on a response matrix, on every odd file and on every real matrix.

A right answer, or one sentence that names what is wrong and exit code 2; never a traceback, never
the sentence that something is a bug.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from benchfill_services.cli import app

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {
    "diagnose": (),
    "check": ("--folds", "2", "--replicates", "20"),
    "ranking": ("--bootstrap", "100"),
    "prune": ("--size", "2"),
    "plan": ("--budget-items", "2", "--budget-rollouts", "40"),
    "progress": ("--permutations", "99"),
    "power": ("-k", "1", "--simulations", "100"),
}
RNG = np.random.default_rng(0)
SOME = RNG.integers(0, 2, (6, 12))


def wide(cells: object, models: list[str] | None = None, items: list[str] | None = None) -> str:
    rows = [[str(cell) for cell in row] for row in np.asarray(cells, dtype=object)]
    names = models or [f"m{j}" for j in range(len(rows))]
    head = ",".join(["model", *(items or [f"i{i}" for i in range(len(rows[0]))])])
    return "\n".join(
        [head, *(",".join([name, *row]) for name, row in zip(names, rows, strict=True))]
    )


def long(cells: object, n: int = 8) -> str:
    rows = [f"m{j},i{i},{y},{n}" for (j, i), y in np.ndenumerate(np.asarray(cells))]
    return "\n".join(["model,item,correct,n", *rows])


MISSING = np.where(RNG.random((6, 12)) < 0.3, "", SOME.astype(str))
TWO_CELLS = SOME.astype(str).astype(object)
TWO_CELLS[2, 2:] = ""
FINE = {
    "plain": wide(SOME),
    "many rollouts": long(RNG.integers(0, 9, (5, 10))),
    "a constant column": wide(np.where(np.arange(12) == 3, 1, SOME)),
    "duplicated models": wide(np.concatenate([SOME, SOME])),
    "30% missing": wide(MISSING),
    "a model with two cells": wide(TWO_CELLS),
    "Windows line ends": wide(SOME).replace("\n", "\r\n"),
    "BOM": "\ufeff" + wide(SOME),
    "semicolons": wide(SOME).replace(",", ";"),
    "quoted newlines": wide(SOME, models=[f'"a\n{j}"' for j in range(6)]),
    "Unicode": wide(SOME, models=[f"модель-{j}-模型-🤖" for j in range(6)]),
    "ids that differ in case": wide(SOME, items=[*"abcdefABCDEF"]),
    "markup": wide(SOME, models=[f"<script>alert({j})</script>" for j in range(6)]),
}
EITHER = {
    "one model": wide(SOME[:1]),
    "one item": wide(SOME[:, :1]),
    "two items": wide(SOME[:, :2]),
    "all right": wide(np.ones((4, 6), int)),
    "all wrong": wide(np.zeros((4, 6), int)),
}
WRONG = {
    "NaN": wide(np.where(np.arange(12) == 3, "NaN?", SOME.astype(str))),
    "negative": wide(np.where(np.arange(12) == 3, -1, SOME)),
    "a share": wide(np.where(np.arange(12) == 3, 0.5, SOME)),
    "empty": "",
    "only a head": "model,a,b",
    "a model twice": wide(SOME, models=["m"] * 6),
    "no rows of numbers": "hello\nworld",
}


def run(
    command: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str, str]:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    files = ["--before", str(path), "--after", str(path)] if command == "progress" else [str(path)]
    found = CliRunner().invoke(
        app, [command, *files, *COMMANDS[command], "--engine", "map", "--json"]
    )
    return found.exit_code, found.stdout, found.stderr


def judged(code: int, stdout: str, stderr: str) -> dict[str, object]:
    """Every end is a JSON object; an error is one sentence on stderr."""
    assert "bug" not in stderr, stderr
    assert "Traceback" not in stderr + stdout
    assert code in {0, 2}, stderr
    document: dict[str, object] = json.loads(stdout)
    errors = [line for line in stderr.splitlines() if line.startswith("Error")]
    assert len(errors) == (code != 0)
    return document


@pytest.mark.parametrize("command", COMMANDS)
def test_odd_files_give_an_answer_or_one_sentence(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (FINE | EITHER | WRONG).items():
        path = tmp_path / "responses.csv"
        path.write_bytes(text.encode())
        code, stdout, stderr = run(command, path, tmp_path, monkeypatch)
        judged(code, stdout, stderr)
        if name in FINE:
            assert code == 0, (name, stderr)
        if name in WRONG:
            assert code == 2, name
            assert str(path) in stderr or "responses.csv" in stderr, (name, stderr)


REAL = (
    "evalperf_100rollouts/responses.csv",
    "gsm8k_openai2021/matrix.csv",
    "swebench_pro/matrix.csv",
    "swebench_pro/matrix_common_ge8.csv",
    "tau_bench_airline/responses.csv",
    "zeroeval_gsm8k/matrix.csv",
    "zeroeval_math_l5/matrix.csv",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("command", COMMANDS)
def test_real_matrices_give_an_answer(
    command: str, name: str, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, stdout, stderr = run(command, shared_data / name, tmp_path, monkeypatch)
    judged(code, stdout, stderr)
    if not name.startswith("tau"):  # one model only: some questions cannot be asked of it
        assert code == 0, stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_million_rows_give_an_answer(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    theta, b = rng.normal(0, 1.5, 50), rng.normal(0, 1.5, 20_000)
    cells = rng.random((50, 20_000)) < 1 / (1 + np.exp(b - theta[:, None]))
    path = tmp_path / "responses.csv"
    path.write_text(long(cells.astype(int), 1), encoding="utf-8")
    code, stdout, stderr = run(command, path, tmp_path, monkeypatch)
    judged(code, stdout, stderr)
    assert code == 0, stderr
