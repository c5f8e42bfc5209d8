"""`benchfill check`: whether the 1PL fits, and which responses to look at."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed


def check(
    responses: Responses,
    *,
    folds: Annotated[
        int, typer.Option(min=2, max=100, help="Parts in which cells are held out in turn.")
    ] = 5,
    replicates: Annotated[
        int, typer.Option(min=20, max=10_000, help="Matrices to simulate from the fit.")
    ] = 200,
    items: Items = None,
    choices: Choices = None,
    engine: Engine = EngineChoice.MAP,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit 4 if the 2PL predicts held-out cells clearly better, or if a model stands "
            "in the responses twice, exactly or nearly.",
        ),
    ] = False,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Check whether one difficulty an item describes the responses; list wrong keys and copies."""
    from .output import command_output

    inputs = [responses] if items is None else [responses, items]
    with command_output("check", json=json, seed=seed, inputs=inputs) as output:
        from .check_run import CheckOptions, run_check
        from .fitting import FitOptions

        fit = FitOptions(responses, items, choices, engine.value, seed)
        run_check(CheckOptions(fit, folds, replicates, strict, out), output)
