"""Workers that a batch starts for itself; they end with it, also when it is killed.

``python -m benchfill_services.batch.local_workers THREADS`` is one of them: it works until its
standard input closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from ..settings import Settings

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

THREADS = 2
_GRACE = 75.0  # seconds; a worker lets running calls finish, which takes it up to a minute


@contextlib.asynccontextmanager
async def local_workers(count: int, settings: Settings) -> AsyncIterator[list[Process]]:
    """Run so many worker processes, and give them. Their logs are in the data folder."""
    folder = settings.data_dir / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "BENCHFILL_DATA_DIR": str(settings.data_dir)}
    processes: list[Process] = []
    try:
        for number in range(1, count + 1):
            with (folder / f"batch-{os.getpid()}-{number}.log").open("ab") as log:
                processes.append(
                    await asyncio.create_subprocess_exec(
                        sys.executable,
                        "-m",
                        __name__,
                        str(THREADS),
                        stdin=asyncio.subprocess.PIPE,
                        stdout=log,
                        stderr=log,
                        env=environment,
                        start_new_session=True,  # a Ctrl-C reaches the batch, which ends them
                    )
                )
        yield processes
    finally:
        await asyncio.shield(_end(processes))


async def _end(processes: list[Process]) -> None:
    for one in processes:
        if one.stdin is not None:
            one.stdin.close()
    waits = [asyncio.create_task(one.wait()) for one in processes]
    if waits:
        await asyncio.wait(waits, timeout=_GRACE)
    for one in processes:
        if one.returncode is None:
            one.kill()
            await one.wait()


def main() -> None:
    """Work until standard input closes."""
    from ..jobs.worker import run_worker  # noqa: PLC0415 - its imports take seconds
    from ..observability.process import observed  # noqa: PLC0415

    settings = Settings()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with observed("benchfill-worker", settings, calls_models=True):
        asyncio.run(run_worker(settings, int(sys.argv[1])))


def _end_with_parent() -> None:
    # not sys.stdin: a thread that waits in it holds its lock
    while os.read(0, 1 << 16):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
