"""One limit for all jobs: counted where the calls arrive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel, read_pool
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import RolloutRequest
from benchfill_services.batch.dividing import apart_at_most, divided
from benchfill_services.batch.shared_pools import SharedPools
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

    from support.scripted_server import Record

LIMIT = 3


def pool(url: str, *, limit: int = LIMIT, base: int | None = None) -> Pool:
    models = tuple(
        PoolModel(name=name, model=f"openai/{name}", api_base=url, max_concurrency=limit)
        for name in ("a", "b")
    )
    return Pool(models=models, limits={} if base is None else {url: base})


def most_at_once(records: list[Record]) -> int:
    """How many of the calls were out at a time, by when they came and were answered."""
    moments = [(one.received_at, 1) for one in records] + [(one.finished_at, -1) for one in records]
    out = most = 0
    for _, change in sorted(moments, key=lambda one: (one[0], one[1])):
        out += change
        most = max(most, out)
    return most


def ask(tmp_path: Path, pools: list[Pool], count: int) -> None:
    """Ask every model of every pool at once, each pool from a job of its own."""

    async def job(shared: SharedPools, number: int, one: Pool) -> None:
        item = Item(id=f"i{number}", question=f"{number} + 1 =", answer=str(number + 1))
        wanted = [
            RolloutRequest(model.name, item, sample)
            for model in one.models
            for sample in range(count)
        ]
        async with (
            Ledger(tmp_path / f"spool-{number}", InMemoryLedgerStore()) as ledger,
            shared.open_runner(one, ledger) as runner,
        ):
            assert len(await runner.run(wanted)) == len(wanted)

    async def run() -> None:
        async with SharedPools(pools) as shared:
            await asyncio.gather(*(job(shared, k, one) for k, one in enumerate(pools)))

    asyncio.run(run())


def test_a_models_limit_is_one_for_all_jobs(tmp_path: Path) -> None:
    with ScriptedServer(script=lambda request: Reply(text="1", delay=0.03)) as server:
        ask(tmp_path, [pool(server.url)] * 3, count=8)
        by_model = {name: [r for r in server.records if r.model == name] for name in ("a", "b")}
        assert {name: most_at_once(found) for name, found in by_model.items()} == {
            "a": LIMIT,
            "b": LIMIT,
        }
        assert len(server.records) == 3 * 2 * 8
        # in turn: before a job has its last answer, each other one has most of its own
        order = [one.body["messages"][-1]["content"] for one in by_model["a"]]
        halves = {text: order[: len(order) // 2].count(text) for text in set(order)}
        assert len(halves) == 3
        assert min(halves.values()) >= 2


def test_the_smaller_limit_of_two_files_and_that_of_an_address_hold(tmp_path: Path) -> None:
    with ScriptedServer(script=lambda request: Reply(text="1", delay=0.03)) as server:
        ask(tmp_path, [pool(server.url, limit=5), pool(server.url, limit=2)], count=8)
        assert most_at_once([one for one in server.records if one.model == "a"]) == 2
    with ScriptedServer(script=lambda request: Reply(text="1", delay=0.03)) as server:
        ask(tmp_path / "b", [pool(server.url, base=2)] * 2, count=6)
        assert most_at_once(server.records) == 2


def test_a_divided_pool_keeps_the_limits_and_asks_the_same(tmp_path: Path) -> None:
    whole = pool("http://localhost:1/v1", limit=7, base=9)
    for at_once in (1, 2, 3, 8, 20):
        jobs = apart_at_most(whole, at_once)
        path = tmp_path / f"{at_once}.yaml"
        path.write_text(divided(whole, jobs), encoding="utf-8")
        part = read_pool(path)
        assert jobs >= 1
        assert all(jobs * model.max_concurrency <= 7 for model in part.models)
        assert jobs * part.limits["http://localhost:1/v1"] <= 9
        same = [model.parameters_hash for model in whole.models]
        assert [model.parameters_hash for model in part.models] == same
