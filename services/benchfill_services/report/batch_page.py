"""The summary of a batch, in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .methods import AUTOGEN, MEASURE, fitted_methods
from .result import ResultPage, Section, Table
from .text import one_line
from .words import OUTCOMES, count_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..batch.outcome import BatchReport, GapRow, JobOutcome
    from .methods import Methods

_SAID = 200
_HEADS = (
    "job", "gap", "from z", "to z", "chosen", "z", "5%", "95%", "P(in gap)", "Top-3 before",
    "after", "rollouts", "US dollars", "outcome",
)  # fmt: skip


def batch_page(report: BatchReport) -> ResultPage:
    """Tell how a batch ended: a row for each gap, and one for each job."""
    return ResultPage(
        title="Filling the gaps of several benchmarks",
        lead=_lead(report),
        caveats=_caveats(report),
        sections=(_gaps(report), _jobs(report)),
    )


def batch_methods(envelope: Mapping[str, Any]) -> Methods:
    """Describe the batch; each job's own page describes its fit and its search."""
    sentence = (
        "Several benchmarks were filled with BenchFill at once; fit, search and measurement of "
        "each are described on its own page. z is on the scale of each benchmark before it was "
        "filled; Top-3 Sum is the sum of its three widest gaps, posterior means."
    )
    return fitted_methods(envelope, (), [sentence], (MEASURE, AUTOGEN))


def _lead(report: BatchReport) -> tuple[str, ...]:
    gaps = [gap for job in report.jobs for gap in job.gaps]
    filled = sum(one.outcome == "filled" for one in gaps)
    done = sum(job.end == "completed" for job in report.jobs)
    return (
        f"{count_of(len(report.jobs), 'job')}, {done:,} done; {count_of(len(gaps), 'gap')}, "
        f"{filled:,} filled, with {report.rollouts:,} rollouts and {report.usd:.2f} US dollars.",
    )


def _caveats(report: BatchReport) -> tuple[str, ...]:
    said = [
        f"{job.job} failed: {one_line(job.error or 'no reason is known', _SAID)}"
        for job in report.jobs
        if job.end == "failed"
    ]
    said += [
        f"{job.job} was interrupted: {one_line(job.error, _SAID)}"
        for job in report.jobs
        if job.end == "interrupted" and job.error
    ]
    spent = [job.job for job in report.jobs if job.end == "budget_exhausted"]
    if spent:
        said.append(f"The budget was spent before {', '.join(spent)} ended; raise it to go on.")
    if any(job.end == "interrupted" for job in report.jobs):
        said.append("Interrupted; the same command goes on where it was.")
    unpriced = sum(job.unpriced for job in report.jobs)
    if unpriced:
        said.append(f"The price of {count_of(unpriced, 'answer')} is not known: counted as free.")
    lost = sum(job.in_flight_lost for job in report.jobs)
    if lost:
        said.append(f"{count_of(lost, 'call')} were out at a kill: paid for, perhaps.")
    return tuple(said)


def _gaps(report: BatchReport) -> Section:
    rows = [_row(gap) for job in report.jobs for gap in job.gaps]
    short = [(row[0], row[1], row[5], row[8], row[9], row[10], row[11], row[13]) for row in rows]
    return Section(
        "Gaps",
        tables=(
            Table(
                "Gaps",
                ("job", "gap", "z", "P(in gap)", "Top-3 before", "after", "rollouts", "outcome"),
                tuple(short),
                on_page=False,
            ),
            Table(
                "Gaps, and the items that fill them with 90% intervals",
                _HEADS,
                tuple(rows),
                on_terminal=False,
            ),
        ),
    )


def _row(gap: GapRow) -> tuple[str | float | int | None, ...]:
    return (
        gap.job,
        gap.gap,
        gap.z_left,
        gap.z_right,
        gap.chosen or "–",
        gap.z,
        gap.q05,
        gap.q95,
        gap.p_in_gap,
        gap.top_3_before,
        gap.top_3_after,
        gap.rollouts,
        gap.usd,
        gap.outcome.replace("_", " "),
    )


def _jobs(report: BatchReport) -> Section:
    return Section(
        "Jobs",
        words=(f"What outcomes mean: {_meanings(report)}.",) if _meanings(report) else (),
        tables=(
            Table(
                "Jobs",
                ("job", "end", "gaps", "filled", "rollouts", "US dollars", "page"),
                tuple(_job(one) for one in report.jobs),
            ),
        ),
    )


def _meanings(report: BatchReport) -> str:
    found = {gap.outcome for job in report.jobs for gap in job.gaps} - {"filled"}
    return "; ".join(f"{one.replace('_', ' ')}, {OUTCOMES[one]}" for one in sorted(found))


def _job(one: JobOutcome) -> tuple[str | float | int | None, ...]:
    end = "completed, no empty gap" if one.end == "completed" and not one.gaps else one.end
    filled = sum(gap.outcome == "filled" for gap in one.gaps)
    found = " (by an earlier run)" if one.found_done else ""
    return (
        one.job,
        f"{end.replace('_', ' ')}{found}",
        len(one.gaps),
        filled,
        one.rollouts,
        one.usd,
        one.report or "–",
    )
