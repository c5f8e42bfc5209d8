"""The work of `benchfill fill` and `benchfill demo`: progress, report, exit code."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from benchfill_agents.messages import CalibrationRound, Rewriting
from benchfill_agents.pool.config import read_pool

from ..fill_job import Watchers, check_names, read_inputs, run_job
from ..fill_judge import judge_of
from ..fill_plan import Earlier, plan_of, providers_of
from ..fill_request import FillRequest
from ..fill_spec import spec_of
from ..report.fill_report import write_fill_report
from ..report.folder import json_bytes, write_folder
from ..report.summary import print_fill, print_plan
from ..settings import Settings
from .output import INTERRUPTED
from .progress import counting, working

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressBar
    from rich.progress import TaskID

    from benchfill_agents.fill_report import FillReport
    from benchfill_agents.pool.config import Pool
    from benchfill_agents.pool.rollouts import Progress
    from benchfill_agents.target import FillTarget

    from ..jobs.record import FillSpec
    from .output import CommandOutput

NOT_FILLED = 3

__all__ = ["FillRequest", "dry_run_fill", "run_fill"]


def run_fill(request: FillRequest, output: CommandOutput) -> None:
    """Fit, fill, write the report folder."""
    settings = Settings()
    request = _with_judge(request, settings)
    with working("fitting the benchmark"):
        inputs = read_inputs(request, settings.data_dir)
    job = request.job_id(output.inputs)
    # an --out that cannot be written is found now, not after the rollouts are paid
    head = {"job": job, "providers": name_providers(request, inputs.pool)}
    write_folder(request.out, {"job.json": json_bytes(output.envelope() | head)})
    with counting() as bar:
        watch = FillWatch(bar, request.rounds)
        outcome = asyncio.run(
            run_job(request, inputs, job, settings, Watchers(watch.message, watch.rollouts))
        )
    report = outcome.report
    output.result = report.model_dump(mode="json") | {
        **head,
        "in_flight_lost": [key.model_dump() for key in outcome.in_flight_lost],
        "out": str(request.out),
    }
    output.exit_code = _exit_code(report)
    write_fill_report(request.out, output.document(), inputs.diagnosis, report, outcome.transcripts)
    output.summary = lambda console: print_fill(console, report, request.out)


def dry_run_fill(request: FillRequest, output: CommandOutput) -> None:
    """Say what the fill would cost at most, and which providers would see which items."""
    request = _with_judge(request, Settings())
    check_names(request)
    plan = plan_of(_spec(request), read_pool(request.pool), Earlier())
    output.result = plan.model_dump(mode="json")
    output.summary = lambda console: print_plan(console, plan)


def _with_judge(request: FillRequest, settings: Settings) -> FillRequest:
    """Settle who judges, before the job gets its id."""
    return replace(request, judge=judge_of(request.judge, settings.judge, read_pool(request.pool)))


def _spec(request: FillRequest) -> FillSpec:
    # of these names only the budget and the writer matter to a plan
    benchmark, pool = request.responses.stem[:128], request.pool.stem[:128]
    return spec_of(request, benchmark=benchmark, version=1, pool=pool)


def name_providers(request: FillRequest, pool: Pool) -> list[dict[str, Any]]:
    """Say who will see held-out items before the first is sent."""
    asked = providers_of(_spec(request), pool)
    for one in asked:
        if not one.local:
            typer.echo(f"{one.provider} will see: {one.sees}.", err=True)
    return [one.model_dump() for one in asked]


def _exit_code(report: FillReport) -> int:
    statuses = [fill.status for fill in report.fills]
    if "interrupted" in statuses:
        return INTERRUPTED
    return 0 if statuses and all(status == "filled" for status in statuses) else NOT_FILLED


class FillWatch:
    """One line for the search, one for the rollouts that are out."""

    def __init__(self, bar: ProgressBar, rounds: int) -> None:
        self._bar, self._rounds = bar, rounds
        self._gap: TaskID | None = None
        self._gap_id = ""
        self._asked = bar.add_task("rollouts", total=None)

    def rollouts(self, state: Progress) -> None:
        """Show the batch of rollouts that is being asked for."""
        self._bar.update(self._asked, total=state.total, completed=state.done)

    def message(self, target: FillTarget, author: str, content: Any) -> None:
        """Show how far the search for a gap is, in rounds of the most there may be."""
        if self._gap is None or self._gap_id != target.id:
            self._gap_id = target.id
            self._gap = self._bar.add_task(target.id, total=self._rounds)
        note = ""
        if isinstance(content, Rewriting):
            note = f"{len(content.children)} children"
        elif isinstance(content, CalibrationRound):
            best = max((one.p_in_gap for one in content.calibrations), default=0.0)
            note = f"best P(in gap) {best:.2f}"
            finished = self._rounds if content.done else content.round
            self._bar.update(self._gap, completed=finished)
        described = f"{target.id}: {note}" if note else f"{target.id}: {author}"
        self._bar.update(self._gap, description=described)
