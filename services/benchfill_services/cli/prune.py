"""`benchfill prune`: keep the items whose difficulties follow a target."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed, TargetDist


class MethodChoice(StrEnum):
    """How items are chosen."""

    OPTIMAL = "optimal"
    GREEDY = "greedy"


def prune(
    responses: Responses,
    *,
    size: Annotated[int, typer.Option(help="Number of items to keep.")],
    method: Annotated[
        MethodChoice,
        typer.Option(
            help="optimal: least mean distance to the target's quantiles; greedy: the nearest "
            "item left, quantile by quantile, as in the paper."
        ),
    ] = MethodChoice.OPTIMAL,
    reference: Annotated[
        Path | None,
        typer.Option(help="CSV with model,score: does the order of models come nearer to it?"),
    ] = None,
    items: Items = None,
    choices: Choices = None,
    target_dist: TargetDist = "uniform",
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Prune a benchmark to a size and a target distribution of difficulty."""
    from .output import command_output

    inputs = [path for path in (responses, items, reference) if path is not None]
    with command_output("prune", json=json, seed=seed, inputs=inputs) as output:
        from .fitting import FitOptions
        from .prune_run import PruneOptions, run_prune

        fit = FitOptions(responses, items, choices, engine.value, seed)
        run_prune(PruneOptions(fit, size, target_dist, method.value, reference, out), output)
