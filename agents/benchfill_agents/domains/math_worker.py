"""One process that reads mathematics, kept for the next question and ended when it takes too long.

In the sandbox where there is one; elsewhere a process with bounds and an empty environment. Its
import takes a second, which is why it is kept.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import site
import subprocess
import sys
import sysconfig
import threading
from dataclasses import dataclass
from pathlib import Path

from benchfill.errors import BenchFillError

from .sandbox import NoSandboxError, require_sandbox
from .sandbox.bubblewrap import JOB, interpreter, open_filter, unprivileged_uid

SECONDS = 10.0
_START_SECONDS = 60.0
_LONGEST_LINE = 10_000


@dataclass(frozen=True)
class Compared:
    """What came of comparing two expressions."""

    reference: bool
    """Whether the reference can be read."""
    answer: bool
    equal: bool


_NOT = Compared(reference=False, answer=False, equal=False)


def compare(reference: str, answer: str, *, seconds: float = SECONDS) -> Compared:
    """Compare two untrusted expressions; what takes longer than `seconds` is not equal.

    Raises BenchFillError when the process cannot be started.
    """
    return _WORKER.ask(reference, answer, seconds)


class _Worker:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, reference: str, answer: str, seconds: float) -> Compared:
        request = json.dumps({"reference": reference, "answer": answer}).encode() + b"\n"
        with self._lock:
            for _ in range(2):
                process = self._running()
                said, late = _exchange(process, request, seconds)
                if said is not None:
                    return Compared(**{name: bool(value) for name, value in said.items()})
                self.close()
                if late:
                    break
                # it ended by itself: with the thread that had started it, or for want of memory
        return _NOT

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        with open_filter() as syscalls:
            process = subprocess.Popen(  # noqa: S603 - our own words
                _command(syscalls),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                pass_fds=[syscalls],
                start_new_session=True,
            )
        self._process = process
        ready, _ = _exchange(process, b"", _START_SECONDS)
        if ready is None:
            self.close()
            raise BenchFillError(
                "the process that reads mathematics does not start; run "
                "python -c 'import math_verify' to see whether it works on this machine."
            )
        return process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _command(syscalls: int) -> list[str]:
    here = Path(__file__).parent
    packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    packages += [place for place in site.getsitepackages() if place not in packages]
    packages = [place for place in packages if Path(place).is_dir()]
    try:
        sandbox = require_sandbox()
    except NoSandboxError:
        return [sys.executable, "-I", str(here / "math_process.py"), "0", *packages]
    words = sandbox.command(here, disk_mb=1, syscalls=syscalls, shown=packages)
    uid = str(unprivileged_uid() or 0)
    return [*words, *interpreter(), f"{JOB}/math_process.py", uid, *packages]


def _exchange(
    process: subprocess.Popen[bytes], request: bytes, seconds: float
) -> tuple[dict[str, object] | None, bool]:
    """Return an answer, or None and whether it was late."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process was started without pipes")
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        process.stdin.write(request)
        process.stdin.flush()
        said = json.loads(process.stdout.readline(_LONGEST_LINE))
    except (OSError, ValueError):
        return None, late.is_set()
    finally:
        timer.cancel()
    return said if isinstance(said, dict) else None, late.is_set()


_WORKER = _Worker()
atexit.register(_WORKER.close)
