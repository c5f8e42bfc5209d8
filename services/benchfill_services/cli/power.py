"""`benchfill power`: which gains a benchmark can see."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed


def power(
    responses: Responses,
    *,
    k: Annotated[
        list[int],
        typer.Option("-k", min=1, help="Rollouts an item before and after; may be given again."),
    ],
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    simulations: Annotated[
        int, typer.Option(min=100, max=100_000, help="Simulated tests for each gain and place.")
    ] = 1000,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model whose success rates are those before; else that of median ability."
        ),
    ] = None,
    items: Items = None,
    choices: Choices = None,
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Map which gains the benchmark can see, by width of the interval and size of the gain."""
    from .output import command_output

    inputs = [responses] if items is None else [responses, items]
    with command_output("power", json=json, seed=seed, inputs=inputs) as output:
        from benchfill.progress import PowerSettings

        from .fitting import FitOptions
        from .power_run import PowerOptions, run_power

        settings = PowerSettings(tuple(dict.fromkeys(k)), alpha, simulations, model, seed)
        fit = FitOptions(responses, items, choices, engine.value, seed)
        run_power(PowerOptions(fit, settings, out), output)
