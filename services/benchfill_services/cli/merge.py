"""`benchfill merge`: a new version of a benchmark, with the items that experts approved."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Engine, EngineChoice, Json, Seed


def merge(
    *,
    items: Annotated[Path, typer.Option(help="Items, as the fill was given them.")],
    responses: Annotated[Path, typer.Option(help="Responses, as the fill was given them.")],
    out: Annotated[Path, typer.Option(help="Folder for the new version; must be new or empty.")],
    job: Annotated[
        str | None, typer.Option(help="Only candidates of this fill (its job's id).")
    ] = None,
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write a new version with the approved candidates; the old files stay as they are."""
    from .output import command_output

    with command_output("merge", json=json, seed=seed, inputs=[items, responses]) as output:
        from .merge_run import MergeOptions, run_merge

        run_merge(MergeOptions(items, responses, out, job, engine.value, seed), output)
