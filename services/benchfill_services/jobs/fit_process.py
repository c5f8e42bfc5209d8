"""The fit of a job in a process of its own: sampling holds Python's lock for minutes.

``python -m benchfill_services.jobs.fit_process`` reads what to fit from stdin (JSON) and keeps the
fit in the data folder, where the job finds it. It ends with whoever started it: when stdin closes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from benchfill.errors import BenchFillError, InputError

_REFUSED = 2


async def fit_apart(task: dict[str, Any]) -> None:
    """Make the fit of some files in another process, and wait for it.

    Raises
    ------
    InputError
        The files cannot be fitted.
    BenchFillError
        The process died.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    if process.stdin is None or process.stdout is None:  # never: both are pipes
        raise RuntimeError("the fit has no pipes")
    try:
        process.stdin.write(json.dumps(task).encode() + b"\n")
        await process.stdin.drain()
        said = (await process.stdout.read()).decode()
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process.stdin.close()
    if code == _REFUSED:
        raise InputError(said)
    if code != 0:
        raise BenchFillError(f"the process that fits the benchmark ended with code {code}.")


def main() -> int:
    """Fit what stdin names; print the reason when it cannot be done."""
    task = json.loads(_first_line())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from ..fill_job import fit_files  # noqa: PLC0415 - imports what a fit needs, seconds

    try:
        fit_files(
            Path(task["items"]),
            Path(task["responses"]),
            engine=task["engine"],
            seed=task["seed"],
            data_dir=Path(task["data_dir"]),
        )
    except BenchFillError as error:
        sys.stdout.write(error.message)
        return _REFUSED
    return 0


def _first_line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            break
        line += part
    return line


def _end_with_parent() -> None:
    # not sys.stdin: a thread that waits in it holds its lock, on which an import may wait forever
    while os.read(0, 1 << 16):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
