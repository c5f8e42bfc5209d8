"""`benchfill demo`: fill one gap of the sample benchmark, with a local model and no key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    *,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo-out"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fill the widest gap of the sample benchmark, measured on a local model. No key needed."""
    from benchfill_agents.sample import items_path, pool_path, responses_path

    from .output import command_output

    inputs = [items_path(), responses_path(), pool_path()]
    with command_output("demo", json=json, seed=seed, inputs=inputs) as output:
        from .fill_run import FillRequest, run_fill

        run_fill(
            FillRequest(
                items=inputs[0],
                responses=inputs[1],
                pool=inputs[2],
                out=out,
                max_gaps=1,
                rewriter="template",
                seed=seed,
            ),
            output,
        )
