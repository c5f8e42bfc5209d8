"""`benchfill rollouts`: let a pool answer items; the response matrix that a diagnosis needs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer


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
    from .output import command_output

    with command_output("rollouts", json=json, seed=None, inputs=[items, pool]) as output:
        from ..settings import Settings
        from .rollouts_run import RolloutsOptions, run_with_progress

        settings = Settings()
        options = RolloutsOptions(items, pool, per_cell, out, settings.data_dir, budget_rollouts)
        run_with_progress(options, settings, output)
