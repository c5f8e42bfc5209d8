"""The live view of a batch: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..report.text import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from ..batch.view import BatchView, GapView, JobView

_NAME = 24
_ROOM = 6  # lines of the terminal that are not rows
_FEWEST = 8  # characters of a name, however narrow the terminal is
_BESIDE_NAME = 54  # columns of a row at work without the name, at their usual widths
_ENDED = {"completed": "done", "budget_exhausted": "budget spent"}
_HEADS = ("job", "gap", "round", "best P", "rollouts", "cost", "ETA ≤")


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
        get_renderable=lambda: table(view, console.height, console.width),
    ) as live:
        yield live.refresh


def table(view: BatchView, height: int, width: int) -> RenderableType:
    """Draw the whole view in so many lines and columns.

    Jobs at work come first; below them what has ended, each as a sentence, and the sum.
    """
    room = max(height - _ROOM, 4)
    jobs = _in_order(view)
    shown_jobs, hidden = jobs[:room], len(jobs) - room
    name_width = max(min(_NAME, width - _BESIDE_NAME), _FEWEST)
    running = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for head in _HEADS:
        right = head not in {"job", "gap"}
        running.add_column(head, justify="right" if right else "left", no_wrap=True)
    for job in shown_jobs:
        if job.phase != "ended":
            running.add_row(*_row(job, name_width))
    parts: list[RenderableType] = [running] if running.row_count else []
    parts += [_ended_line(job, name_width, width) for job in shown_jobs if job.phase == "ended"]
    if hidden > 0:
        parts.append(Text(f"… {hidden} more", style="dim"))
    parts += [Text(""), Text(one_line(_footer(view), width), style="bold")]
    return Group(*parts)


def _in_order(view: BatchView) -> list[JobView]:
    place = {"working": 0, "fitting": 1, "waiting": 2, "ended": 3}
    return sorted(view.jobs, key=lambda job: place[job.phase])


def _row(job: JobView, name_width: int) -> tuple[Text, ...]:
    gap = job.now if job.phase == "working" else None
    name, blank = Text(one_line(job.name, name_width)), Text("")
    spent = (Text(f"{job.bought:,}"), Text(f"${job.usd:.2f}"))
    if gap is None:
        return (name, Text(job.phase, style="dim"), blank, blank, *spent, blank)
    return (
        name,
        Text(gap.gap, style="cyan"),
        Text(f"{gap.round}/{gap.rounds_at_most}"),
        Text("–" if gap.best is None else f"{gap.best:.2f}"),
        *spent,
        Text(clock(gap.seconds_left_at_most())),
    )


def _ended_line(job: JobView, name_width: int, width: int) -> Text:
    state, outcome = _state(job), job.outcome
    said = state.plain
    if outcome is not None and outcome.end != "failed":
        said += f", {outcome.rollouts:,} rollouts, ${outcome.usd:.2f}"
    line = Text(one_line(job.name, name_width).ljust(name_width + 2))
    room = max(width - name_width - 2, _FEWEST)
    return line.append(Text(one_line(said, room), style=state.style))


def _state(job: JobView) -> Text:
    outcome = job.outcome
    if outcome is None:
        return Text(job.phase)
    if outcome.error or outcome.end == "failed":
        return Text(visible(outcome.error or "failed"), style="red")
    filled = sum(one.outcome == "filled" for one in outcome.gaps)
    said = f"{_ENDED.get(outcome.end, outcome.end)}: {filled} of {len(outcome.gaps)} filled"
    return Text(said, style="green" if outcome.filled else "yellow")


def _footer(view: BatchView) -> str:
    ended = sum(job.outcome is not None for job in view.jobs)
    rollouts = sum(job.bought for job in view.jobs)
    usd = sum(job.usd for job in view.jobs)
    return (
        f"{ended} of {len(view.jobs)} jobs, {rollouts:,} rollouts, ${usd:.2f}, "
        f"{clock(view.seconds)} so far, ETA {clock(view.seconds_left())}"
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
    left = gap.seconds_left_at_most()
    eta = "" if left is None else f", ETA at most {clock(left)}"
    return (
        f"{job.name} {gap.gap}: round {gap.round} of {gap.rounds_at_most}, {best}, "
        f"{gap.rollouts:,} rollouts, ${job.usd:.2f}{eta}{chosen}"
    )
