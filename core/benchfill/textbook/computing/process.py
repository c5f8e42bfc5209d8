"""The parent's side of the computing process: one long-lived child, started when it is needed."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from .limits import WALL_SECONDS

if TYPE_CHECKING:
    from types import TracebackType

_KEPT = 512
# No key of the user's reaches a process that reads a model's text.
_PASSED_ON = ("PATH", "PYTHONPATH", "SYSTEMROOT", "TMPDIR", "LANG", "LC_ALL")


class TooMuchToComputeError(Exception):
    """A request took more time or memory than it may have, or SymPy could not do it."""


class Computer:
    """Asks the computing process; may be used from several threads, which take turns.

    Replies are kept, since one graph is checked again after every edit of its question.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._replies: dict[str, Any] = {}

    def __enter__(self) -> Computer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, work: str, request: dict[str, Any]) -> Any:
        """Return the reply to a request.

        Raises
        ------
        TooMuchToComputeError
            Limits were reached; the next request gets a new process.
        InputError
            SymPy is not installed.
        """
        line = json.dumps({"work": work, **request}, sort_keys=True)
        with self._lock:
            if line not in self._replies:
                reply = self._send(line)
                while len(self._replies) >= _KEPT:
                    self._replies.pop(next(iter(self._replies)))
                self._replies[line] = reply
            reply = self._replies[line]
        if "reply" not in reply:
            raise TooMuchToComputeError(reply["gave_up"])
        return reply["reply"]

    def close(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            self._end()

    def _send(self, line: str) -> dict[str, Any]:
        process = self._running()
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:  # pragma: no cover - both are pipes
            raise RuntimeError("no pipes")
        killer = threading.Timer(WALL_SECONDS, process.kill)
        killer.start()
        try:
            stdin.write(line + "\n")
            stdin.flush()
            said = stdout.readline()
        except BrokenPipeError:
            said = ""
        except BaseException:
            self._end()  # or else its reply would be taken for that to the next request
            raise
        finally:
            killer.cancel()
        if said:
            reply: dict[str, Any] = json.loads(said)
            return reply
        self._end()
        return {"gave_up": "time or memory"}

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            require_sympy()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchfill.textbook.computing.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ}
                # how far SymPy gets within its time must not depend on a draw
                | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@cache
def shared_computer() -> Computer:
    """Return the process-wide computer, which is closed when Python ends."""
    computer = Computer()
    atexit.register(computer.close)
    return computer


def require_sympy() -> None:
    """Raise InputError that says what to install, where SymPy is missing."""
    if find_spec("sympy") is None:
        raise InputError("checking solution graphs needs SymPy; pip install 'benchfill[textbook]'.")
