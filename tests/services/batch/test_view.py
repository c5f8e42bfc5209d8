"""How far a batch is: read from the records, and shown."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from benchfill_services.batch.outcome import JobOutcome, cost_by_gap
from benchfill_services.batch.view import BatchView, GapView, JobView
from benchfill_services.cli.batch_view import _Lines, table
from benchfill_services.store.ledger import RedisLedgerStore
from benchfill_services.store.transcript import RedisTranscript
from benchfill_services.store.usage import RedisUsage
from support.fills import make_fill

JOB = "a" * 32


async def recorded(valkey) -> JobView:
    """A job whose first gap was filled by two rounds, and one answer of it was priced."""
    example = make_fill(gaps=1)
    for number, message in enumerate(example.transcripts["gap-1"]):
        await RedisTranscript(valkey, JOB, "gap-1").append(message, key=str(number))
    store = RedisLedgerStore(valkey, RedisUsage(valkey, JOB, "test"), JOB)
    await store.put("d", {"model_name": "m", "cost": 0.25, "prompt_tokens": 3})
    view = JobView("first", 2, 8, id=JOB, phase="working")
    await view.look(valkey)
    return view


async def test_a_jobs_records_say_how_far_it_is(valkey) -> None:
    view = await recorded(valkey)
    best = max(one.p_in_gap for one in make_fill(gaps=1).report.fills[0].calibrations)
    (gap,) = view.gaps
    assert (gap.gap, gap.round, gap.best, gap.ended) == ("gap-1", 2, best, True)
    assert (view.usd, view.bought) == (0.25, 1)
    rollouts = gap.rollouts
    await view.look(valkey)  # nothing is heard twice
    assert view.gaps[0].rollouts == rollouts
    # a gap may be filled by a child of another, and leave no transcript
    await RedisTranscript(valkey, JOB, "gap-2").append(
        make_fill(gaps=1).transcripts["gap-1"][0], key="0"
    )
    await view.look(valkey)
    assert [one.gap for one in view.gaps] == ["gap-1", "gap-2"]


def drawn(view: BatchView, *, width: int, height: int) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=False)
    console.print(table(view, height, width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


async def test_at_80_columns_nothing_of_a_row_is_cut_and_the_lines_fit(valkey) -> None:
    long = replace(await recorded(valkey), name="a-benchmark-with-a-long-name-2024")
    long.bought, long.usd = 123_456, 123.45
    view = BatchView([long, *(JobView(f"j{k}", 3, 8) for k in range(60))])
    told = "\x1b[31mjobs.yaml, line 3: no\u202e file " + "x" * 200
    failed = JobOutcome(job="j0", id=None, end="failed", error=told)
    view.jobs[1].outcome, view.jobs[1].phase = failed, "ended"
    for width in (80, 120, 200):
        lines = drawn(view, width=width, height=20)
        assert len(lines) <= 20
        assert max(map(len, lines)) <= width
        head, first = lines[0].split(), lines[1].split()
        assert head == ["job", "gap", "round", "best", "P", "rollouts", "cost", "ETA", "≤"]
        assert first[0].startswith("a-benchmark-with")
        assert first[1:] == ["gap-1", "2/8", "1.00", "123,456", "$123.45", "–"]
        assert lines[-1].startswith("1 of 61 jobs, 123,456 rollouts, $123.45, 0:00:0")
        assert "\x1b" not in "".join(lines)
        assert "\u202e" not in "".join(lines)
    # the reason of a failed job has the rest of its line, and is seen once it is among the first
    view.jobs = [view.jobs[1]]
    (line, *_) = drawn(view, width=80, height=20)
    assert line.startswith("j0")
    assert "jobs.yaml, line 3" in line


async def test_in_a_pipe_each_thing_is_said_once_on_a_line_without_codes(valkey) -> None:
    view = BatchView([await recorded(valkey), *(JobView(f"j{k}", 3, 8) for k in range(3))])
    failed = JobOutcome(job="j0", id=None, end="failed", error="\x1b[31mno\u202e file")
    view.jobs[1].outcome, view.jobs[1].phase = failed, "ended"
    out = io.StringIO()
    said = _Lines(view, Console(file=out, width=40))
    said.show()
    said.show()
    lines = out.getvalue().splitlines()
    assert len([line for line in lines if line.startswith("first gap-1: round 2 of 8")]) == 1
    assert len([line for line in lines if line.startswith("j0: ")]) == 1
    assert not set(out.getvalue()) & {"\x1b", "\r", "\u202e"}


async def test_the_time_left_is_told_from_the_gaps_that_ended_in_this_run(valkey) -> None:
    view = BatchView([await recorded(valkey), JobView("second", 3, 8)])
    view.began -= 60
    # found ended when it was first looked at: an earlier run did it
    assert view.seconds_left() is None
    view.jobs[1].gaps = [GapView("gap-1", 8, round=2, ended=True)]
    # one gap a minute, and three are left: one of the first job, two of the second
    assert view.seconds_left() == pytest.approx(180, rel=0.05)
    for job in view.jobs:
        job.outcome = JobOutcome(job=job.name, id=JOB, end="completed")
    assert view.seconds_left() == 0


def test_a_gap_costs_what_was_spent_until_the_next_one_began() -> None:
    begun = {"gap-10": 2.0, "gap-1": 0.5, "gap-2": 0.75}
    assert cost_by_gap(begun, 3.5) == {"gap-1": 0.25, "gap-2": 1.25, "gap-10": 1.5}
    assert cost_by_gap({}, 1.0) == {}
