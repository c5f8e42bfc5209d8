"""`benchfill batch` as a user runs it: wrong files in the middle, kills, budgets, workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from benchfill_agents.sample import items_path, pool_path, responses_path
from benchfill_services.cli import app
from benchfill_services.fill_job import fit_files
from support.arithmetic_world import write_benchmark
from support.provider_process import ProviderProcess, provider_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_OUT = 48  # calls at a time: twelve models, four each
LONGEST = 600  # seconds of a run on a busy machine: only there to end a hang
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that keeps the one fit of all jobs below."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[ProviderProcess]:
    with provider_process(tmp_path) as running:
        yield running


@pytest.fixture
def world(provider: ProviderProcess, data: Path, tmp_path: Path) -> Path:
    """The folder of a benchmark whose fit is kept."""
    files = write_benchmark(tmp_path, provider.url)
    fit_files(files.items, files.responses, engine="mcmc", seed=0, data_dir=data)
    return tmp_path


def jobs_file(folder: Path, *jobs: str, budget: str = "") -> Path:
    path = folder / "jobs.yaml"
    head = f"budget: {budget}\n" if budget else ""
    path.write_text(
        f"{head}defaults: {{items: items.jsonl, responses: responses.csv, pool: pool.yaml, "
        f"rewriter: template, anchors: false, gaps: 1}}\njobs:\n"
        + "".join(f"  - {{{job}}}\n" for job in jobs)
    )
    return path


def command(path: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "benchfill_services", "batch", str(path)),
        *("--out", str(path.parent / "out"), "--json", *more),
    ]


def environment(data: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "BENCHFILL_REDIS_URL"}
    return kept | {"BENCHFILL_DATA_DIR": str(data), "OMP_NUM_THREADS": "1"}


def run(words: list[str], data: Path) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=LONGEST, env=environment(data), check=False
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def end_when(
    words: list[str], data: Path, provider: ProviderProcess, enough: int, how: signal.Signals
) -> tuple[int, str]:
    """Start a batch, end it once the provider was asked so often; return its code and output."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(data)
    ) as process:
        deadline = time.monotonic() + LONGEST
        while sum(provider.asked().values()) < enough and time.monotonic() < deadline:
            time.sleep(0.02)
            assert process.poll() is None, "ended before it was killed"
        process.send_signal(how)
        return process.wait(), process.communicate()[0]


THREE = ("name: first", "name: broken, items: none.jsonl", "name: last, min_p_in_gap: 0.85")


def test_killed_in_the_middle_no_job_is_lost_and_nothing_bought_twice(
    provider: ProviderProcess, world: Path, data: Path
) -> None:
    words = command(jobs_file(world, *THREE))
    end_when(words, data, provider, 60, signal.SIGKILL)
    code, document, stderr = run(words, data)
    jobs = {one["job"]: one for one in document["jobs"]}
    assert [one["end"] for one in document["jobs"]] == ["completed", "failed", "completed"], stderr
    assert (code, jobs["broken"]["failure"]) == (2, "input")
    assert "none.jsonl" in jobs["broken"]["error"]
    assert [one["outcome"] for name in ("first", "last") for one in jobs[name]["gaps"]] == [
        "filled",
        "filled",
    ]
    bought = provider.asked()
    # only calls that were out at the kill were asked again, and those of both jobs only once
    assert sum(bought.values()) - len(bought) <= MOST_OUT
    assert len(bought) <= document["rollouts"]
    for name in ("first", "last"):
        assert (world / "out" / name / "report.html").is_file()
    page = (world / "out" / "report.html").read_text()
    assert "none.jsonl" in page
    assert "Seed None" not in page
    # and a run more finds all of it done
    _, again, _ = run(words, data)
    assert provider.asked() == bought
    assert [one["found_done"] for one in again["jobs"]] == [True, False, True]
    assert [one["gaps"] for one in again["jobs"]] == [one["gaps"] for one in document["jobs"]]


@pytest.mark.slow
def test_ctrl_c_ends_in_order_and_the_budget_of_all_is_kept(
    provider: ProviderProcess, world: Path, data: Path
) -> None:
    jobs = ("name: a, seed: 0, min_p_in_gap: 0.86", "name: b, min_p_in_gap: 0.87, gaps: 2")
    path = jobs_file(world, *jobs, budget="{rollouts: 150}")
    code, stdout = end_when(command(path), data, provider, 40, signal.SIGINT)
    assert code == 130
    assert {one["end"] for one in json.loads(stdout)["jobs"]} == {"interrupted"}
    code, document, _ = run(command(path), data)
    assert code == 3
    assert "budget_exhausted" in {one["end"] for one in document["jobs"]}
    assert document["rollouts"] <= 150
    assert sum(provider.asked().values()) <= 150 + MOST_OUT
    code, document, stderr = run(command(jobs_file(world, *jobs)), data)
    assert {one["end"] for one in document["jobs"]} == {"completed"}, stderr
    assert sum(provider.asked().values()) - len(provider.asked()) <= MOST_OUT


@pytest.mark.slow
def test_workers_do_the_same_also_when_the_batch_is_killed(
    provider: ProviderProcess, world: Path, data: Path
) -> None:
    words = command(jobs_file(world, *THREE, budget="{rollouts: 4000}"), "--workers", "1")
    end_when(words, data, provider, 60, signal.SIGKILL)
    time.sleep(3)  # its worker hears that it is alone
    code, document, stderr = run(words, data)
    assert code == 2, stderr
    assert [one["end"] for one in document["jobs"]] == ["completed", "failed", "completed"]
    bought = provider.asked()
    assert sum(bought.values()) - len(bought) <= 2 * MOST_OUT
    assert (world / "out" / "last" / "report.html").is_file()
    # what workers did is done for a run without them, too
    _, again, _ = run(command(world / "jobs.yaml"), data)
    assert [one["found_done"] for one in again["jobs"]] == [True, False, True]
    assert provider.asked() == bought


def test_without_a_worker_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("BENCHFILL_REDIS_URL", raising=False)
    path = jobs_file(tmp_path, "name: a")
    done = CliRunner().invoke(app, ["batch", str(path), "--out", str(tmp_path), "--workers", "0"])
    assert done.exit_code == 2
    assert "no worker is alive" in done.stderr


def test_a_wrong_file_of_jobs_is_one_sentence(tmp_path: Path) -> None:
    path = jobs_file(tmp_path, "name: a, gap: 3")
    done = CliRunner().invoke(app, ["batch", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert done.stderr.strip().splitlines() == [
        f"Error: {path}, line 3, jobs[0].gap: is no field of this file; take it out or correct its "
        "name."
    ]
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_local_pool_fills_two_jobs_at_once(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text(
        f"defaults: {{items: {items_path()}, responses: {responses_path()}, pool: {pool_path()}, "
        "rewriter: template}\njobs:\n  - {gaps: 1}\n  - {at: [0.3]}\n"
    )
    code, document, stderr = run(command(path), data)
    assert {one["end"] for one in document["jobs"]} == {"completed"}, stderr
    assert document["jobs"][0]["gaps"][0]["outcome"] == "filled"
    assert code in {0, 3}
    assert all((tmp_path / "out" / name / "report.html").is_file() for name in ("job-1", "job-2"))
