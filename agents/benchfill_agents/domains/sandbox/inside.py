"""The first program in the sandbox: give up what is not needed, then run the one it is there for.

Started by path with a bare Python; it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import resource
import runpy
import sys

_JOB = "/job"


def main() -> None:
    """Read the bounds, take them on, run /job/main.py."""
    with open(f"{_JOB}/limits.json", encoding="utf-8") as file:  # noqa: PTH123 - few imports
        limits = json.load(file)
    if limits["uid"] is not None:
        os.setgroups([])
        os.setresgid(limits["uid"], limits["uid"], limits["uid"])
        os.setresuid(limits["uid"], limits["uid"], limits["uid"])
    os.umask(0o077)
    megabyte = 1024 * 1024
    for what, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, limits["disk_mb"] * megabyte),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_AS, limits["memory_mb"] * megabyte),
    ):
        resource.setrlimit(what, (bound, bound))
    sys.path[:0] = [_JOB]
    sys.argv = ["main.py"]
    del limits
    runpy.run_path(f"{_JOB}/main.py", run_name="__main__")


if __name__ == "__main__":
    main()
