"""One run of a program in the sandbox, watched from outside."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from .bubblewrap import (
    JOB,
    TEMPORARY,
    interpreter,
    open_filter,
    require_sandbox,
    unprivileged_uid,
)
from .limits import MB, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

Ending = Literal["exited", "time", "memory", "output", "files"]
_POLL = 0.05  # seconds
_CHUNK = 65_536
# more at a time than there are cores would make programs late that are quick enough
_PLACES = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))


@dataclass(frozen=True)
class Outcome:
    """How a run ended; what it printed is untrusted."""

    ending: Ending
    """`exited` by itself, or stopped at the bound named."""
    code: int
    """Exit code; minus the signal's number when one ended it."""
    stdout: str
    stderr: str
    seconds: float
    """Wall time."""

    @property
    def clean(self) -> bool:
        """Whether it came to its end by itself and complained of nothing."""
        return self.ending == "exited" and self.code == 0


def run_python(
    files: Mapping[str, str], *, stdin: str = "", limits: Limits | None = None
) -> Outcome:
    """Run ``main.py`` of some files; blocks for as long as it may take.

    Parameters
    ----------
    files
        Text by name; the program finds them in its first import folder.
    stdin
        What it reads.

    Raises
    ------
    NoSandboxError
        This machine has no sandbox.
    """
    limits = limits or Limits()
    sandbox = require_sandbox()
    with _PLACES, tempfile.TemporaryDirectory(prefix="benchfill-job-") as name:
        job = Path(name)
        _write(job, files, limits)
        with open_filter() as syscalls:
            words = sandbox.command(job, disk_mb=limits.disk_mb, syscalls=syscalls)
            process = subprocess.Popen(  # noqa: S603 - our own words; what runs is in the sandbox
                [*words, *interpreter(), f"{JOB}/inside.py"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                pass_fds=[syscalls],
                start_new_session=True,
            )
        try:
            return _Watch(process, limits).wait(stdin.encode("utf-8", "replace"))
        finally:
            _end(process)


def _write(job: Path, files: Mapping[str, str], limits: Limits) -> None:
    texts = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    bounds = limits.model_dump_json()[:-1] + f', "uid": {unprivileged_uid() or "null"}}}'
    texts["limits.json"] = bounds.encode()
    texts["inside.py"] = Path(__file__).with_name("inside.py").read_bytes()
    job.chmod(0o755)
    for name, text in texts.items():
        (job / name).write_bytes(text)
        (job / name).chmod(0o644)


class _Watch:
    """Feeds a process, reads it, and stops it at a bound."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits) -> None:
        self._process = process
        self._limits = limits
        self._read: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._most_output = 1024 * limits.output_kb
        self._started = time.monotonic()

    def wait(self, stdin: bytes) -> Outcome:
        process = self._process
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("the sandbox was started without pipes")
        with selectors.DefaultSelector() as selector:
            _register(selector, process.stdout, selectors.EVENT_READ, "stdout")
            _register(selector, process.stderr, selectors.EVENT_READ, "stderr")
            _register(selector, process.stdin, selectors.EVENT_WRITE, "stdin")
            left = memoryview(stdin)
            ending: Ending = "exited"
            while ending == "exited" and process.poll() is None:
                if not selector.get_map():  # it has closed all, and may still be at work
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_POLL)
                for key, _ in selector.select(_POLL) if selector.get_map() else ():
                    if key.data == "stdin":
                        left = self._feed(selector, process.stdin, left)
                    else:
                        self._take(selector, key)
                ending = self._bound()
            if ending == "exited":
                ending = self._drain(selector)
        _end(process)
        return Outcome(
            ending=ending,
            code=process.returncode,
            stdout=self._read["stdout"].decode(errors="replace"),
            stderr=self._read["stderr"].decode(errors="replace"),
            seconds=time.monotonic() - self._started,
        )

    def _feed(
        self, selector: selectors.BaseSelector, pipe: IO[bytes], left: memoryview
    ) -> memoryview:
        try:
            left = left[os.write(pipe.fileno(), left[:_CHUNK]) :] if left else left
        except BlockingIOError:
            return left
        except OSError:  # it does not read, or has ended
            left = left[:0]
        if not left:
            selector.unregister(pipe)
            with contextlib.suppress(OSError):
                pipe.close()
        return left

    def _take(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        try:
            chunk = os.read(key.fd, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._read[key.data] += chunk
        else:
            selector.unregister(key.fileobj)

    def _drain(self, selector: selectors.BaseSelector) -> Ending:
        """Read what a program that has ended left in its pipes; that is bounded as well."""
        for key in list(selector.get_map().values()):
            while key.data != "stdin" and key.fd in selector.get_map():
                before = self._total()
                self._take(selector, key)
                if self._total() == before or self._total() > self._most_output:
                    break
        return "output" if self._total() > self._most_output else "exited"

    def _total(self) -> int:
        return sum(len(read) for read in self._read.values())

    def _bound(self) -> Ending:
        if self._total() > self._most_output:
            return "output"
        if time.monotonic() - self._started > self._limits.seconds:
            return "time"
        pids = _family(self._process.pid)
        if sum(_memory(pid) for pid in pids) > self._limits.memory_mb * MB:
            return "memory"
        return "files" if _files(pids[-1]) > self._limits.files else "exited"


def _register(selector: selectors.BaseSelector, pipe: IO[bytes], events: int, name: str) -> None:
    os.set_blocking(pipe.fileno(), False)
    selector.register(pipe, events, name)


def _family(pid: int) -> list[int]:
    """Return a process and all its descendants, also those that left their parent."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):  # it may end while we look
            children = Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii")
            found += map(int, children.split())
    return found


def _memory(pid: int) -> int:
    """Return the bytes that a process holds: its own, and those shared in memory."""
    total = 0
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(("RssAnon:", "RssShmem:")):
                total += int(line.split()[1]) * 1024
    return total


def _files(pid: int) -> int:
    """Return how many files there are in the temporary folder of a process inside."""
    with contextlib.suppress(OSError):
        if Path(f"/proc/{pid}/root{JOB}/limits.json").exists():  # not before it is inside
            held = os.statvfs(f"/proc/{pid}/root{TEMPORARY}")
            return held.f_files - held.f_ffree
    return 0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End whatever is left: with the first process inside its whole namespace goes.

    bwrap then sees its child end and ends itself; killed first, it would leave a zombie to whoever
    is process 1, who in many containers does not care.
    """
    if process.poll() is None:
        for inside in _family(process.pid)[1:2]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(inside, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
