"""`benchfill progress`: has a model become better, and where."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Choices, Engine, EngineChoice, Items, Json, Out, Seed


def progress(
    *,
    before: Annotated[Path, typer.Option(help="Responses before: CSV, long or wide.")],
    after: Annotated[
        Path,
        typer.Option(
            help="Responses after, to the same items. Models are matched by name; one model in "
            "each file is a pair whatever its names."
        ),
    ],
    interval: Annotated[
        str | None,
        typer.Option(metavar="L,R", help="Test this interval of difficulty, 0 <= L < R <= 1."),
    ] = None,
    scan: Annotated[
        bool, typer.Option("--scan", help="Look for the gain on all intervals (the default).")
    ] = False,
    difficulties: Annotated[
        Path | None,
        typer.Option(
            help="Responses of other models, by which the items are placed. Without it, those "
            "before and after together, if they are of several models."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    permutations: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Permutations of a scan.")
    ] = 9999,
    randomised_ties: Annotated[
        bool,
        typer.Option("--randomised-ties", help="Decide ties by lot: the level is alpha itself."),
    ] = False,
    items: Items = None,
    choices: Choices = None,
    engine: Engine = EngineChoice.MCMC,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Test whether a model has become better, and where on the difficulty scale."""
    from .output import command_output

    inputs = [path for path in (before, after, difficulties, items) if path is not None]
    with command_output("progress", json=json, seed=seed, inputs=inputs) as output:
        from .fitting import FitOptions
        from .progress_monitoring_run import ProgressOptions, progress_test, run_progress

        test = progress_test(
            interval,
            scan,
            alpha=alpha,
            permutations=permutations,
            randomised_ties=randomised_ties,
            seed=seed,
        )
        fit = FitOptions(difficulties or before, items, choices, engine.value, seed)
        run_progress(ProgressOptions(before, after, difficulties, fit, test, out), output)
