"""`benchfill rollouts` as a user runs it: multiple choice, code, and a runner of their own."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from benchfill_services.cli import app
from support.scripted_server import Reply

if TYPE_CHECKING:
    from click.testing import Result

    from support.openai_api import Request
    from support.scripted_server import ScriptedServer

SUPPORT = Path(__file__).parents[1] / "support"
CAPITALS = {"Peru": "Lima", "Kenya": "Nairobi", "Norway": "Oslo", "Japan": "Tokyo"}
CHOICES = [
    {"id": land, "question": f"Capital of {land}?", "answer": city, "choices": [*CAPITALS.values()]}
    for land, city in CAPITALS.items()
]
PROGRAMS = [
    {
        "id": name,
        "question": f"Write {name}(x).",
        "answer": f"def {name}(x):\n    return {result}",
        "domain": "code",
        "metadata": {"tests": [f"assert {name}(4) == {4 * 2 if name == 'double' else 16}"]},
    }
    for name, result in (("double", "2 * x"), ("square", "x * x"))
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def write(items: list[dict[str, Any]], pool: str = "") -> None:
    Path("items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    Path("pool.yaml").write_text(pool)


def rollouts(*more: str, k: int = 2) -> Result:
    fixed = ["rollouts", "--items", "items.jsonl", "--out", "responses.csv", "-k", str(k), "--json"]
    return CliRunner().invoke(app, [*fixed, *more])


def cells() -> dict[tuple[str, str], str]:
    with Path("responses.csv").open() as file:
        return {(row["model"], row["item"]): row["correct"] for row in csv.DictReader(file)}


def pool(server: ScriptedServer, head: str) -> str:
    return f"""
{head}
models:
  - {{name: able, model: openai/able, api_base: "{server.url}"}}
  - {{name: first, model: openai/first, api_base: "{server.url}"}}
"""


def test_multiple_choice_with_shuffled_options(scripted_server: ScriptedServer) -> None:
    def answer(request: Request) -> Reply:
        asked = request.body["messages"][-1]["content"]
        if request.model == "first":
            return Reply("A")
        city = CAPITALS[re.findall(r"of (\w+)\?", asked)[0]]
        return Reply(f"It is ({re.findall(rf'([A-Z])[.] {city}', asked)[0]}).")

    scripted_server.script(answer)
    write(CHOICES, pool(scripted_server, "scoring: multiple_choice\nshuffle_choices: true"))
    result = rollouts("--pool", "pool.yaml", k=8)
    assert result.exit_code == 0, result.output
    models = {one["model"]: one for one in json.loads(result.stdout)["models"]}
    assert models["able"]["accuracy"] == 1
    # whoever always says A is right as often as the right option happens to be first
    assert 0 < models["first"]["accuracy"] < 0.6
    assert cells()["able", "Peru"] == "8"
    again = rollouts("--pool", "pool.yaml", k=8)
    assert json.loads(again.stdout)["calls"] == 0


def test_programs_are_scored_in_the_sandbox(scripted_server: ScriptedServer) -> None:
    def answer(request: Request) -> Reply:
        name = re.findall(r"Write (\w+)\(", request.body["messages"][-1]["content"])[0]
        body = {"double": "x + x", "square": "x ** 2"}[name] if request.model == "able" else "2 * x"
        return Reply(f"```python\ndef {name}(x):\n    return {body}\n```")

    scripted_server.script(answer)
    write(PROGRAMS, pool(scripted_server, "scoring: exact"))
    result = rollouts("--pool", "pool.yaml", k=1)
    assert result.exit_code == 0, result.output
    assert cells() == {
        ("able", "double"): "1", ("able", "square"): "1",
        ("first", "double"): "1", ("first", "square"): "0",
    }  # fmt: skip


def test_a_runner_answers_instead_of_a_pool() -> None:
    sums = [{"id": f"{a}+1", "question": f"{a} + 1 =", "answer": str(a + 1)} for a in (1, 2, 3)]
    write([*sums, {"id": "words", "question": "one + one", "answer": "2"}])
    command = f"{sys.executable} {SUPPORT / 'example_runner.py'}"
    result = rollouts("--runner", command)
    assert result.exit_code == 0, result.output
    (model,) = json.loads(result.stdout)["models"]
    assert (model["model"], model["scored"], model["accuracy"]) == ("runner", 6, 1)
    assert model["cost"] == pytest.approx(0.006)
    assert model["outcomes"] == {"answered": 6, "failed": 2}
    again = json.loads(rollouts("--runner", command).stdout)
    assert again["models"][0]["scored"] == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name who answers: a pool file by --pool, or a program by --runner"),
        (("--runner", "'"), "is no command"),
        (("--runner", "/nowhere/x"), "cannot be started"),
        (("--runner", f"{sys.executable} -c 'raise SystemExit(1)'"), "answered nothing in 2 runs"),
    ],
)
def test_a_runner_that_cannot_be_used(options: tuple[str, ...], said: str) -> None:
    write(CHOICES)
    result = rollouts(*options)
    assert result.exit_code in {2, 3}
    assert said in " ".join(result.output.split())
