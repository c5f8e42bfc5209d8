"""`benchfill contamination`: whether models have seen a benchmark, by what they can guess."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Json, Out, Seed


class ProtocolChoice(StrEnum):
    """What is hidden from the models."""

    BOTH = "both"
    OPTION = "option"
    KEYWORD = "keyword"


def contamination(
    items: Annotated[Path, typer.Argument(help="Items, one JSON object a line.")],
    *,
    pool: Annotated[Path, typer.Option(help="The pool file (YAML).")],
    baseline: Annotated[
        Path | None,
        typer.Option(help="Items known to be new: what guessing reaches without having seen any."),
    ] = None,
    protocol: Annotated[
        ProtocolChoice, typer.Option(help="Hide a wrong option, a keyword, or both in turn.")
    ] = ProtocolChoice.BOTH,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask about so many items at most, drawn by --seed.")
    ] = None,
    budget_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Calls that this run may make.")
    ] = None,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Ask a pool's models for hidden parts of items (TS-Guessing). Nothing is bought twice."""
    from .output import command_output

    inputs = [one for one in (items, pool, baseline) if one is not None]
    with command_output("contamination", json=json, seed=seed, inputs=inputs) as output:
        from ..settings import Settings
        from .contamination_run import ContaminationOptions, run_with_progress

        settings = Settings()
        options = ContaminationOptions(
            items=items,
            pool=pool,
            baseline=baseline,
            protocol=protocol.value,
            limit=limit,
            budget=budget_rollouts,
            seed=seed,
            out=out,
            data_dir=settings.data_dir,
        )
        run_with_progress(options, settings, output)
