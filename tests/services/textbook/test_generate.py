"""`benchfill generate` on the four chapters, with recorded replies over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import benchfill as bf
from benchfill_services.cli import app
from benchfill_services.store.connection import connect
from benchfill_services.store.reviews import RedisReviews
from support import textbook_world as world
from support.arithmetic_world import PREFIX, write_benchmark
from support.textbook_stages import IN_THE_GAP

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_services.review.case import Case
    from support.openai_api import Reply, Request
    from support.scripted_server import ScriptedServer


@pytest.fixture
def chapters(shared_data: Path) -> list[str]:
    """The options that name the four chapters."""
    folder = shared_data / "textbook" / "carpentries_python_inflammation"
    return [word for path in sorted(folder.glob("0*.md")) for word in ("--source", str(path))]


def words(chapters: list[str], folder: Path, url: str, *more: str) -> list[str]:
    taxonomy, blueprint = world.write_plan(folder, 1)
    return [
        *("generate", *chapters, "--pool", str(world.write_pool(folder, url))),
        *("--taxonomy", str(taxonomy), "--blueprint", str(blueprint)),
        *("--attribution", "Software Carpentry, Programming with Python"),
        *("--licence", "CC BY 4.0", "--out", str(folder / "out"), "--json", *more),
    ]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a data folder of its own."""
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_four_chapters(
    chapters: list[str], here: Path, scripted_server: ScriptedServer
) -> None:
    scripted_server.script(world.script())
    line = words(chapters, here, scripted_server.url)
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["status"] == "complete"
    assert len(document["accepted"]) == 4
    items = bf.read_items(here / "out" / "items.jsonl")
    assert [one.id for one in items] == document["accepted"]
    assert {one.domain for one in items} == {"multiple_choice"}
    assert {one.metadata["licence"] for one in items} == {"CC BY 4.0"}
    assert all(".md" in one.metadata["source"][0] for one in items)
    records = lines_of(here / "out" / "records.jsonl")
    assert Counter(one["outcome"] for one in records) == {"accepted": 4, "dropped": 1}
    assert all(one["graph"] and one["history"] and one["spent"] for one in records)
    reasons = {one["why"] for one in lines_of(here / "out" / "left_out.jsonl")}
    assert {"front matter", "exercise"} <= reasons
    page = (here / "out" / "report.html").read_text()
    assert page.count('class="solution-graph"') == 4
    assert "<script" not in page
    told = scripted_server.counts()
    # the same command again finds all on record
    again = CliRunner().invoke(app, line)
    assert scripted_server.counts() == told
    same = [
        {k: v for k, v in d.items() if k != "seconds"} for d in (document, json.loads(again.stdout))
    ]
    assert same[0] == same[1]


