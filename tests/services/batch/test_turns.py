"""Whose turn it is."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import RolloutRequest
from benchfill_services.batch.shared_pools import SharedPools
from benchfill_services.batch.turns import Turn, Turns
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize("at_once", [1, 2])
def test_on_the_wire_no_gap_starves_behind_a_greedy_job(at_once: int, tmp_path: Path) -> None:
    """One job wants ten times as much as the others; its provider is asked by all in turn."""
    wants = {"greedy": 30, "b": 3, "c": 3, "d": 3}
    gaps, batches = 3, 2
    with ScriptedServer(script=lambda request: Reply(text="1", delay=0.005)) as server:
        model = PoolModel(name="m", model="openai/m", api_base=server.url, max_concurrency=3)
        pool, turns = Pool(models=(model,)), Turns(at_once)

        async def job(shared: SharedPools, name: str) -> None:
            async with (
                Turn(turns) as turn,
                Ledger(tmp_path / name, InMemoryLedgerStore()) as ledger,
                shared.open_runner(pool, ledger, before=turn.permit) as runner,
            ):
                for gap in range(gaps):
                    turn.begins(f"gap-{gap}")
                    for batch in range(batches):
                        item = Item(
                            id=f"{name}-{gap}-{batch}", question=f"{name} {gap}", answer="1"
                        )
                        await runner.run(
                            [RolloutRequest("m", item, batch * 100 + k) for k in range(wants[name])]
                        )

        async def run() -> None:
            async with SharedPools([pool]) as shared:
                await asyncio.gather(*(job(shared, name) for name in wants))

        asyncio.run(run())
        # in the order in which the provider was asked
        texts = [one.body["messages"][-1]["content"].split("\n")[0] for one in server.records]
    assert len(texts) == gaps * batches * sum(wants.values())
    first = {text: texts.index(text) for text in set(texts)}
    last = {text: len(texts) - 1 - texts[::-1].index(text) for text in set(texts)}
    for name, other in itertools.permutations(wants, 2):
        if other == "greedy" and at_once > 1:
            continue  # it does not wait: it has a place all the time that its gap takes
        for gap in range(gaps - 2):
            # nobody begins a gap while another waits with two fewer done
            assert last[f"{other} {gap}"] < first[f"{name} {gap + 2}"]
    if at_once == 1:  # gap by gap, whole, in the order of the line
        assert list(dict.fromkeys(texts)) == [f"{n} {g}" for g in range(gaps) for n in wants]
