"""The work of `benchfill generate`: progress, files, exit code."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from benchfill.errors import InputError
from benchfill.textbook.files import write_taxonomy
from benchfill_agents.pool.prices import price_of
from benchfill_agents.textbook.calls import added

from ..report.folder import json_bytes, write_folder
from ..report.generation import cost_words, write_generation
from ..report.words import count_of
from ..settings import Settings
from ..textbook.job import Watchers, propose_taxonomy, run_job
from ..textbook.request import GenerateInputs, GenerateRequest, read_inputs
from .output import INTERRUPTED
from .progress import counting

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.progress import Progress as ProgressBar

    from benchfill_agents.pool.rollouts import Progress
    from benchfill_agents.textbook.candidate import Candidate
    from benchfill_agents.textbook.generation_report import GenerationReport
    from benchfill_agents.textbook.seat import Seat

    from .output import CommandOutput

NOT_COMPLETE = 3

__all__ = ["GenerateRequest", "run_generate"]


def run_generate(request: GenerateRequest, output: CommandOutput) -> None:
    """Write items, or a taxonomy to edit."""
    settings = Settings()
    inputs = read_inputs(request)
    job = request.job_id(output.inputs)
    if request.propose_taxonomy is not None:
        _propose(request, request.propose_taxonomy, inputs, job, settings, output)
        return
    _say_who_sees_what(request, inputs)
    # an --out that cannot be written is found now, not after the calls are paid
    write_folder(request.out, {"job.json": json_bytes(output.envelope() | {"job": job})})
    with counting() as bar:
        outcome = asyncio.run(run_job(request, inputs, job, settings, _Watch(bar, inputs).all()))
    report = outcome.report
    output.result = write_generation(
        request.out,
        output.envelope() | {"job": job},
        inputs,
        report,
        in_flight_lost=outcome.in_flight_lost,
        under_review=outcome.under_review,
    )
    output.result["out"] = str(request.out)
    output.exit_code = _exit_code(report)
    output.summary = lambda console: _print(console, report, request, outcome.under_review)


def _propose(  # noqa: PLR0917 - a run's parts
    request: GenerateRequest,
    path: Path,
    inputs: GenerateInputs,
    job: str,
    settings: Settings,
    output: CommandOutput,
) -> None:
    _check_place(path)
    _say_who_sees_what(request, inputs)
    with counting() as bar:
        watch = _Watch(bar, inputs).all()
        taxonomy, spent = asyncio.run(propose_taxonomy(request, inputs, job, settings, watch))
    write_taxonomy(path, taxonomy)
    count = len(taxonomy.competencies)
    output.result = {
        "job": job,
        "taxonomy": str(path),
        "areas": len(taxonomy.areas),
        "competencies": count,
        "spent": [one.model_dump() for one in added(spent)],
    }
    output.summary = lambda console: console.print(
        f"Proposed: {count} {'competency' if count == 1 else 'competencies'} in "
        f"{count_of(len(taxonomy.areas), 'area')}, in",
        Text(f"{path}."),
        f"Edit them, then run the command with --taxonomy. {cost_words(added(spent))}",
    )


def _check_place(path: Path) -> None:
    """Refuse a file that cannot be written before anything is paid for it."""
    field = "--propose-taxonomy"
    if path.exists():
        raise InputError(
            "exists already, and an edited taxonomy is not written over; name another file.",
            source=str(path),
            field=field,
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"cannot be written ({(error.strerror or '').lower()}); name another file."
        raise InputError(why, source=str(path), field=field) from None
    if not os.access(path.parent, os.W_OK):
        why = "cannot be written (permission denied); name another file."
        raise InputError(why, source=str(path), field=field)


def _say_who_sees_what(request: GenerateRequest, inputs: GenerateInputs) -> None:
    """Say who will see the chapters before the first is sent, and what else should be known."""
    for role, model in inputs.models.by_role.items():
        if request.propose_taxonomy is not None and role != "Designer":
            continue
        seen = "each new item without its key" if role == "Solver" else "the chapters"
        typer.echo(f"{role} {model.name} will see {seen}.", err=True)
        if request.budget_usd is not None and price_of(model) is None:
            typer.echo(
                f"The price of {model.name} is not known: its calls count nothing towards "
                "--budget-usd. Give --budget-tokens, too.",
                err=True,
            )
    for note in inputs.reading.notes:
        typer.echo(note, err=True)


def _exit_code(report: GenerationReport) -> int:
    if report.status == "interrupted":
        return INTERRUPTED
    return 0 if report.status in {"complete", "gaps_filled"} else NOT_COMPLETE


class _Watch:
    """A bar for the accepted items, and one that says what is being asked."""

    def __init__(self, bar: ProgressBar, inputs: GenerateInputs) -> None:
        self._bar = bar
        self._accepted = None
        if inputs.blueprint is not None:
            # where a gap is aimed at, it ends when that is filled
            wanted = inputs.blueprint.count if inputs.responses is None else None
            self._accepted = bar.add_task("accepted", total=wanted)
        self._asked = bar.add_task("calls", total=None)
        self._rollouts: Any = None

    def all(self) -> Watchers:
        """Return what the job tells it."""
        return Watchers(
            on_call=self._call, on_candidate=self._candidate, on_rollouts=self._measuring
        )

    def _call(self, seat: Seat, place: str) -> None:
        self._bar.update(self._asked, advance=1, description=f"{seat.role}: {place}")

    def _candidate(self, candidate: Candidate) -> None:
        if candidate.outcome == "accepted" and self._accepted is not None:
            self._bar.update(self._accepted, advance=1)

    def _measuring(self, state: Progress) -> None:
        if self._rollouts is None:
            self._rollouts = self._bar.add_task("rollouts", total=None)
        self._bar.update(self._rollouts, total=state.total, completed=state.done)


def _print(
    console: Console, report: GenerationReport, request: GenerateRequest, under_review: int
) -> None:
    table = Table("competency", "level", "difficulty", "accepted", "wanted", "dropped", "twins")
    for one in report.cells:
        table.add_row(
            Text(one.cell.competency),
            one.cell.bloom,
            one.cell.difficulty,
            str(one.accepted),
            str(one.cell.count),
            str(one.dropped + one.failed),
            str(one.duplicates),
        )
    console.print(table)
    for gap in report.gaps:
        found = f"filled by {gap.item}" if gap.item else gap.status.replace("_", " ")
        console.print(Text(f"{gap.target.id}, z {gap.target.z:.3f}: {found}"))
    for warning in report.warnings:
        console.print(Text(f"Warning: {warning}"))
    if report.why:
        console.print(Text(report.why[0].upper() + report.why[1:]))
    count = len(report.accepted)
    console.print(f"{count_of(count, 'item')}. {cost_words(report.spent)}")
    if under_review:
        console.print(f"{under_review} are newly up for review: benchfill review list")
    console.print("No item is part of a benchmark before experts have approved it. Report:")
    console.print(Text(str(request.out / "report.html")))
