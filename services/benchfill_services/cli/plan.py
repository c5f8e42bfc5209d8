"""`benchfill plan`: where new items go, and which items to run again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed, TargetDist


class ObjectiveChoice(StrEnum):
    """What a plan makes small."""

    MAX_GAP = "max-gap"
    DDM = "ddm"
    TOP_K = "top-k"


def plan(
    responses: Responses,
    *,
    budget_items: Annotated[
        int, typer.Option(min=0, help="New items that can be written; at most 1,000.")
    ] = 0,
    budget_rollouts: Annotated[
        int, typer.Option(min=0, help="Further answers of the models to items that are there.")
    ] = 0,
    objective: Annotated[
        ObjectiveChoice,
        typer.Option(
            help="What new items make small: the widest gap, the mismatch with --target-dist, or "
            "the sum of the five widest gaps."
        ),
    ] = ObjectiveChoice.MAX_GAP,
    placement_sd: Annotated[
        float,
        typer.Option(
            help="How far a new item lands from its planned place (sd, on the scale from 0 to 1). "
            "0 assumes it lands there; items that simulated fills accept are .025 off."
        ),
    ] = 0.0,
    items: Items = None,
    choices: Choices = None,
    target_dist: TargetDist = "uniform",
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Plan where new items go, and which items to run again on which models."""
    from .output import command_output

    inputs = [responses] if items is None else [responses, items]
    with command_output("plan", json=json, seed=seed, inputs=inputs) as output:
        import benchfill as bf

        from .fitting import FitOptions
        from .plan_run import run_plan

        request = bf.PlanRequest(
            items=budget_items,
            rollouts=budget_rollouts,
            objective=objective.value,
            target=bf.parse_target(target_dist),
            placement_sd=placement_sd,
        )
        run_plan(FitOptions(responses, items, choices, engine.value, seed), request, out, output)
