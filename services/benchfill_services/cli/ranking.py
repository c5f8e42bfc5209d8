"""`benchfill ranking`: the leaderboard on the benchmark and under a target."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed, TargetDist


def ranking(
    responses: Responses,
    *,
    bootstrap: Annotated[
        int, typer.Option(help="Bootstrap replicates of items and rollouts, 100 to 100,000.")
    ] = 1000,
    delta: Annotated[
        float, typer.Option(help="Probability that any bound fails, above 0 and below 1.")
    ] = 0.05,
    items: Items = None,
    choices: Choices = None,
    target_dist: TargetDist = "uniform",
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Rank the models as the benchmark does, and as the target difficulties would."""
    from .output import command_output

    inputs = [responses] if items is None else [responses, items]
    with command_output("ranking", json=json, seed=seed, inputs=inputs) as output:
        from .fitting import FitOptions
        from .ranking_run import RankingOptions, run_ranking

        fit = FitOptions(responses, items, choices, engine.value, seed)
        run_ranking(RankingOptions(fit, target_dist, bootstrap, delta, out), output)
