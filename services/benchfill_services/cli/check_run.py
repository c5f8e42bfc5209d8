"""The work of `benchfill check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..report.check_page import check_methods, check_page
from ..report.result import print_result, write_result
from .fitting import FitOptions, read_and_fit
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from .output import CommandOutput

FAILED_CHECK = 4


@dataclass(frozen=True)
class CheckOptions:
    """What the user asked for."""

    fit: FitOptions
    folds: int
    replicates: int
    strict: bool
    out: Path | None


def run_check(options: CheckOptions, output: CommandOutput) -> None:
    """Read, fit, check, and write the report if a folder is given."""
    fit = read_and_fit(options.fit)
    with working("checking the fit"):
        found = bf.check_fit(
            fit, folds=options.folds, replicates=options.replicates, seed=options.fit.seed
        )
    output.result = found.model_dump(mode="json")
    if options.strict and (found.comparison.verdict == "2pl" or found.duplicated):
        output.exit_code = FAILED_CHECK
    page = check_page(found)
    if options.out is not None:
        envelope = output.envelope()
        methods = check_methods(envelope, found)
        write_result(options.out, envelope, output.document(), page, methods)
    output.summary = lambda console: print_result(console, page, options.out)
