"""`benchfill worker`: take up fills and diagnoses that the service was asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from .pools_folder import Pools


def worker(
    threads: Annotated[
        int,
        typer.Option(min=1, max=64, help="Jobs at a time, beside one thread for small ones."),
    ] = 2,
    pools: Pools = None,
) -> None:
    """Work on the service's jobs, beside any number of other workers on the same Redis.

    SIGTERM and Ctrl-C let running calls finish and hand the jobs back.
    """
    import asyncio

    from ..observability.process import observed
    from ..settings import Settings
    from .output import command_output
    from .pools_folder import look_at_pools, with_pools

    with command_output("worker", json=False, seed=None, inputs=[]):
        settings = with_pools(Settings(), pools)
        with observed("benchfill-worker", settings, calls_models=True):
            look_at_pools(settings.pools_dir, "every fill that this worker takes up will fail")
            from ..jobs.worker import run_worker  # its imports take seconds

            asyncio.run(run_worker(settings, threads))
