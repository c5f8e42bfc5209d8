"""The arguments that commands on a response matrix share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EngineChoice(StrEnum):
    """How the 1PL is fitted."""

    MCMC = "mcmc"
    MAP = "map"
    PLAIN = "plain"


Responses = Annotated[
    Path, typer.Argument(help="Responses: CSV, long (model,item,correct[,n]) or wide.")
]
Items = Annotated[
    Path | None, typer.Option(help="Items, one JSON object a line; for --choices auto.")
]
Choices = Annotated[
    str | None,
    typer.Option(
        help="Options of a multiple-choice item, for guessing: a number, or auto for what the "
        "items file says. Without it nobody guesses."
    ),
]
TargetDist = Annotated[
    str, typer.Option(help="Wanted difficulties: uniform, beta:A,B, or a file of numbers.")
]
Engine = Annotated[
    EngineChoice,
    typer.Option(help="mcmc samples; map is fast; plain samples without shortcuts, slowly."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all draws.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the report.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
