"""`benchfill expand` as a user runs it: experts, studies, a kill, a budget."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import benchfill as bf
from benchfill_services.review.desk import ReviewDesk
from benchfill_services.store.connection import connect
from support.arithmetic_world import write_benchmark
from support.merge_world import ADA, BOB, NO, YES
from support.provider_process import ProviderProcess, provider_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchfill_services.review.rules import NewVerdict

# a fit for each version takes minutes on a busy machine; the limits are only there to end hangs
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]
LONGEST = 600  # seconds of a run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that keeps the fits of the tests below."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[ProviderProcess]:
    with provider_process(tmp_path) as running:
        yield running


@pytest.fixture
def files(provider: ProviderProcess, tmp_path: Path) -> Path:
    write_benchmark(tmp_path, provider.url)
    return tmp_path


def command(folder: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "benchfill_services", "expand", str(folder / "responses.csv")),
        *("--items", str(folder / "items.jsonl"), "--pool", str(folder / "pool.yaml")),
        *("--out", str(folder / "out"), "--rewriter", "template", "--no-anchors", "--json"),
        *("--gaps-per-round", "1", *more),
    ]


def environment(data: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "BENCHFILL_REDIS_URL"}
    return kept | {"BENCHFILL_DATA_DIR": str(data), "OMP_NUM_THREADS": "1"}


def run(words: list[str], data: Path) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=LONGEST, env=environment(data), check=False
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


async def judge(data: Path, candidate: str, verdict: NewVerdict) -> None:
    async with connect(None, data) as redis:
        desk = ReviewDesk(redis)
        for person in (ADA, BOB):
            await desk.decide(candidate, person, verdict)


def test_experts_are_waited_for_and_what_they_approve_enters(
    provider: ProviderProcess, files: Path, data: Path
) -> None:
    words = command(files, "--to", "41")
    given = {name: (files / name).read_bytes() for name in ("items.jsonl", "responses.csv")}
    code, first = run(words, data)
    assert (code, first["stopped"], first["unreviewed"]) == (3, "review", False)
    (waiting,) = first["waiting"]
    assert "wait for the verdicts of 2 reviewers" in first["why"]
    asked = provider.asked()
    _, again = run(words, data)
    assert again["waiting"] == [waiting]
    assert provider.asked() == asked
    # what is rejected is replaced by another draw
    asyncio.run(judge(data, waiting, NO))
    _, second = run(words, data)
    assert second["stopped"] == "review"
    assert second["rounds"][0]["gaps"][0]["outcome"] == "rejected"
    (other,) = second["waiting"]
    assert other != waiting
    asyncio.run(judge(data, other, YES))
    code, last = run(words, data)
    assert (code, last["stopped"]) == (0, "size")
    (entered,) = last["rounds"][1]["entered"]
    items = bf.read_items(files / "out" / "items.jsonl")
    matrix = bf.read_responses(files / "out" / "responses.csv")
    assert len(items) == len(matrix.items) == 41
    assert items[-1].id == entered
    line = json.loads((files / "out" / "provenance.jsonl").read_text())
    assert (line["id"], line["unreviewed"], len(line["reviews"])) == (entered, False, 2)
    assert [one["items"] for one in last["standings"]] == [40, 41]
    assert last["standings"][1]["max_gap"]["value"] < last["standings"][0]["max_gap"]["value"]
    assert {name: (files / name).read_bytes() for name in given} == given
    assert {"curve.png", "rulers.png", "distribution-before.png", "report.html"} <= {
        path.name for path in (files / "out").iterdir()
    }


def test_a_study_survives_a_kill_and_says_that_nobody_looked(
    provider: ProviderProcess, files: Path, data: Path
) -> None:
    words = command(files, "--to", "41", "--auto-accept", "--seed", "3")
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(data)
    ) as process:
        deadline = time.monotonic() + LONGEST
        while sum(provider.asked().values()) < 60 and time.monotonic() < deadline:
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    code, document = run(words, data)
    bought = provider.asked()
    assert sum(bought.values()) - len(bought) <= 48
    assert document["stopped"] in {"size", "unfillable"}
    assert code == (0 if document["stopped"] == "size" else 3)
    assert document["unreviewed"] is True
    assert "not for publication" in document["label"]
    assert len(bought) == document["spent"]["rollouts"]
    out = files / "out"
    assert "not for publication" in (out / "report.html").read_text()
    if document["stopped"] == "size":
        line = json.loads((out / "provenance.unreviewed.jsonl").read_text())
        assert (line["unreviewed"], line["reviews"]) == (True, [])
    assert not (out / "items.jsonl").exists()
    _, again = run(words, data)
    assert provider.asked() == bought
    assert again["rounds"] == document["rounds"]
    # the candidates of a study are nobody's work
    assert asyncio.run(cases(data, document["rounds"][0]["job"])) == []


async def cases(data: Path, job: str) -> list[str]:
    async with connect(None, data) as redis:
        ids = await ReviewDesk(redis).reviews.ids()
        return [one for one in ids if one.startswith(job)]


def test_the_budget_is_for_all_rounds_and_can_be_raised(
    provider: ProviderProcess, files: Path, data: Path
) -> None:
    words = command(files, "--to", "41", "--auto-accept")
    code, short = run([*words, "--budget-rollouts", "60"], data)
    assert (code, short["stopped"]) == (3, "budget")
    assert short["spent"]["rollouts"] <= 60
    assert sum(provider.asked().values()) <= 60
    _, more = run(words, data)
    assert more["stopped"] == "size"
    assert set(provider.asked().values()) == {1}
