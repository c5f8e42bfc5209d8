"""The work of `benchfill batch`: the view, the summary, the exit code."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer

from ..batch.batch import pools_of, run_batch
from ..batch.view import BatchView, JobView
from ..fill_plan import providers_of
from ..fill_spec import spec_of
from ..report.batch_page import batch_methods, batch_page
from ..report.folder import json_bytes, write_folder
from ..report.result import print_result, write_result
from ..settings import Settings
from .batch_view import shown
from .output import INTERRUPTED

if TYPE_CHECKING:
    from pathlib import Path

    from ..batch.jobs_file import Jobs
    from ..batch.outcome import BatchReport
    from .output import CommandOutput

BUG, CANNOT_USE, NOT_FILLED = 1, 2, 3


def run_batch_command(jobs: Jobs, out: Path, workers: int | None, output: CommandOutput) -> None:
    """Carry out the jobs of a file, and write the summary."""
    settings = Settings()
    # an --out that cannot be written is found now, not after the rollouts are paid
    write_folder(out, {"batch.json": json_bytes(output.envelope())})
    _name_providers(jobs)
    view = BatchView(
        [
            JobView(one.name, len(one.request.at) or one.request.max_gaps, one.request.rounds)
            for one in jobs.jobs
        ]
    )
    with shown(view) as show:
        if workers is None:
            report = asyncio.run(run_batch(jobs, settings, view, output.envelope(), show))
        else:
            from ..batch.queued import run_queued

            report = asyncio.run(
                run_queued(jobs, settings, view, output.envelope(), show, workers=workers)
            )
    output.result = report.model_dump(mode="json") | {"out": str(out)}
    output.exit_code = exit_code(report)
    page = batch_page(report)
    write_result(out, output.envelope(), output.document(), page, batch_methods(output.envelope()))
    output.summary = lambda console: print_result(console, page, out)


def exit_code(report: BatchReport) -> int:
    """Say by a number how a batch ended; the worst of its jobs decides."""
    if any(one.end == "interrupted" for one in report.jobs):
        return INTERRUPTED
    failures = {one.failure for one in report.jobs}
    if "bug" in failures:
        return BUG
    if "input" in failures:
        return CANNOT_USE
    return 0 if all(one.filled for one in report.jobs) else NOT_FILLED


def _name_providers(jobs: Jobs) -> None:
    """Say who will see held-out items before the first is sent."""
    pools = pools_of(jobs)
    told: set[str] = set()
    for one in jobs.jobs:
        pool = pools.get(one.request.pool)
        if pool is None:
            continue
        spec = spec_of(one.request, benchmark="batch", version=1, pool="pool")
        for asked in providers_of(spec, pool):
            line = f"{asked.provider} will see: {asked.sees}."
            if not asked.local and line not in told:
                told.add(line)
                typer.echo(line, err=True)
