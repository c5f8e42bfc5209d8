"""`benchfill rollouts`: let a pool answer items; the response matrix that a diagnosis needs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer


def rollouts(
    *,
    items: Annotated[Path, typer.Option(help="Items, one JSON object a line.")],
    out: Annotated[Path, typer.Option(help="Where the responses go (CSV).")],
    per_cell: Annotated[int, typer.Option("-k", min=1, help="Answers of each model to each item.")],
    pool: Annotated[Path | None, typer.Option(help="The pool file (YAML).")] = None,
    runner: Annotated[
        str | None,
        typer.Option(
            help="Command of a program that answers items, beside the pool or instead of it."
        ),
    ] = None,
    budget_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Calls that this run may make.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let every model of a pool answer every item k times. Resumable: nothing is bought twice."""
    from .output import command_output

    inputs = [items] if pool is None else [items, pool]
    with command_output("rollouts", json=json, seed=None, inputs=inputs) as output:
        from ..settings import Settings
        from .rollouts_run import RolloutsOptions, run_with_progress

        settings = Settings()
        options = RolloutsOptions(
            items, pool, per_cell, out, settings.data_dir, budget_rollouts, runner
        )
        run_with_progress(options, settings, output)
