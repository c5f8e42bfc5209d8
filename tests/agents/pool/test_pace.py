"""Calls and tokens a minute, and pauses that providers ask for, over real HTTP where it is slow."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest

from benchfill.errors import ProviderError
from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel, Rate
from benchfill_agents.pool.failures import classify
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.pace import Pace
from benchfill_agents.pool.rollouts import RolloutRequest, RolloutRunner
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def pool_of(**fields: Any) -> Pool:
    return Pool(models=(PoolModel(name="m", model="openai/m", **fields),))


async def times(
    pace: Pace, pool: Pool, calls: int, *, used: int | None = None, models: Sequence[int] = (0,)
) -> list[float]:
    """When each of so many calls that begin together goes out, in seconds."""
    start = time.monotonic()
    stopping = asyncio.Event()

    async def one(number: int) -> float:
        model = pool.models[models[number % len(models)]]
        reserved = await pace.wait(model, 40, stopping)
        pace.settle(model, reserved, used)
        return time.monotonic() - start

    return sorted(await asyncio.gather(*(one(number) for number in range(calls))))


async def test_a_rate_a_minute_is_kept_second_by_second() -> None:
    pool = pool_of(rpm=300)  # 5 a second
    moments = await times(Pace(pool), pool, 12)
    assert moments[5] >= 0.99
    assert moments[10] >= 1.98
    assert moments[4] < 0.9


async def test_models_that_share_a_key_share_its_rate() -> None:
    shared = {"api_key_env": "SOME_KEY"}
    pool = Pool(
        models=tuple(PoolModel(name=n, model=f"openai/{n}", **shared) for n in ("a", "b")),
        rates={"SOME_KEY": Rate(rpm=300)},
    )
    moments = await times(Pace(pool), pool, 8, models=(0, 1))
    assert moments[5] >= 0.99
    free = pool_of()
    assert (await times(Pace(free), free, 8))[-1] < 0.5


async def test_tokens_are_reserved_and_then_counted_as_they_were_used() -> None:
    pool = pool_of(tpm=1000, parameters={"max_tokens": 90})
    model, pace, stopping = pool.models[0], Pace(pool, window=3), asyncio.Event()
    began = time.monotonic()
    reserved = [await pace.wait(model, 40, stopping) for _ in range(4)]
    assert reserved == [100] * 4  # 10 of the prompt, 90 of the reply
    for tokens in reserved:
        pace.settle(model, tokens, 250)
    # 600 would be left of the window, had the replies been as short as that
    assert await pace.wait(model, 40, stopping) == 250
    assert time.monotonic() - began > 2.9


async def test_a_call_larger_than_the_rate_goes_out_alone() -> None:
    pool = pool_of(tpm=50, parameters={"max_tokens": 500})
    moments = await times(Pace(pool, window=1), pool, 2)
    assert moments[0] < 0.5
    assert moments[1] > 0.9


async def test_a_run_that_stops_waits_no_longer() -> None:
    pool = pool_of(rpm=1)
    pace, stopping = Pace(pool), asyncio.Event()
    await pace.wait(pool.models[0], 4, stopping)
    pace.pause(pool.models[0], 500)
    waiting = asyncio.create_task(pace.wait(pool.models[0], 4, stopping))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    stopping.set()
    async with asyncio.timeout(5):
        await waiting


ITEMS = tuple(Item(id=str(a), question=f"{a} + 3 =", answer=str(a + 3)) for a in range(20))


async def buy(server: ScriptedServer, path: Path, **fields: Any) -> Any:
    given = {"name": "m", "model": "openai/scripted", "api_base": server.url, **fields}
    pool = Pool(models=(PoolModel.model_validate(given),), scoring="numeric")
    async with Ledger(path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool, ledger, backoff=0.01)
        return runner, await runner.run([RolloutRequest("m", item, 0) for item in ITEMS])


async def test_a_429_holds_back_all_calls_of_the_model_as_long_as_it_asks(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    """There is a silence on the wire, while one worker alone would have been asked to wait."""
    await buy(scripted_server, tmp_path / "warm")  # imports and connections
    scripted_server.records.clear()
    answers = [Reply("3", delay=0.2), Reply(status=429, retry_after=2)]
    scripted_server.script([*answers, *[Reply("3", delay=0.2)] * 40])
    runner, _ = await buy(scripted_server, tmp_path, max_concurrency=2)
    assert dict(runner.retries) == {"rate_limit": 1}
    arrived = sorted(one.received_at for one in scripted_server.records)
    silences = [later - one for one, later in pairwise(arrived)]
    assert max(silences) >= 1.9
    assert silences.index(max(silences)) < len(ITEMS) - 2  # there was more to be asked


async def test_a_run_keeps_its_rate_on_the_wire(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    await buy(scripted_server, tmp_path / "warm")
    scripted_server.records.clear()
    began = time.time()
    await buy(scripted_server, tmp_path, rpm=300)
    arrived = sorted(one.received_at - began for one in scripted_server.records)
    assert len(arrived) == 20
    assert [arrived[n] >= 0.99 * n / 5 for n in (5, 10, 15)] == [True] * 3


async def test_a_pause_that_is_too_long_ends_the_run_and_says_so(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.script(lambda _: Reply(status=429, retry_after=7200))
    with pytest.raises(ProviderError, match="it asks for a pause of 7,200 s"):
        await buy(scripted_server, tmp_path, max_concurrency=1)
    assert len(scripted_server.records) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_a_pause_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert pause_of(headers) == seconds


@pytest.mark.parametrize(("later", "seconds"), [(300, 300), (-300, 0)])
def test_a_pause_may_be_a_date(later: float, seconds: float) -> None:
    date = formatdate(time.time() + later, usegmt=True)
    # dates count whole seconds, and the machine may be slow
    assert pause_of({"retry-after": date}) == pytest.approx(seconds, abs=20)


def pause_of(headers: dict[str, str]) -> float | None:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    response = httpx.Response(429, headers=headers, request=request)
    return classify(openai.RateLimitError("slow down", response=response, body=None)).retry_after
