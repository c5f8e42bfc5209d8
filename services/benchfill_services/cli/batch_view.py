"""The live view of a batch: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..batch.view import BatchView, GapView, JobView

_NAME = 24
_ROOM = 6  # lines of the terminal that are not rows
_ENDED = {"completed": "done", "budget_exhausted": "budget spent"}


@contextlib.contextmanager
def shown(view: BatchView) -> Iterator[Callable[[], None]]:
    """Show a batch on stderr while this is open; the yielded function draws what is new."""
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = _Lines(view, console)
        yield lines.show
        return
    with Live(
        console=console,
        refresh_per_second=4,
        transient=True,
        get_renderable=lambda: table(view, console.height),
    ) as live:
        yield live.refresh


def table(view: BatchView, height: int) -> Table:
    """Draw the whole view in so many lines; those at work come first, then what ended last."""
    shown_table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for head, right in (
        ("job", False), ("gap", False), ("round", True), ("best P(in gap)", True),
        ("rollouts", True), ("cost", True), ("at most left", True), ("", False),
    ):  # fmt: skip
        shown_table.add_column(head, justify="right" if right else "left", no_wrap=True)
    rows = [row for job in _in_order(view) for row in _rows(job)]
    room = max(height - _ROOM, 4)
    for row in rows[:room]:
        shown_table.add_row(*row)
    if len(rows) > room:
        shown_table.add_row(Text(f"… {len(rows) - room} more", style="dim"))
    shown_table.add_row()
    shown_table.add_row(Text(_footer(view), style="bold"))
    return shown_table


def _in_order(view: BatchView) -> list[JobView]:
    place = {"working": 0, "fitting": 1, "waiting": 2, "ended": 3}
    return sorted(view.jobs, key=lambda job: place[job.phase])


def _rows(job: JobView) -> list[tuple[Text, ...]]:
    name = Text(one_line(job.name, _NAME))
    cost = Text(f"${job.usd:.2f}")
    blank = Text("")
    if job.now is None or job.phase == "ended":
        return [(name, blank, blank, blank, Text(f"{job.bought:,}"), cost, blank, _state(job))]
    gap = job.now
    return [
        (
            name,
            Text(gap.gap),
            Text(f"{gap.round}/{gap.rounds_at_most}"),
            Text("–" if gap.best is None else f"{gap.best:.2f}"),
            Text(f"{job.bought:,}"),
            cost,
            Text(clock(gap.seconds_left_at_most())),
            _state(job),
        )
    ]


def _state(job: JobView) -> Text:
    outcome = job.outcome
    if outcome is None:
        return Text(job.phase, style="cyan" if job.phase == "working" else "dim")
    if outcome.end == "failed":
        return Text(one_line(outcome.error or "failed", 60), style="red")
    filled = sum(one.outcome == "filled" for one in outcome.gaps)
    said = f"{_ENDED.get(outcome.end, outcome.end)}: {filled} of {len(outcome.gaps)} filled"
    return Text(said, style="green" if outcome.filled else "yellow")


def _footer(view: BatchView) -> str:
    ended = sum(job.outcome is not None for job in view.jobs)
    rollouts = sum(job.bought for job in view.jobs)
    usd = sum(job.usd for job in view.jobs)
    left = clock(view.seconds_left())
    return (
        f"{ended} of {len(view.jobs)} jobs, {rollouts:,} rollouts, ${usd:.2f}, "
        f"{clock(view.seconds)} so far, about {left} left"
    )


def clock(seconds: float | None) -> str:
    """Write a time as h:mm:ss, a dash when it is not known."""
    return "–" if seconds is None else str(timedelta(seconds=round(seconds)))


class _Lines:
    """A line for each thing that happened."""

    def __init__(self, view: BatchView, console: Console) -> None:
        self._view, self._console = view, console
        self._said: set[tuple[str, ...]] = set()

    def show(self) -> None:
        for job in self._view.jobs:
            for gap in job.gaps:
                if gap.best is not None:
                    self._say((job.name, gap.gap, str(gap.round), str(gap.best)), _told(job, gap))
            if job.phase != "waiting" and job.outcome is None:
                self._say((job.name, job.phase), f"{job.name}: {job.phase}")
            if job.outcome is not None:
                self._say(
                    (job.name, "ended"), f"{job.name}: {_state(job).plain}; {_footer(self._view)}"
                )

    def _say(self, key: tuple[str, ...], line: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self._console.print(Text(line), soft_wrap=True)


def _told(job: JobView, gap: GapView) -> str:
    best = f"best P(in gap) {gap.best or 0:.2f}"
    chosen = f", {one_line(gap.chosen, 60)} fills it" if gap.chosen else ""
    return (
        f"{job.name} {gap.gap}: round {gap.round} of {gap.rounds_at_most}, {best}, "
        f"{gap.rollouts:,} rollouts, ${job.usd:.2f}{chosen}"
    )
