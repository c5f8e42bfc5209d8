"""`benchfill batch`: several benchmarks and gaps at once, from a file of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json


def batch(
    jobs: Annotated[Path, typer.Argument(help="The file of jobs (YAML).")],
    *,
    out: Annotated[
        Path, typer.Option(help="Folder for the summary; each job has a folder in it.")
    ] = Path("batch-out"),
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=64,
            help="Send the jobs to workers, and start so many here; 0: to those that run.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Fill the gaps of many benchmarks at once, within one budget. Resumable."""
    from .output import command_output

    with command_output("batch", json=json, seed=None, inputs=[jobs]) as output:
        from ..batch.jobs_file import read_jobs

        found = read_jobs(jobs, out)  # a wrong line is told before the rest is loaded, seconds

        from .batch_run import run_batch_command

        run_batch_command(found, out, workers, output)
