"""The arithmetic world's provider in a process that outlives the death of its clients."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.scripted_server import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator

SUPPORT = Path(__file__).parent


@dataclass(frozen=True)
class ProviderProcess:
    """Where it is, and what it was asked."""

    url: str
    log: Path

    def asked(self) -> Counter[tuple[str, int]]:
        """How often each answer was asked for: by model and by the seed of the sample."""
        records = read_log(self.log) if self.log.exists() else []
        return Counter((one.model, one.body["seed"]) for one in records)


@contextmanager
def provider_process(folder: Path, *, delay: float = 0.02) -> Iterator[ProviderProcess]:
    """Run it."""
    log = folder / "requests.jsonl"
    command = [
        *(sys.executable, str(SUPPORT / "scripted_server.py"), "--log", str(log)),
        *("--script", f"{SUPPORT / 'arithmetic_world.py'}:answer", "--delay", str(delay)),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield ProviderProcess(process.stdout.readline().strip(), log)
        process.kill()
