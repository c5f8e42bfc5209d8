"""`benchfill fill` as a user runs it: killed, resumed, out of budget, with wrong files."""

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
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from benchfill_agents.sample import items_path, pool_path, responses_path
from benchfill_services.cli import app
from benchfill_services.store.connection import connect
from benchfill_services.store.reviews import RedisReviews
from support.arithmetic_world import Benchmark, write_benchmark
from support.scripted_server import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchfill_services.review.case import Case, Event

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that the module's runs share, so that the fit is made once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The arithmetic world's provider, in a process that outlives its clients."""
    log = tmp_path / "requests.jsonl"
    script = f"{SUPPORT / 'arithmetic_world.py'}:answer"
    command = [sys.executable, str(SUPPORT / "scripted_server.py"), "--log", str(log)]
    with subprocess.Popen(
        [*command, "--script", script, "--delay", "0.02"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), log
        process.kill()


def command(files: Benchmark, out: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "benchfill_services", "fill"),
        *("--items", str(files.items), "--responses", str(files.responses)),
        *("--pool", str(files.pool), "--out", str(out), "--max-gaps", "1"),
        *("--rewriter", "template", "--json", *more),
    ]


def run(words: list[str], data: Path, timeout: float = 200) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, timeout=timeout, env=environment(data), check=False
    )


def environment(data: Path) -> dict[str, str]:
    return os.environ | {"BENCHFILL_DATA_DIR": str(data)}


def received(spool: Path) -> int:
    return spool.read_text().count('"received"') if spool.exists() else 0


def seeds(log: Path) -> Counter[int]:
    return Counter(record.body["seed"] for record in read_log(log))


def end_when(words: list[str], data: Path, enough: int, how: signal.Signals) -> tuple[int, str]:
    """Start a fill, end it once so many answers have arrived, and return its code and output."""
    spool = data / "rollouts.jsonl"
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(data)
    ) as process:
        deadline = time.monotonic() + 150
        while received(spool) < enough and time.monotonic() < deadline:
            time.sleep(0.01)
            assert process.poll() is None, "ended before it was killed"
        process.send_signal(how)
        return process.wait(), process.communicate()[0]


def test_sigkill_in_mid_round_loses_and_buys_nothing_twice(
    provider: tuple[str, Path], data: Path, tmp_path: Path
) -> None:
    url, log = provider
    files = write_benchmark(tmp_path, url)
    words = command(files, tmp_path / "out", "--no-anchors")
    end_when(words, data, received(data / "rollouts.jsonl") + 80, signal.SIGKILL)
    done = run(words, data)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["fills"][0]["status"] == "filled"
    assert len(document["in_flight_lost"]) <= 48
    bought = seeds(log)
    # only calls that were out at the kill, at most 48 at a time, were asked again
    assert len(bought) == document["rollouts_total"]
    assert sum(bought.values()) - len(bought) <= 48
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"report.html", "report.json", "candidates.jsonl", "transcript.jsonl"} <= names
    ((case, events),) = asyncio.run(under_review(data))
    assert (case.first.item.id, events) == (document["fills"][0]["chosen"]["item"], [])
    assert (case.benchmark, case.version, case.writer) == ("items", None, None)
    assert case.parent is not None
    assert case.first.calibration.rollouts > 0


async def under_review(data: Path) -> list[tuple[Case, list[Event]]]:
    async with connect(None, data) as redis:
        reviews = RedisReviews(redis)
        return await reviews.cases(await reviews.ids())


@pytest.mark.slow
def test_kills_and_ctrl_c_one_after_another(
    provider: tuple[str, Path], data: Path, tmp_path: Path
) -> None:
    url, log = provider
    files = write_benchmark(tmp_path, url)
    words = command(files, tmp_path / "out", "--seed", "2")
    start = received(data / "rollouts.jsonl")
    # once among the anchors, once in the first round, once with Ctrl-C
    end_when(words, data, start + 60, signal.SIGKILL)
    end_when(words, data, start + 330, signal.SIGKILL)
    code, stdout = end_when(words, data, start + 400, signal.SIGINT)
    assert code == 130
    assert json.loads(stdout)["fills"][0]["status"] == "interrupted"
    done = run(words, data)
    assert done.returncode == 0, done.stderr
    bought = seeds(log)
    assert sum(bought.values()) - len(bought) <= 3 * 48
    again = run(words, data)
    assert seeds(log) == bought
    first, second = (json.loads(one.stdout) for one in (done, again))
    assert first["fills"] == second["fills"]


@pytest.mark.slow
def test_a_spent_budget_exits_3_and_goes_on_when_raised(
    provider: tuple[str, Path], data: Path, tmp_path: Path
) -> None:
    url, log = provider
    files = write_benchmark(tmp_path, url)
    short = run(command(files, tmp_path / "out", "--seed", "1", "--budget-rollouts", "300"), data)
    assert short.returncode == 3, short.stderr
    assert json.loads(short.stdout)["fills"][0]["status"] == "budget_exhausted"
    assert sum(seeds(log).values()) <= 300
    more = run(command(files, tmp_path / "out", "--seed", "1", "--budget-rollouts", "5000"), data)
    assert more.returncode == 0
    assert set(seeds(log).values()) == {1}


@pytest.mark.parametrize(
    ("option", "content", "said"),
    [
        ("--items", "not json\n", "line 1"),
        ("--items", '{"id": "x", "question": "q", "answer": "1"}\n', "ids must be the same"),
        ("--pool", "models: []\n", "models"),
        ("--pool", "models:\n  - {name: x, model: openai/x}\n", "'x' stands in no line"),
        ("--responses", "", "is empty"),
    ],
)
def test_files_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, content: str, said: str
) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    bad = tmp_path / "bad"
    bad.write_text(content)
    files = Benchmark(items_path(), responses_path(), pool_path())
    words = command(files, tmp_path / "out")[3:]
    words[words.index(option) + 1] = str(bad)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_local_pool_answers_a_fill(data: Path, tmp_path: Path) -> None:
    files = Benchmark(items_path(), responses_path(), pool_path())
    words = command(files, tmp_path / "out", "--no-anchors")
    spool = data / "rollouts.jsonl"
    # a busy machine answers one in ten seconds: the whole fill is a slow test
    code, stdout = end_when(words, data, received(spool) + 12, signal.SIGINT)
    document = json.loads(stdout)
    assert code == 130
    assert document["fills"][0]["status"] == "interrupted"
    assert document["fills"][0]["children"] == 16
    kept = [json.loads(line) for line in spool.read_text().splitlines()]
    answers = [one["rollout"] for one in kept if one["event"] == "received"]
    local = [one for one in answers if one["model_name"].startswith("text-")]
    assert len(local) >= 12
    assert any(one["correct"] for one in local)


@pytest.mark.slow
def test_the_local_pool_fills_the_gap_of_the_sample(data: Path, tmp_path: Path) -> None:
    done = run(
        [*(sys.executable, "-m", "benchfill_services", "demo"), "--json", "--out", str(tmp_path)],
        data,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (fill,) = document["fills"]
    assert fill["status"] == "filled"
    assert fill["z_left"] < fill["chosen"]["z"] < fill["z_right"]
    assert fill["chosen"]["p_in_gap"] >= 0.9
    assert fill["top_k_sum"]["after"] < fill["top_k_sum"]["before"]
    assert document["rollouts_total"] > 200


def test_a_dry_run_says_what_it_may_cost_and_asks_nobody(tmp_path: Path) -> None:
    files = write_benchmark(tmp_path, "https://models.example.org/v1")
    words = ["fill", "--items", str(files.items), "--responses", str(files.responses)]
    words += ["--pool", str(files.pool), "--out", str(tmp_path / "out"), "--dry-run"]
    done = CliRunner().invoke(app, [*words, "--budget-rollouts", "500", "--json"])
    assert done.exit_code == 0, done.output
    plan = json.loads(done.stdout)
    assert plan["rollouts_at_most"] == 500
    assert [one["provider"] for one in plan["providers"]] == ["models.example.org"]
    assert not (tmp_path / "out").exists()
    shown = CliRunner().invoke(app, words)
    assert "models.example.org (elsewhere) sees up to 8 anchor items" in shown.output
