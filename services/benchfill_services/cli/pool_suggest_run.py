"""The work of `benchfill pool suggest`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..report.panel_page import panel_methods, panel_page
from ..report.result import print_result, write_result
from .fitting import FitOptions, read_and_fit
from .progress import counting_up

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.panel.result import Over

    from .output import CommandOutput


@dataclass(frozen=True)
class SuggestOptions:
    """What the user asked for."""

    fit: FitOptions
    models: int
    over: Over
    enough: float
    out: Path | None


def run_suggest(options: SuggestOptions, output: CommandOutput) -> None:
    """Read, fit, choose, fit again with fewer, and write the report if a folder is given."""
    fit = read_and_fit(options.fit)
    with counting_up("fitting with fewer models") as step:
        suggestion = bf.suggest_panel(
            fit,
            options.models,
            over=options.over,
            enough=options.enough,
            seed=options.fit.seed,
            progress=step,
        )
    output.result = suggestion.model_dump(mode="json")
    page = panel_page(fit, suggestion)
    if options.out is not None:
        envelope = output.envelope()
        methods = panel_methods(envelope, suggestion)
        write_result(options.out, envelope, output.document(), page, methods)
    output.summary = lambda console: print_result(console, page, options.out)
