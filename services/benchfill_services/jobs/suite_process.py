"""The analysis of a suite in a process of its own, within limits: a large one is a minute of CPU.

``python -m benchfill_services.jobs.suite_process`` reads a task from stdin (JSON) and writes the
analysis to stdout. It works in an empty folder, where a file that was sent has the name of its
field, so that an error names the field and no place of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfill.errors import BenchFillError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill import ScoreTable

CPU_SECONDS = 60
WALL_SECONDS = 180
MEMORY = 4 << 30
SCORES_FILE, LATER_FILE, RESPONSES_FILES = "scores", "later", "responses"
_REFUSED, _OUT_OF_MEMORY = 2, 3
_OPTION = re.compile(r"--(?=\w)")


class TooMuchWorkError(BenchFillError):
    """The analysis needs more time or memory than one request may have."""

    exit_code = 2


async def analyse_apart(task: dict[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Analyse a suite in another process, and wait for it.

    Parameters
    ----------
    task
        `request`: the fields of `benchfill.SuiteRequest`; either `table` (models, benchmarks,
        scores) or `columns`, the columns of the file `scores` or None; `later`, a table, if that is
        no file; `responses`, the benchmark of each file of responses.
    files
        By name: `scores`, `later`, `responses[0]`, `responses[1]`, ...

    Returns
    -------
    A `benchfill.SuiteAnalysis` as JSON.

    Raises
    ------
    InputError
        The scores cannot be used.
    TooMuchWorkError
        The limits were reached.
    BenchFillError
        The process died.
    """
    with tempfile.TemporaryDirectory(prefix="benchfill-suite-") as folder:
        for name, content in files.items():
            await asyncio.to_thread((Path(folder) / name).write_bytes, content)
        code, said = await _run(json.dumps(task).encode(), folder)
    if code == _REFUSED:
        refused = json.loads(said)
        raise InputError(refused["message"], **refused["place"])
    if code == 0:
        return said
    if code in {_OUT_OF_MEMORY, -9, -24}:  # killed at the end of its time
        raise TooMuchWorkError(
            "this analysis needs more time or memory than a request may have; send fewer models "
            "or benchmarks, or ask for fewer replicates."
        )
    raise BenchFillError(f"the process that analyses the suite ended with code {code}.")


async def _run(task: bytes, folder: str) -> tuple[int, bytes]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        async with asyncio.timeout(WALL_SECONDS):
            said, _ = await process.communicate(task)
    except TimeoutError:
        return -9, b""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode or 0, said


def main() -> int:
    """Analyse what stdin tells; print the reason when it cannot be done."""
    task = json.loads(sys.stdin.buffer.read())
    _limit()
    import benchfill as bf  # noqa: PLC0415 - after the limits

    request = bf.SuiteRequest(
        **(task["request"] | {"outside": tuple(task["request"].get("outside", ()))})
    )
    try:
        table, later = _table(task.get("table"), SCORES_FILE, task.get("columns")), None
        if task.get("later") is not None or Path(LATER_FILE).exists():
            later = _table(task.get("later"), LATER_FILE)
        responses = {
            name: bf.read_responses(f"{RESPONSES_FILES}[{place}]")
            for place, name in enumerate(task.get("responses", ()))
        }
        analysis = bf.analyse_suite(table, request, later=later, responses=responses)
    except InputError as error:
        sys.stdout.write(json.dumps(_told(error)))
        return _REFUSED
    except MemoryError:
        return _OUT_OF_MEMORY
    sys.stdout.buffer.write(analysis.model_dump_json().encode())
    return 0


def _table(given: dict[str, Any] | None, file: str, columns: list[str] | None = None) -> ScoreTable:
    """Return a table that was sent, or read it from its file."""
    import numpy as np  # noqa: PLC0415

    import benchfill as bf  # noqa: PLC0415

    if given is None:
        return bf.read_score_table(file, columns=columns)
    scores = np.array(given["scores"], dtype=np.float64)
    return bf.ScoreTable(given["models"], given["benchmarks"], scores)


def _told(error: InputError) -> dict[str, Any]:
    """Return an error with the names of options as the request has them, without its place."""
    line = None if error.line is None else f"line {error.line}"
    before = ", ".join(one for one in (error.source, line, error.field) if one)
    return {
        "message": _OPTION.sub("", error.message.removeprefix(f"{before}: ")),
        "place": {
            "source": error.source,
            "line": error.line,
            "field": None if error.field is None else _OPTION.sub("", error.field),
        },
    }


def _limit() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limits on Windows
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    sys.exit(main())
