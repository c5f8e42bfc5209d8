"""One limit for all jobs: counted where the calls arrive."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel, Rate, read_pool
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import RolloutRequest
from benchfill_agents.pool.together import CallLimits, levelled
from benchfill_services.batch.dividing import apart_at_most, divided, divisions
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


def named(name: str, url: str, **fields: Any) -> Pool:
    """A pool of one model."""
    rates = fields.pop("rates", {})
    given = {"max_concurrency": 2, **fields}
    model = PoolModel(name=name, model=f"openai/{name}", api_base=url, **given)
    return Pool(models=(model,), rates=rates)


def warm(tmp_path: Path, server: ScriptedServer) -> float:
    """Make the imports that the first call needs; return the time from which calls are counted."""
    ask(tmp_path / "warm", [named("a", server.url)], count=2)
    server.records.clear()
    return time.time()


PER_SECOND = 5
A_MINUTE = 60 * PER_SECOND


@pytest.mark.parametrize(
    "kind", ["an address that one file bounds", "one model in two files", "one key of two models"]
)
def test_jobs_together_keep_a_rate_on_the_wire(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "k")
    key = {"api_key_env": "SOME_KEY"}
    with ScriptedServer(script=lambda request: Reply(text="1")) as server:
        url = server.url
        pools = {
            # who does not know of the rate is counted all the same
            "an address that one file bounds": [
                named("a", url, rates={url: Rate(rpm=A_MINUTE)}),
                named("b", url),
            ],
            # and the smaller one holds
            "one model in two files": [named("a", url, rpm=A_MINUTE), named("a", url, rpm=6000)],
            "one key of two models": [
                named("a", url, rates={"SOME_KEY": Rate(rpm=A_MINUTE)}, **key),
                named("b", url, rates={"SOME_KEY": Rate(rpm=2 * A_MINUTE)}, **key),
            ],
        }[kind]
        began = warm(tmp_path, server)
        ask(tmp_path, pools, count=9)
        came = sorted(one.received_at - began for one in server.records)
        assert len(came) == 18
        assert [came[n] >= 0.99 * n / PER_SECOND for n in (5, 10, 15)] == [True] * 3
        # neither waits until the other is done
        asked = [one.body["messages"][-1]["content"] for one in server.records]
        assert min(Counter(asked[:10]).values()) >= 3
        assert len(set(asked[:10])) == 2


def test_jobs_that_share_nothing_wait_for_nobody(tmp_path: Path) -> None:
    with ScriptedServer(script=lambda request: Reply(text="1")) as server:
        began = warm(tmp_path, server)
        ask(tmp_path, [named("a", server.url, rpm=20), named("b", server.url)], count=2)
        last = {one.model: one.received_at - began for one in server.records}
        assert last["a"] >= 2.9  # one in three seconds
        assert last["b"] < 2.9


def test_one_pool_is_bounded_as_it_says(tmp_path: Path) -> None:
    alone = pool("http://localhost:1/v1", limit=7, base=9)
    (same,) = levelled([alone])
    assert same == alone
    assert CallLimits(alone).local_slots == 12
    assert levelled([]) == ()


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


URL = "http://localhost:1/v1"


def test_workers_together_keep_the_smallest_limit_of_all_that_share() -> None:
    """Whichever jobs are out at a time, their parts are no more than one pool alone may use."""
    pools = {
        "bounds": named("a", URL, max_concurrency=8, rates={URL: Rate(rpm=600, tpm=90_000)}),
        "bounds-less": named("b", URL, max_concurrency=4, rates={URL: Rate(rpm=900)}),
        "knows-nothing": named("c", URL, max_concurrency=6, rpm=100),
        "elsewhere": named("a", "http://localhost:2/v1", max_concurrency=3),
    }
    found = divisions(pools, at_once=5)
    together = frozenset({"bounds", "bounds-less", "knows-nothing"})
    assert {name: one.sharers for name, one in found.items()} == {
        **dict.fromkeys(together, together),
        "elsewhere": frozenset({"elsewhere"}),
    }
    assert {name: one.parts for name, one in found.items()} == {
        **dict.fromkeys(together, 4),
        "elsewhere": 3,
    }
    for name in together:
        part = Pool.model_validate(yaml.safe_load(found[name].text))
        assert part.rates[URL] == Rate(rpm=150, tpm=22_500)
    assert Pool.model_validate(yaml.safe_load(found["knows-nothing"].text)).models[0].rpm == 25


def test_no_more_jobs_are_out_than_a_small_rate_has_calls() -> None:
    own = named("a", URL, max_concurrency=9, rpm=3)
    shared = named("a", URL, max_concurrency=9, rates={URL: Rate(rpm=2)})
    assert divisions({"a": own}, at_once=8)["a"].parts == 3
    assert divisions({"a": shared}, at_once=8)["a"].parts == 2
