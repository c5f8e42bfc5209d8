"""The services of docker/compose.yaml, started on this machine without Docker."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCKER = Path(__file__).parents[2] / "docker"
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def compose_text() -> str:
    """Return compose.yaml with the defaults of its variables filled in."""
    return _VARIABLE.sub(r"\2", (DOCKER / "compose.yaml").read_text())


def compose() -> dict[str, Any]:
    """Return compose.yaml, read."""
    document: dict[str, Any] = yaml.safe_load(compose_text())
    return document


def image() -> dict[str, Any]:
    """Return what the Dockerfile's last stages say: ENV, ENTRYPOINT, CMD, HEALTHCHECK."""
    joined = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    runtime = joined.split("AS runtime")[1]
    said: dict[str, Any] = {"ENV": {}}
    for line in runtime.splitlines():
        word, _, rest = line.strip().partition(" ")
        match word:
            case "ENV":
                said["ENV"] |= dict(pair.split("=", 1) for pair in shlex.split(rest))
            case "ENTRYPOINT" | "CMD":
                said[word] = yaml.safe_load(rest)
            case "HEALTHCHECK":
                said[word] = yaml.safe_load(rest.partition("CMD ")[2])
    return said


class Composed:
    """One container's process; what is a path or a port of the container is one of ours here."""

    def __init__(
        self, service: str, here: Mapping[str, str], env_file: Mapping[str, str], log: Path
    ) -> None:
        described = compose()["services"][service]
        given = {**image()["ENV"], **described.get("environment", {})}
        self._here = here
        self.environment = {
            **{name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ},
            **env_file,
            **{name: self._ours(value) for name, value in given.items()},
            # what venv the image has, we have here
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        health = described.get("healthcheck", {}).get("test", ["CMD", *image()["HEALTHCHECK"]])
        self._health = [self._ours(word) for word in health[1:]]
        self.log = log
        command = [self._ours(word) for word in [*image()["ENTRYPOINT"], *described["command"]]]
        with log.open("wb") as written:
            self._process = subprocess.Popen(
                command, env=self.environment, stderr=written, start_new_session=True
            )

    def is_healthy(self) -> bool:
        """Run the health check as Docker would."""
        assert self._process.poll() is None, self.log.read_text()
        return self.run(self._health).returncode == 0

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command inside, like `docker compose exec`."""
        return subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def stop(self) -> int:
        """Send SIGTERM, as `docker stop` does, and return the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)

    def kill(self) -> None:
        """End it whatever it does."""
        self._process.kill()
        self._process.wait(30)

    def _ours(self, word: str) -> str:
        for there, here in self._here.items():
            word = word.replace(there, here)
        return word
