"""A real redis-server with append-only persistence, that tests start, kill and start again."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING, Self

import pytest
from redis import Redis
from redis.exceptions import BusyLoadingError, RedisError

if TYPE_CHECKING:
    from pathlib import Path

_START_SECONDS = 20.0


class RedisServer:
    """A server of a folder and a port; what it was told is on disk before it answers.

    Starting it again, after `kill` or `stop`, uses the same port and the same folder.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder = folder
        self.port = free_port() if port is None else port
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where it listens: on the loopback address only."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None, "the server does not run"
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it has loaded its data; skip where there is no redis-server."""
        assert self._process is None, "the server runs already"
        binary = shutil.which("redis-server")
        if binary is None:
            pytest.skip("no redis-server on this machine; install Debian's package redis-server")
        self.folder.mkdir(parents=True, exist_ok=True)
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.folder),
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "repl-diskless-sync-delay": "0",  # so that a dump is not waited for
            "logfile": str(self.folder / "redis.log"),
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        # Ctrl-C is for the tests, which then stop the server
        self._process = subprocess.Popen(
            [binary, *words], stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            self._wait_for_answer()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End it by SIGKILL, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_START_SECONDS)
            self._process = None

    def stop(self) -> None:
        """End it by SIGTERM, as an administrator would."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_START_SECONDS)
            self._process = None

    def restart(self) -> None:
        """Kill it and start it again, on the same port and data."""
        self.kill()
        self.start()

    def _wait_for_answer(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        with closing(Redis(port=self.port, socket_timeout=5)) as redis:
            while True:
                try:
                    answering = redis.info("server")["process_id"]
                except BusyLoadingError:
                    deadline = time.monotonic() + _START_SECONDS
                except RedisError:
                    pass
                else:
                    # another server may have been given the port between our look and our start
                    assert answering == self.pid, f"port {self.port} was taken meanwhile"
                    return
                if self._process is None or self._process.poll() is not None:
                    log = (self.folder / "redis.log").read_text(errors="replace")
                    raise RuntimeError(f"redis-server did not start: {log[-500:]}")
                assert time.monotonic() < deadline, "redis-server does not answer"
                time.sleep(0.02)


def free_port() -> int:
    """Return a port of the loopback address that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
