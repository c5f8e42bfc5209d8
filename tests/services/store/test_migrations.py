"""Data of an older layout are brought up to date once, under a lock; newer ones are left alone."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.exceptions import LockError
from typer.testing import CliRunner

from benchfill.errors import InputError
from benchfill_services.cli import app
from benchfill_services.store import migrations
from benchfill_services.store.keys import SCHEMA, SCHEMA_LOCK, SCHEMA_VERSION
from benchfill_services.store.migrations import MIGRATIONS, bring_up_to_date

WHERE = "Redis at host"


async def rename_answers(redis) -> None:
    """A made-up migration 0 -> 1: `answers` are called `rollouts` from now on."""
    if await redis.exists("answers"):
        await redis.rename("answers", "rollouts")
    await redis.incr("times renamed")


async def double_costs(redis) -> None:
    """A made-up migration 1 -> 2."""
    await redis.hincrby("rollouts", "cost", int(await redis.hget("rollouts", "cost")))


BOTH = {0: rename_answers, 1: double_costs}


async def old_data(redis) -> None:
    await redis.set(SCHEMA, "0")
    await redis.hset("answers", mapping={"cost": 21})


def test_there_is_a_way_from_every_layout_that_was_released() -> None:
    assert sorted(MIGRATIONS) == list(range(1, SCHEMA_VERSION))


async def test_an_empty_server_is_marked(each_server) -> None:
    await bring_up_to_date(each_server, WHERE, version=2, migrations=BOTH)
    assert await each_server.keys("*") == [SCHEMA]
    assert await each_server.get(SCHEMA) == "2"


async def test_old_data_are_migrated_in_order_and_once(each_server) -> None:
    await old_data(each_server)
    for _ in range(2):
        await bring_up_to_date(each_server, WHERE, version=2, migrations=BOTH)
    assert await each_server.hgetall("rollouts") == {"cost": "42"}
    assert await each_server.mget(SCHEMA, "times renamed", "answers") == ["2", "1", None]
    assert not await each_server.exists(SCHEMA_LOCK)


async def test_of_many_that_start_at_once_one_migrates(each_server) -> None:
    async def slow(redis) -> None:
        await asyncio.sleep(0.2)
        await rename_answers(redis)

    await old_data(each_server)
    start = [
        bring_up_to_date(each_server, WHERE, version=1, migrations={0: slow}) for _ in range(10)
    ]
    await asyncio.gather(*start)
    assert await each_server.mget(SCHEMA, "times renamed") == ["1", "1"]


async def test_a_migration_that_ended_half_way_is_run_again(each_server) -> None:
    async def broken(redis) -> None:
        await redis.rename("answers", "rollouts")
        raise RuntimeError("half way")

    await old_data(each_server)
    with pytest.raises(RuntimeError, match="half way"):
        await bring_up_to_date(each_server, WHERE, version=1, migrations={0: broken})
    assert await each_server.get(SCHEMA) == "0"
    await bring_up_to_date(each_server, WHERE, version=1, migrations=BOTH)
    assert await each_server.get(SCHEMA) == "1"
    assert await each_server.hgetall("rollouts") == {"cost": "21"}


async def test_the_lock_of_who_was_killed_is_waited_for(each_server) -> None:
    await old_data(each_server)
    await each_server.set(SCHEMA_LOCK, "of a dead process", px=300)
    began = time.monotonic()
    await bring_up_to_date(each_server, WHERE, version=2, migrations=BOTH)
    assert 0.2 < time.monotonic() - began < 5
    assert await each_server.get(SCHEMA) == "2"


async def test_a_long_migration_keeps_its_lock(each_server, monkeypatch) -> None:
    monkeypatch.setattr(migrations, "_LOCK_SECONDS", 0.3)

    async def long(redis) -> None:
        await asyncio.sleep(1)
        await rename_answers(redis)

    await old_data(each_server)
    start = [
        bring_up_to_date(each_server, WHERE, version=1, migrations={0: long}) for _ in range(2)
    ]
    await asyncio.gather(*start)
    assert await each_server.mget(SCHEMA, "times renamed") == ["1", "1"]


async def test_who_lost_the_lock_stops(each_server, monkeypatch) -> None:
    monkeypatch.setattr(migrations, "_LOCK_SECONDS", 0.3)
    ended = []

    async def robbed(redis) -> None:
        await redis.set(SCHEMA_LOCK, "somebody else")
        try:
            await asyncio.sleep(30)
        finally:
            ended.append(True)

    await old_data(each_server)
    with pytest.raises(LockError):
        await bring_up_to_date(each_server, WHERE, version=1, migrations={0: robbed})
    await asyncio.sleep(0)
    assert ended == [True]
    assert await each_server.mget(SCHEMA, SCHEMA_LOCK) == ["0", "somebody else"]


@pytest.mark.parametrize("found", ["3", "999", "two"])
async def test_newer_data_are_refused_in_one_sentence_and_left_alone(each_server, found) -> None:
    await each_server.set(SCHEMA, found)
    with pytest.raises(InputError, match=rf"layout {found}, .* newer version") as caught:
        await bring_up_to_date(each_server, WHERE, version=2, migrations=BOTH)
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.message
    assert await each_server.get(SCHEMA) == found
    assert await each_server.dbsize() == 1


async def test_data_that_are_too_old_are_refused_and_left_alone(each_server) -> None:
    await old_data(each_server)
    with pytest.raises(InputError, match=r"layout 0, which .* older release"):
        await bring_up_to_date(each_server, WHERE, version=2, migrations={1: double_costs})
    assert await each_server.get(SCHEMA) == "0"
    assert await each_server.hgetall("answers") == {"cost": "21"}


async def test_a_command_on_newer_data_ends_with_2_and_one_sentence(
    valkey, valkey_socket, monkeypatch
) -> None:
    await valkey.set(SCHEMA, "999")
    monkeypatch.setenv("BENCHFILL_REDIS_URL", f"unix://{valkey_socket}")
    ended = await asyncio.to_thread(CliRunner().invoke, app, ["keys", "list"])
    assert ended.exit_code == 2
    assert ended.stderr.startswith("Error: Redis at ")
    assert "layout 999" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
