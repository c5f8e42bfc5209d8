"""`benchfill worker`: take up fills and diagnoses that the service was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .pools_folder import Pools

if TYPE_CHECKING:
    from ..settings import Settings


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
            asyncio.run(_reach(settings))
            from ..jobs.worker import run_worker  # its imports take seconds

            asyncio.run(run_worker(settings, threads))


async def _reach(settings: Settings) -> None:
    """Tell a wrong address at once; the worker's patience is for a server that was there."""
    from ..store.connection import connect

    if settings.redis_url is not None:
        async with connect(settings.redis_url.get_secret_value(), settings.data_dir):
            pass
