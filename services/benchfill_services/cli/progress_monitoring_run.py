"""The work of `benchfill progress`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import benchfill as bf
from benchfill.errors import InputError
from benchfill.progress.pairs import match_models

from ..report.progress_methods import progress_methods
from ..report.progress_page import progress_page
from ..report.progress_words import PlacedBy
from ..report.result import print_result, write_result
from .fitting import fit_matrix
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from .fitting import FitOptions
    from .output import CommandOutput


@dataclass(frozen=True)
class ProgressOptions:
    """What the user asked for."""

    before: Path
    after: Path
    difficulties: Path | None
    fit: FitOptions
    test: bf.ProgressTest
    out: Path | None


def progress_test(interval: str | None, scan: bool, **settings: Any) -> bf.ProgressTest:
    """Read --interval and --scan.

    Raises
    ------
        InputError: both are given, or the interval is none.
    """
    if interval is None:
        return bf.ProgressTest(**settings)
    if scan:
        raise InputError("give --interval L,R or --scan, not both.")
    try:
        left, right = (float(part) for part in interval.split(","))
    except ValueError:
        raise InputError(
            f"{interval[:40]!r} is no interval; write L,R with 0 <= L < R <= 1.",
            field="--interval",
        ) from None
    return bf.ProgressTest(interval=(left, right), **settings)


def run_progress(options: ProgressOptions, output: CommandOutput) -> None:
    """Read, fit, test, and write the report if a folder is given."""
    before, after = bf.read_responses(options.before), bf.read_responses(options.after)
    left_out: tuple[str, ...] = ()
    if options.difficulties is None:
        matrix = bf.pooled_responses(before, after)
    else:
        others = bf.read_responses(options.difficulties)
        matrix, left_out = bf.placing_models(others, match_models(before, after))
    fit = fit_matrix(matrix, options.fit)
    with working("looking for gains"):
        found = bf.measure_progress(fit, before, after, options.test)
    known = set(before.items) & set(after.items)
    used = [at for at, item in enumerate(matrix.items) if item in known]
    z = bf.DifficultyScale.of(fit.b).to_z(fit.b)[used]
    placed = PlacedBy(z, options.difficulties is None, left_out)
    output.result = found.model_dump(mode="json") | {
        "placed_by": "pooled" if placed.pooled else "difficulties",
        "models_not_placing": list(left_out),
    }
    page = progress_page(found, placed)
    output.summary = lambda console: print_result(console, page, options.out)
    if options.out is not None:
        envelope = output.envelope()
        methods = progress_methods(envelope, found, placed)
        write_result(options.out, envelope, output.result, page, methods)
