"""A run is killed with SIGKILL and started again; the provider counts what was bought."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchfill_agents.pool.rollout import RolloutKey
from support.scripted_server import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).parents[2] / "support" / "scripted_server.py"
RUN = """
import asyncio, sys
from benchfill.items import Item
from benchfill_agents.pool.config import Pool
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import RolloutRequest, RolloutRunner

async def main(spool, url):
    model = {"name": "m", "model": "openai/x", "api_base": url, "max_concurrency": 4,
             "parameters": {"seed": "per_sample"}}
    pool = Pool.model_validate({"models": [model], "scoring": "numeric"})
    items = [Item(id=str(n), question=f"{n} + 1 =", answer=str(n + 1)) for n in range(5)]
    requests = [RolloutRequest("m", item, sample) for item in items for sample in range(8)]
    async with Ledger(spool, InMemoryLedgerStore()) as ledger:
        rollouts = await RolloutRunner(pool, ledger).run(requests)
    print(len(rollouts), all(rollout.correct for rollout in rollouts))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A provider that outlives its clients: its address and its log."""
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, str(SERVER), "--log", str(log), "--delay", "0.08"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), log
        process.kill()


def received_in(spool: Path) -> set[int]:
    """Seeds (one a rollout) whose answers stand in the spool on a whole line."""
    lines = spool.read_bytes().split(b"\n")[:-1] if spool.exists() else []
    records = [json.loads(line) for line in lines]
    digests = [record["rollout"]["key"] for record in records if record["event"] == "received"]
    return {int(RolloutKey(**key).digest[:8], 16) % 2**31 for key in digests}


@pytest.mark.slow
def test_no_answer_received_is_bought_twice(provider: tuple[str, Path], tmp_path: Path) -> None:
    url, log = provider
    spool = tmp_path / "spool.jsonl"
    command = [sys.executable, "-c", RUN, str(spool), url]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + 60
        while len(received_in(spool)) < 10 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
    time.sleep(0.3)  # what was in flight reaches the log
    before, asked_before = received_in(spool), len(read_log(log))
    assert 10 <= len(before) < 40
    last = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert last.stdout.strip() == "40 True"
    asked = [record.body["seed"] for record in read_log(log)[asked_before:]]
    assert before.isdisjoint(asked)
    assert len(asked) == 40 - len(before)
    # Only calls that were out at the kill, at most four, were asked more than once.
    counts = Counter(record.body["seed"] for record in read_log(log))
    assert len(counts) == 40
    assert sum(counts.values()) <= 40 + 4