def test_a_taxonomy_is_proposed_and_never_written_over(
    chapters: list[str], here: Path, scripted_server: ScriptedServer
) -> None:
    scripted_server.script(world.script())
    pool = world.write_pool(here, scripted_server.url)
    place = here / "proposed.yaml"
    line = ["generate", *chapters, "--pool", str(pool), "--out", str(here / "out")]
    line += ["--propose-taxonomy", str(place), "--json"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["competencies"] == 4
    assert "array-slicing" in place.read_text()
    refused = CliRunner().invoke(app, line)
    assert refused.exit_code == 2
    assert "an edited taxonomy is not written over" in refused.stderr
    # the chapters need not be taken apart a second time
    asked = Counter(world.stage_of(_request(one)) for one in scripted_server.records)
    assert asked == {"knowledge": 4, "taxonomy": 1}


def test_what_is_proposed_for_two_chapters_is_said_in_words(
    chapters: list[str], here: Path, scripted_server: ScriptedServer
) -> None:
    """And the file's folder is made, and only who sees the chapters is named."""
    scripted_server.script(world.script())
    pool, place = world.write_pool(here, scripted_server.url), here / "plans" / "proposed.yaml"
    line = ["generate", *chapters[:2], "--pool", str(pool), "--out", str(here / "out")]
    line += ["--propose-taxonomy", str(place)]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.stderr
    assert place.exists()
    words = " ".join(done.stdout.split())
    assert words.startswith("Proposed: 1 competency in 1 area, in")
    assert words.endswith("tokens, price unknown.")
    assert "Designer gpt-recorded will see the chapters." in done.stderr
    assert "Verifier" not in done.stderr


def test_a_budget_in_dollars_says_whose_calls_it_cannot_count(
    chapters: list[str], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is called: the budget is 0."""
    monkeypatch.setenv("RECORDED_KEY", "none")
    pool = here / "pool.yaml"
    names = ("openai/gpt-unheard-of", "anthropic/claude-unheard-of", "openai/gpt-4o-mini")
    pool.write_text(
        "models:\n"
        + "".join(f"  - {{name: {n}, model: {n}, api_key_env: RECORDED_KEY}}\n" for n in names)
    )
    line = words(chapters, here, "http://127.0.0.1:9/v1", "--budget-usd", "0")
    line[line.index("--pool") + 1] = str(pool)
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 3, done.stderr
    assert "raise the dollar budget" in json.loads(done.stdout)["why"]
    noted = [one for one in done.stderr.splitlines() if one.startswith("The price of")]
    assert [one.split()[3] for one in noted] == list(names[:2])


def _request(record: Any) -> Any:
    return type("Request", (), {"body": record.body})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "the local models cannot write items from a textbook"),
        (["--designer", "gpt-4o"], "--designer: 'gpt-4o' is no model of the pool"),
        (["--pool", "POOL"], "no taxonomy is given"),
        (["--pool", "POOL", "--taxonomy", "TAXONOMY"], "give --blueprint FILE"),
        (["--pool", "POOL", "--taxonomy", "POOL"], "textbook-pool.yaml"),
        (
            ["--pool", "POOL", "--taxonomy", "TAXONOMY", "--per-competency", "1",
             "--items", "POOL"],
            "--items: is used with --aim-gap only",
        ),
        (
            ["--pool", "POOL", "--taxonomy", "TAXONOMY", "--per-competency", "1",
             "--budget-rollouts", "5"],
            "--budget-rollouts: nothing is measured without --aim-gap",
        ),
        (
            ["--pool", "POOL", "--propose-taxonomy", "BLUEPRINT/proposed.yaml"],
            "proposed.yaml, --propose-taxonomy: cannot be written",
        ),
        (
            ["--pool", "POOL", "--taxonomy", "TAXONOMY", "--blueprint", "BLUEPRINT",
             "--aim-gap", "BLUEPRINT"],
            "--aim-gap: items are written until the gaps are filled",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said_in_a_sentence(
    chapters: list[str], here: Path, more: list[str], said: str
) -> None:
    taxonomy, blueprint = world.write_plan(here)
    pool = world.write_pool(here, "http://127.0.0.1:9/v1")
    places = {"POOL": pool, "TAXONOMY": taxonomy, "BLUEPRINT": blueprint}
    line = [str(places.get(word, word)) for word in more]
    line = [word.replace("BLUEPRINT/", f"{blueprint}/") for word in line]
    done = CliRunner().invoke(app, ["generate", *chapters, "--out", str(here / "out"), *line])
    assert done.exit_code == 2, done.stdout
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_chapter_that_the_taxonomy_names_and_nobody_has(chapters: list[str], here: Path) -> None:
    line = words(chapters[:2], here, "http://127.0.0.1:9/v1")
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 2
    assert "names the chapter '04-lists'" in done.stderr


@pytest.mark.slow
def test_items_for_a_gap_come_under_review(
    chapters: list[str], here: Path, scripted_server: ScriptedServer
) -> None:
    """The recorded item whose difficulty lies in the gap fills it; the fit takes most of this."""
    played, measured = world.script(), world.Evenly(IN_THE_GAP)

    def answer(request: Request) -> Reply:
        return (measured if request.model.startswith(PREFIX) else played)(request)

    scripted_server.script(answer)
    files = write_benchmark(here, scripted_server.url)
    judges = "".join(
        f"  - {{name: {one}, model: openai/{one}, api_base: '{scripted_server.url}'}}\n"
        for one in ("gpt-recorded", "claude-recorded", "qwen-recorded")
    )
    files.pool.write_text(files.pool.read_text() + f"judges:\n{judges}")
    line = words(chapters, here, scripted_server.url, "--aim-gap", str(files.responses))
    line[line.index("--pool") + 1] = str(files.pool)
    line += ["--items", str(files.items), "--max-gaps", "1", "--min-p-in-gap", "0.8"]
    done = CliRunner().invoke(app, [*line, "--budget-rollouts", "4000"])
    document = json.loads(done.stdout)
    assert (document["status"], done.exit_code) == ("gaps_filled", 0), done.stderr
    (gap,) = document["gaps"]
    items = {one.id: one.question for one in bf.read_items(here / "out" / "items.jsonl")}
    assert "coefs = [2, 4, 3]" in items[gap["item"]]
    assert document["under_review"] == len(document["accepted"]) > 0
    cases = asyncio.run(under_review(here / "data"))
    assert {one.first.item.id for one in cases} == set(document["accepted"])
    for case in cases:
        assert case.textbook is not None
        assert case.textbook.spans
        assert case.first.calibration is not None
        assert case.target.id == "gap-1"


async def under_review(data: Path) -> list[Case]:
    async with connect(None, data) as redis:
        reviews = RedisReviews(redis)
        return [case for case, _ in await reviews.cases(await reviews.ids())]
