"""`benchfill suite`: which benchmarks does a suite need."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Json, Out, Seed


class MissingChoice(StrEnum):
    """What is done about missing scores."""

    COMPLETE = "complete"
    PAIRWISE = "pairwise"


def suite(
    scores: Annotated[
        Path, typer.Argument(help="Scores: CSV, a line a model, a column a benchmark.")
    ],
    *,
    frontier: Annotated[
        float, typer.Option(help="Share of the models to look at, best first; 1 for all.")
    ] = 0.5,
    select: Annotated[
        int | None, typer.Option(help="Number of benchmarks to keep; or give --coverage.")
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Share of the suite that the kept ones must tell. [default: 0.9]"),
    ] = None,
    later: Annotated[
        Path | None,
        typer.Option(help="Scores of a later date: does the choice still serve there?"),
    ] = None,
    missing: Annotated[
        MissingChoice,
        typer.Option(
            help="Missing scores: complete leaves out models that lack one; pairwise correlates "
            "each pair over the models that have both."
        ),
    ] = MissingChoice.COMPLETE,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="The columns that are benchmarks, with commas between; may be given again. "
            "Without it, all columns of numbers but those named like metadata."
        ),
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(help="Columns outside the suite: what would they add? As --columns."),
    ] = None,
    responses: Annotated[
        list[str] | None,
        typer.Option(
            help="Responses of a benchmark, NAME=FILE, or a file or folder of files named after "
            "benchmarks; may be given again. Says where a new item would help most."
        ),
    ] = None,
    constant: Annotated[
        float | None,
        typer.Option(
            help="C of the blind spot's bound eps + C R m^(-1/(d_eff - 1)). [default: so that the "
            "farthest direction is reached]"
        ),
    ] = None,
    bootstrap: Annotated[int, typer.Option(help="Resamples of the models, 20 to 10,000.")] = 500,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Say which benchmarks of a suite to keep, which add nothing, and what nobody measures."""
    from .output import command_output
    from .suite_inputs import responses_by_name

    with command_output("suite", json=json, seed=seed, inputs=[]) as output:
        from .output import sha256_of
        from .suite_run import SuiteFiles, run_suite

        files = SuiteFiles(scores, later, responses_by_name(responses or []), out)
        given = [scores, later, *files.responses.values()]
        output.inputs = {str(path): sha256_of(path) for path in given if path is not None}
        asked = {
            "frontier": frontier,
            "select": select,
            "coverage": coverage,
            "missing": missing.value,
            "constant": constant,
            "replicates": bootstrap,
            "seed": seed,
        }
        run_suite(files, (columns, outside or []), asked, output)
