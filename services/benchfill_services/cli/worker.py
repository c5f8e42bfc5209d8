"""`benchfill worker`: take up fills and diagnoses that the service was asked for."""

from __future__ import annotations

from typing import Annotated

import typer


def worker(
    threads: Annotated[
        int,
        typer.Option(min=1, max=64, help="Jobs at a time, beside one thread for small ones."),
    ] = 2,
) -> None:
    """Work on the service's jobs, beside any number of other workers on the same Redis.

    SIGTERM and Ctrl-C let running calls finish and hand the jobs back.
    """
    import asyncio

    from ..jobs.worker import run_worker
    from ..observability.process import observed
    from ..settings import Settings
    from .output import command_output

    with command_output("worker", json=False, seed=None, inputs=[]):
        settings = Settings()
        with observed("benchfill-worker", settings, calls_models=True):
            asyncio.run(run_worker(settings, threads))
