"""`benchfill pool`: make a pool file, see whether its models answer, choose models for one."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Responses, Seed

pool = typer.Typer(
    name="pool",
    help="Make a pool file, see whether its models answer, choose models for one.",
    no_args_is_help=True,
)


class OverChoice(StrEnum):
    """Where difficulties are to be told apart."""

    RANGE = "range"
    GAPS = "gaps"


@pool.command()
def template(
    name: Annotated[
        str | None, typer.Argument(help="Which template; without it their names are printed.")
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option(help="File to write, which must not exist; else it is printed.")
    ] = None,
    json: Json = False,
) -> None:
    """Print or write a pool file to begin with. Keys stay in the environment."""
    from .output import command_output

    with command_output("pool template", json=json, seed=None, inputs=[]) as output:
        from .pool_run import run_template

        run_template(name, out, output)


@pool.command()
def check(
    pool_file: Annotated[Path, typer.Argument(metavar="POOL", help="The pool file (YAML).")],
    *,
    items: Annotated[
        Path | None,
        typer.Option(
            help="Items; the first one is asked, so that the cost is that of your items. Without "
            "it, a sum."
        ),
    ] = None,
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters/--no-parameters", help="Also find out which parameters a model takes."
        ),
    ] = True,
    json: Json = False,
) -> None:
    """Call each model of a pool, a few times at most: latency, cost, rejected parameters."""
    from .output import command_output

    inputs = [path for path in (pool_file, items) if path is not None]
    with command_output("pool check", json=json, seed=None, inputs=inputs) as output:
        from .pool_run import run_check

        run_check(pool_file, items, output, parameters=parameters)


@pool.command()
def suggest(
    responses: Responses,
    *,
    models: Annotated[int, typer.Option(min=1, help="How many models the pool may have.")] = 12,
    over: Annotated[
        OverChoice,
        typer.Option(help="Spread over the range of the items' difficulties, or over the gaps."),
    ] = OverChoice.RANGE,
    enough: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Rank correlation with the difficulties from all models to reach."
        ),
    ] = 0.95,
    items: Items = None,
    choices: Choices = None,
    engine: Engine = EngineChoice.MAP,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Choose the models that measure difficulties best, and see how many suffice."""
    from .output import command_output

    inputs = [path for path in (responses, items) if path is not None]
    with command_output("pool suggest", json=json, seed=seed, inputs=inputs) as output:
        from .fitting import FitOptions
        from .pool_suggest_run import SuggestOptions, run_suggest

        fit = FitOptions(responses, items, choices, engine.value, seed)
        run_suggest(SuggestOptions(fit, models, over.value, enough, out), output)
