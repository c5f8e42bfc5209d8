"""`benchfill generate` on the four chapters, with recorded replies over real HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import benchfill as bf
from benchfill_services.cli import app
from benchfill_services.store.connection import connect
from benchfill_services.store.reviews import RedisReviews
from support import textbook_world as world
from support.arithmetic_world import HOLE, PREFIX, write_benchmark
from support.scripted_server import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchfill_services.review.case import Case
    from support.openai_api import Reply, Request
    from support.scripted_server import ScriptedServer

SUPPORT = Path(__file__).parents[2] / "support"


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
    done = CliRunner().invoke(app, ["generate", *chapters, "--out", str(here / "out"), *line])
    assert done.exit_code == 2, done.stdout
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_chapter_that_the_taxonomy_names_and_nobody_has(chapters: list[str], here: Path) -> None:
    line = words(chapters[:2], here, "http://127.0.0.1:9/v1")
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 2
    assert "names the chapter '04-lists'" in done.stderr


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The recorded replies, from a process that outlives its clients."""
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, str(SUPPORT / "scripted_server.py"), "--log", str(log)]
    script = f"{SUPPORT / 'textbook_world.py'}:reply"
    with subprocess.Popen(
        [*command, "--script", script, "--delay", "0.05"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), log
        process.kill()


def answered(log: Path) -> Counter[str]:
    records = read_log(log) if log.exists() else []
    return Counter(one.key for one in records if one.sent)


@pytest.mark.slow
def test_sigkill_and_ctrl_c_buy_nothing_twice(
    chapters: list[str], here: Path, provider: tuple[str, Path]
) -> None:
    url, log = provider
    command = [sys.executable, "-m", "benchfill_services", *words(chapters, here, url)]
    for enough, how in ((9, signal.SIGKILL), (25, signal.SIGINT)):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ
        ) as process:
            deadline = time.monotonic() + 200
            while sum(answered(log).values()) < enough and time.monotonic() < deadline:
                time.sleep(0.01)
                assert process.poll() is None, "ended before it was killed"
            process.send_signal(how)
            code, said = process.wait(), process.communicate()[0]
    assert code == 130
    assert json.loads(said)["status"] == "interrupted"
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    # what was out at the kill and at the interrupt, one call each, may be answered to nobody
    assert sum(answered(log).values()) - len(answered(log)) <= 2
    document = json.loads(done.stdout)
    assert document["status"] == "complete"
    assert sum(one["calls"] for one in document["spent"]) == len(answered(log))


IN_THE_GAP = {"polynomial from its coefficients": sum(HOLE) / 2}


@pytest.mark.slow
def test_items_for_a_gap_come_under_review(
    chapters: list[str], here: Path, scripted_server: ScriptedServer
) -> None:
    """The fit alone takes longer than all tests of this file together."""
    played = world.script()

    def answer(request: Request) -> Reply:
        measures = request.model.startswith(PREFIX)
        return world.pool_answer(request, IN_THE_GAP) if measures else played(request)

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
    # the recorded items end before it is sure that one of them fills the gap, or with it
    assert document["status"] in {"gaps_filled", "short"}, done.stderr
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
