"""`benchfill rollouts`: the options, the progress bar, and nothing heavy before it runs."""

from __future__ import annotations

import asyncio
from json import dumps
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..settings import Settings
    from .rollouts_run import RolloutsOptions


def rollouts(
    *,
    items: Annotated[Path, typer.Option(help="Items, one JSON object a line.")],
    pool: Annotated[Path, typer.Option(help="The pool file (YAML).")],
    out: Annotated[Path, typer.Option(help="Where the responses go (CSV).")],
    per_cell: Annotated[int, typer.Option("-k", min=1, help="Answers of each model to each item.")],
    budget_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Calls that this run may make.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let every model of a pool answer every item k times. Resumable: nothing is bought twice."""
    from ..settings import Settings  # noqa: PLC0415 - heavy imports wait for the command
    from .rollouts_run import RolloutsOptions  # noqa: PLC0415

    settings = Settings()
    options = RolloutsOptions(items, pool, per_cell, out, settings.data_dir, budget_rollouts)
    result = asyncio.run(run_with_progress(options, settings))
    typer.echo(dumps(result) if json else f"{result['rollouts']} rollouts in {result['out']}")


async def run_with_progress(options: RolloutsOptions, settings: Settings) -> dict[str, Any]:
    """Run with the ledger in Redis and a progress bar on stderr."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from ..store.connection import connect  # noqa: PLC0415
    from ..store.ledger import RedisLedgerStore  # noqa: PLC0415
    from .rollouts_run import run_rollouts  # noqa: PLC0415

    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    async with connect(url, settings.data_dir) as redis:
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("rollouts", total=None)
            return await run_rollouts(
                options,
                RedisLedgerStore(redis),
                lambda state: bar.update(task, total=state.total, completed=state.done),
            )
