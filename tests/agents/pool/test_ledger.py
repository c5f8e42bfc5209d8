from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.errors import BenchFillError, InputError
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollout import Rollout, RolloutKey


def key(sample: int) -> RolloutKey:
    return RolloutKey(model="m", prompt="p", item="i", sample=sample)


def rollout(sample: int, outcome: Any = "answered", text: str = "7") -> Rollout:
    return Rollout(
        key=key(sample),
        model_name="tiny",
        item_id="one",
        outcome=outcome,
        text=text,
        correct=outcome == "answered",
        received_at="2026-11-29T00:00:00.000+00:00",
    )


async def fill(path: Path, samples: int) -> None:
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        for sample in range(samples):
            await ledger.begin(key(sample))
            await ledger.record(rollout(sample, text=f"{sample} é \ud800"))


async def test_an_answer_is_on_the_disk_and_in_the_store_when_record_returns(
    tmp_path: Path,
) -> None:
    store = InMemoryLedgerStore()
    async with Ledger(tmp_path / "spool.jsonl", store) as ledger:
        await ledger.begin(key(0))
        await ledger.record(rollout(0))
        lines = (tmp_path / "spool.jsonl").read_text().splitlines()
        events = [json.loads(line)["event"] for line in lines]
        assert events == ["begin", "received"]
        assert await store.get_many([key(0).digest])


async def test_a_failed_rollout_is_noted_and_asked_again(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    path = tmp_path / "spool.jsonl"
    async with Ledger(path, store) as ledger:
        await ledger.begin(key(0))
        await ledger.record(rollout(0, "failed"))
    async with Ledger(path, store) as ledger:
        assert not ledger.in_flight_lost
        assert await ledger.get_many([key(0)]) == {}
        await ledger.record(rollout(0))
        assert (await ledger.get_many([key(0)]))[key(0).digest].outcome == "answered"


async def test_calls_in_flight_at_a_kill_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        await ledger.begin(key(0))
        await ledger.begin(key(1))
        await ledger.record(rollout(1))
        assert ledger.in_flight_lost == ()
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        assert ledger.in_flight_lost == (key(0),)


async def test_the_store_is_completed_from_the_spool(tmp_path: Path) -> None:
    await fill(tmp_path / "spool.jsonl", 3)
    empty = InMemoryLedgerStore()
    async with Ledger(tmp_path / "spool.jsonl", empty):
        assert len(await empty.get_many([key(n).digest for n in range(3)])) == 3


async def test_a_spool_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    async with Ledger(path, InMemoryLedgerStore()):
        with pytest.raises(InputError, match="another benchfill process is using this spool"):
            async with Ledger(path, InMemoryLedgerStore()):
                pass
    async with Ledger(path, InMemoryLedgerStore()):
        pass


async def test_many_answers_at_once_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        await asyncio.gather(*(ledger.record(rollout(n)) for n in range(300)))
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        assert len(await ledger.get_many(key(n) for n in range(300))) == 300


async def test_a_cancelled_record_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        task = asyncio.create_task(ledger.record(rollout(0)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        assert await ledger.get_many([key(0)])


async def test_a_store_that_fails_loses_nothing(tmp_path: Path) -> None:
    class FullStore(InMemoryLedgerStore):
        async def put(self, digest: str, rollout: dict[str, Any]) -> None:
            raise ConnectionError("down")

    path = tmp_path / "spool.jsonl"
    async with Ledger(path, FullStore()) as ledger:
        with pytest.raises(BenchFillError, match=r"ConnectionError: down.*kept in the spool"):
            await ledger.record(rollout(0))
    async with Ledger(path, InMemoryLedgerStore()) as ledger:
        assert await ledger.get_many([key(0)])


@given(cut=st.integers(0, 10_000), tail=st.binary(max_size=20))
@settings(max_examples=60, deadline=None)
def test_a_torn_spool_loses_at_most_its_last_line(cut: int, tail: bytes) -> None:
    async def check(path: Path, received: int) -> None:
        async with Ledger(path, InMemoryLedgerStore()) as ledger:
            found = await ledger.get_many(key(n) for n in range(4))
            assert set(found) == {key(n).digest for n in range(received)}
            await ledger.record(rollout(9))
        async with Ledger(path, InMemoryLedgerStore()) as ledger:
            found = await ledger.get_many(key(n) for n in range(10))
            assert len(found) == received + 1

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spool.jsonl"
        asyncio.run(fill(path, 4))
        whole = path.read_bytes()
        kept = whole[: cut % (len(whole) + 1)]
        path.write_bytes(kept + tail.replace(b"\n", b""))
        asyncio.run(check(path, kept[: kept.rfind(b"\n") + 1].count(b'"received"')))


async def test_damage_before_the_end_is_named_and_nothing_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    await fill(path, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = b"".join([lines[0], b"\x00\x00\n", *lines[2:]])
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="line 2: is damaged before its end"):
        async with Ledger(path, InMemoryLedgerStore()):
            pass
    assert path.read_bytes() == damaged
