"""`benchfill diff`: what changed between two versions of a benchmark."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Engine, EngineChoice, Json, Out, Seed


def diff(
    before: Annotated[
        Path | None,
        typer.Argument(metavar="A", help="Folder of the earlier items.jsonl and responses.csv."),
    ] = None,
    after: Annotated[
        Path | None, typer.Argument(metavar="B", help="Folder of the later ones.")
    ] = None,
    *,
    items: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Both items files, instead of folders."),
    ] = None,
    responses: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Both files of responses, instead of folders."),
    ] = None,
    engine: Engine = EngineChoice.MAP,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare two versions: items, responses, and what became of the gaps."""
    from .output import command_output

    with command_output("diff", json=json, seed=seed, inputs=[]) as output:
        from .diff_run import DiffOptions, run_diff

        folders, pairs = (before, after), (items, responses)
        run_diff(DiffOptions(folders, pairs, engine.value, seed, out), output)
