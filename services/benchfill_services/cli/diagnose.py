"""`benchfill diagnose`: what a benchmark can and cannot see."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer


class Engine(StrEnum):
    """How the 1PL is fitted."""

    MCMC = "mcmc"
    MAP = "map"


def diagnose(
    responses: Annotated[
        Path, typer.Argument(help="Responses: CSV, long (model,item,correct[,n]) or wide.")
    ],
    *,
    items: Annotated[
        Path | None, typer.Option(help="Items, one JSON object a line; for --choices auto.")
    ] = None,
    choices: Annotated[
        str | None,
        typer.Option(
            help="Options of a multiple-choice item, for guessing: a number, or auto for what the "
            "items file says. Without it nobody guesses."
        ),
    ] = None,
    target_dist: Annotated[
        str, typer.Option(help="Wanted difficulties: uniform, beta:A,B, or a file of numbers.")
    ] = "uniform",
    engine: Annotated[Engine, typer.Option(help="mcmc samples; map is fast.")] = Engine.MCMC,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 4 if a check fails.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the report.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fit the difficulties, and say what the benchmark can and cannot see."""
    from .output import command_output

    inputs = [responses] if items is None else [responses, items]
    with command_output("diagnose", json=json, seed=seed, inputs=inputs) as output:
        from .diagnose_run import DiagnoseOptions, run_diagnose

        run_diagnose(
            DiagnoseOptions(
                responses, items, choices, target_dist, engine.value, strict, seed, out
            ),
            output,
        )
