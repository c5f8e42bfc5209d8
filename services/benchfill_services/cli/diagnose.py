"""`benchfill diagnose`: what a benchmark can and cannot see."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed, TargetDist


def diagnose(
    responses: Responses,
    *,
    items: Items = None,
    choices: Choices = None,
    target_dist: TargetDist = "uniform",
    engine: Engine = EngineChoice.MCMC,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 4 if a check fails.")] = False,
    traces: Annotated[
        bool,
        typer.Option("--traces", help="Draw the sampler's chains in the report (mcmc, plain)."),
    ] = False,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Fit the difficulties, and say what the benchmark can and cannot see."""
    from .output import command_output

    inputs = [responses] if items is None else [responses, items]
    with command_output("diagnose", json=json, seed=seed, inputs=inputs) as output:
        from .diagnose_run import DiagnoseOptions, run_diagnose
        from .fitting import FitOptions

        fit = FitOptions(responses, items, choices, engine.value, seed)
        run_diagnose(DiagnoseOptions(fit, target_dist, strict, traces, out), output)
