"""`benchfill export`: items as tasks that other harnesses run."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Engine, EngineChoice, Json, Seed


def export(
    *,
    items: Annotated[Path, typer.Option(help="Items, one JSON object a line.")],
    to: Annotated[
        str,
        typer.Option(help="csv, helm, hf, inspect, lighteval, lm-eval or openai-evals."),
    ],
    out: Annotated[Path, typer.Option(help="New folder for the task.")],
    responses: Annotated[
        Path | None,
        typer.Option(help="Responses: each item goes with its measured difficulty."),
    ] = None,
    provenance: Annotated[
        Path | None,
        typer.Option(help="provenance.jsonl of `benchfill merge`: merged items go with theirs."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the task. Default: that of the items' file.")
    ] = None,
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Export items as a task of Inspect, lm-evaluation-harness, HELM and others, or as data."""
    from .output import command_output

    inputs = [path for path in (items, responses, provenance) if path is not None]
    with command_output("export", json=json, seed=seed, inputs=inputs) as output:
        from .export_run import ExportRequest, run_export

        request = ExportRequest(
            items, responses, provenance, to, out, name, engine=engine.value, seed=seed
        )
        run_export(request, output)
