"""The work of `benchfill plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import benchfill as bf

from ..report.plan_page import plan_methods, plan_page
from ..report.result import print_result, write_result
from .fitting import FitOptions, read_and_fit
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from .output import CommandOutput


def run_plan(
    options: FitOptions, request: bf.PlanRequest, out: Path | None, output: CommandOutput
) -> None:
    """Read, fit, plan, and write the report with rerun.csv if a folder is given."""
    fit = read_and_fit(options)
    with working("planning"):
        plan = bf.make_plan(fit, request, seed=options.seed)
    output.result = plan.model_dump(mode="json")
    z = bf.DifficultyScale.of(fit.b).to_z(fit.b)
    page = plan_page(plan, request, z.tolist())
    if out is not None:
        envelope = output.envelope()
        methods = plan_methods(envelope, plan, request)
        write_result(out, envelope, output.document(), page, methods)
    output.summary = lambda console: print_result(console, page, out)
