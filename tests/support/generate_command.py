"""`benchfill generate` as a process that is killed, against a provider that outlives it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfill_agents.pool.rollout import RolloutKey
from support.scripted_server import read_log

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator, Sequence

    from support.scripted_server import Record

SUPPORT = Path(__file__).parent


@dataclass(frozen=True)
class Provider:
    """A scripted provider in a process of its own."""

    url: str
    log: Path

    @property
    def records(self) -> list[Record]:
        """All requests so far, by when they were answered or given up."""
        return read_log(self.log) if self.log.exists() else []

    @property
    def answered(self) -> int:
        """How many replies were sent to a client that was there."""
        return sum(one.sent for one in self.records)


@contextmanager
def provider(script: str, log: Path, delay: float) -> Iterator[Provider]:
    """Run a provider with a script, as FILE.py:NAME in this folder."""
    command = [sys.executable, str(SUPPORT / "scripted_server.py"), "--log", str(log)]
    with subprocess.Popen(
        [*command, "--script", f"{SUPPORT / script}", "--delay", str(delay)],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield Provider(process.stdout.readline().strip(), log)
        finally:
            process.kill()


@dataclass(frozen=True)
class Spooled:
    """What the spool of a data folder holds: seeds of the calls begun, and of those received."""

    begun: frozenset[int]
    received: frozenset[int]
    places: frozenset[str]
    """Hashes of item or place of the calls begun."""

    @classmethod
    def of(cls, data: Path) -> Spooled:
        """Read the whole lines of the spool."""
        path = data / "rollouts.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        records = [json.loads(line) for line in lines]
        begun = [RolloutKey(**one["key"]) for one in records if one["event"] == "begin"]
        received = [
            RolloutKey(**one["rollout"]["key"]) for one in records if one["event"] == "received"
        ]
        return cls(
            frozenset(map(seed_of, begun)),
            frozenset(map(seed_of, received)),
            frozenset(one.item for one in begun),
        )

    @property
    def out(self) -> frozenset[int]:
        """Calls that were out when the run ended."""
        return self.begun - self.received


def seed_of(key: RolloutKey) -> int:
    """Return the seed that is sent with a call, which tells calls apart."""
    return int(key.digest[:8], 16) % 2**31


def place_hash(role: str, place: str) -> str:
    """Return the hash under which the ledger keeps the first try of a writer's call."""
    return hashlib.sha256(f"textbook/{role}/{place}/0".encode()).hexdigest()


def ended(
    words: Sequence[str], data: Path, when: Callable[[], bool], how: signal.Signals
) -> tuple[int, str]:
    """Run the command and end it at a moment; return its exit code and what it printed."""
    with subprocess.Popen(
        command(words), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment(data),
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 200
        while not when() and time.monotonic() < deadline:
            time.sleep(0.005)
            assert process.poll() is None, "ended before it was killed"
        process.send_signal(how)
        said = process.communicate()[0]
        return process.returncode, said


def finished(words: Sequence[str], data: Path) -> dict[str, Any]:
    """Run the command to its end; return what it printed."""
    done = subprocess.run(
        command(words), capture_output=True, text=True, check=False, env=environment(data)
    )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout) | {"exit_code": done.returncode}
    return document


def command(words: Sequence[str]) -> list[str]:
    """Return the command as a user runs it."""
    return [sys.executable, "-m", "benchfill_services", *words]


def environment(data: Path) -> dict[str, str]:
    """Return an environment with a data folder of its own."""
    return os.environ | {"BENCHFILL_DATA_DIR": str(data)}
