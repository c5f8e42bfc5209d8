"""Whose turn it is."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill_services.batch.turns import Turn, Turns


async def worked(gaps: list[int], at_once: int) -> list[tuple[int, int]]:
    """Let each job work on so many gaps; return (job, gap) in the order they were ended."""
    turns, done = Turns(at_once), []
    at_work = 0

    async def job(number: int) -> None:
        nonlocal at_work
        async with Turn(turns) as turn:
            for gap in range(gaps[number]):
                turn.begins(f"gap-{gap + 1}")
                for _ in range(3):  # batches of rollouts
                    await asyncio.gather(turn.permit(), turn.permit())
                    at_work += 1
                    assert at_work <= at_once
                    await asyncio.sleep(0)
                    at_work -= 1
                done.append((number, gap))

    await asyncio.wait_for(asyncio.gather(*(job(one) for one in range(len(gaps)))), 20)
    return done


def test_with_one_place_the_jobs_alternate_gap_by_gap() -> None:
    done = asyncio.run(worked([2, 2, 2], 1))
    assert done == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(1, 4))
def test_no_job_starves(gaps: list[int], at_once: int) -> None:
    done = asyncio.run(worked(gaps, at_once))
    assert sorted(done) == [(job, gap) for job, count in enumerate(gaps) for gap in range(count)]
    for place, (_, gap) in enumerate(done):
        # whoever is not done yet is at most one gap behind, but for those with a place
        ended = [sum(other == job for other, _ in done[:place]) for job in range(len(gaps))]
        behind = [job for job, count in enumerate(gaps) if ended[job] < min(count, gap)]
        assert len(behind) < at_once or not behind


def test_a_job_that_fails_gives_its_place_back() -> None:
    async def fail(turns: Turns) -> None:
        async with Turn(turns) as turn:
            turn.begins("gap-1")
            turn.begins("gap-2")
            raise ZeroDivisionError

    async def run() -> None:
        turns = Turns(1)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await fail(turns)
        await asyncio.wait_for(turns.take(), 1)

    asyncio.run(run())
