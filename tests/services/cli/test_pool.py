"""`benchfill pool`: templates, checks over real HTTP, suggestions from a real file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from benchfill_agents.pool.config import read_pool
from benchfill_agents.sample import responses_path
from benchfill_services.cli import app
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

POOL = """
scoring: numeric
models:
  - {{name: good, model: openai/scripted, api_base: "{good}", parameters: {{max_tokens: 9}}}}
  - {{name: gone, model: openai/scripted, api_base: "{gone}"}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.chdir(tmp_path)


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["pool", *map(str, arguments)])


def test_a_template_is_written_once_and_is_a_pool(tmp_path: Path) -> None:
    names = run("template").stdout.split()
    assert "openai" in names
    path = tmp_path / "pool.yaml"
    done = run("template", "openai", "--out", path)
    assert done.exit_code == 0, done.output
    assert f"benchfill pool check {path}" in done.stdout.replace("\n", "")
    assert read_pool(path).models
    printed = run("template", "openai")
    assert printed.stdout == path.read_text(encoding="utf-8")
    again = run("template", "openai", "--out", path)
    assert (again.exit_code, again.stderr) == (2, f"Error: {path}: exists; name another file.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["template", "opnai"], "there is no template 'opnai'; there are anthropic,"),
        (["template", "openai", "--out", "no/such/folder.yaml"], "cannot be written (no such file"),
        (["template", "--out", "pool.yaml"], "--out: needs the name of a template"),
        (["check", "none.yaml"], "none.yaml: cannot be read (no such file"),
        (["suggest", "none.csv"], "none.csv: cannot be read (no such file"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_check_names_what_fails_and_shows_what_answers(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    pool = tmp_path / "pool.yaml"
    pool.write_text(POOL.format(good=scripted_server.url, gone="http://127.0.0.1:9/v1"))
    done = run("check", pool)
    assert done.exit_code == 2
    assert "This makes about 6 calls, for $0.0000 at most." in done.stderr
    assert "Error: model 'gone': nothing answers at http://127.0.0.1:9/v1" in done.stderr
    assert "good" in done.stdout
    found = json.loads(run("check", pool, "--json", "--no-parameters").stdout)
    assert [one["answers"] for one in found["models"]] == [True, False]
    assert found["models"][0]["usd_per_1000_rollouts"] == 0.0
    assert (found["expected"]["calls"], found["calls"]) == (2, 2)


def test_a_check_with_items_asks_the_first_of_them(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    pool, items = tmp_path / "pool.yaml", tmp_path / "items.jsonl"
    pool.write_text("\n".join(POOL.format(good=scripted_server.url, gone="").splitlines()[:-1]))
    items.write_text('{"id": "one", "question": "Why 7 + 1 = ?", "answer": "8"}\n')
    done = run("check", pool, "--items", items, "--no-parameters")
    assert done.exit_code == 0, done.output
    (record,) = scripted_server.records
    assert "Why 7 + 1" in record.body["messages"][-1]["content"]


def test_a_price_that_is_not_known_is_said_before_and_after(tmp_path: Path) -> None:
    pool = tmp_path / "pool.yaml"
    pool.write_text("models: [{name: far, model: openai/x, api_base: 'http://far.invalid/v1'}]")
    done = run("check", pool)
    assert "and calls of unknown price to far." in done.stderr
    assert done.exit_code == 2


def test_what_a_model_does_not_take_stands_in_the_table(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    def answer(request: Any) -> Reply:
        if "seed" in request.body:
            return Reply("Unsupported parameter: 'seed'", status=400, parameter="seed")
        return Reply("2")

    scripted_server.script(answer)
    pool = tmp_path / "pool.yaml"
    pool.write_text("\n".join(POOL.format(good=scripted_server.url, gone="").splitlines()[:-1]))
    done = run("check", pool)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if "good" in line and "yes" in line)
    assert "seed" in row
    assert "it accepts logprobs and json_schema, but its replies do not show it" in done.stdout


def test_suggest_chooses_from_the_sample_and_writes_its_report(tmp_path: Path) -> None:
    done = run("suggest", responses_path(), "--models", 4, "--out", tmp_path / "report", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    names = [one["model"] for one in found["chosen"]]
    assert len(names) == 4
    assert [one["size"] for one in found["curve"]] == [2, 3, 4, 6, 8, 10]
    files = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"report.html", "report.json", "models.txt", "panel.png", "panel-size.png"} <= files
    assert (tmp_path / "report" / "models.txt").read_text().split("\n")[:-1] == names
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Models for a pool" in page
    told = run("suggest", responses_path(), "--models", 4).stdout
    assert "How many suffice" not in told  # headings are the page's
    assert "random" in told
