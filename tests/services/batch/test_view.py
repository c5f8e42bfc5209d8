"""How far a batch is: read from the records, and shown."""

from __future__ import annotations

import io

from rich.console import Console

from benchfill_services.batch.outcome import JobOutcome, cost_by_gap
from benchfill_services.batch.view import BatchView, JobView
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


async def test_the_table_fits_the_terminal_and_the_lines_come_once(valkey) -> None:
    view = BatchView([await recorded(valkey), *(JobView(f"j{k}", 3, 8) for k in range(60))])
    failed = JobOutcome(job="j0", id=None, end="failed", error="\x1b[31mno\u202e file")
    view.jobs[1].outcome, view.jobs[1].phase = failed, "ended"
    out = io.StringIO()
    console = Console(file=out, width=160, height=20, force_terminal=False)
    console.print(table(view, console.height))
    text = out.getvalue()
    assert len(text.splitlines()) <= 20
    assert "first" in text.splitlines()[1]
    assert "gap-1" in text
    assert "2/8" in text
    assert "1 of 61 jobs" in text
    lines = io.StringIO()
    said = _Lines(view, Console(file=lines, width=160))
    said.show()
    said.show()
    assert lines.getvalue().count("first gap-1: round 2 of 8") == 1
    assert lines.getvalue().count("j0: ") == 1
    assert "\x1b" not in lines.getvalue() + text
    assert "\u202e" not in lines.getvalue() + text


def test_a_gap_costs_what_was_spent_until_the_next_one_began() -> None:
    begun = {"gap-10": 2.0, "gap-1": 0.5, "gap-2": 0.75}
    assert cost_by_gap(begun, 3.5) == {"gap-1": 0.25, "gap-2": 1.25, "gap-10": 1.5}
    assert cost_by_gap({}, 1.0) == {}
