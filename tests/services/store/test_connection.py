"""One way into Redis, and one sentence when it is closed."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from benchfill.errors import BenchFillError, InputError, InterruptedRunError
from benchfill_services.store.connection import connect
from benchfill_services.store.keys import SCHEMA, SCHEMA_VERSION
from support.redis_server import RedisServer


async def test_without_a_url_the_embedded_server_is_used(tmp_path) -> None:
    async with connect(None, tmp_path) as redis:
        assert await redis.get(SCHEMA) == str(SCHEMA_VERSION)
        assert (tmp_path / "valkey").is_dir()


async def test_a_url_leads_to_its_server_and_leaves_it_running(
    valkey, valkey_socket, tmp_path
) -> None:
    async with connect(f"unix://{valkey_socket}?db=0", tmp_path) as redis:
        await redis.set("key", "kept")
    assert await valkey.get("key") == "kept"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:secret@127.0.0.1:1/0",
        "unix://user:secret@/no/such/socket",
        "redis://:se/cret@localhost",
        "redis://:12#secret@localhost",
        "redis://:secret@localhost:99999",
        "http://user:secret@localhost",
        "secret",
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_without_the_password(url, tmp_path) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match="BENCHFILL_REDIS_URL") as caught:
        async with connect(url, tmp_path):
            pass
    assert "secret" not in caught.value.message
    assert time.monotonic() - began < 5


async def test_a_wrong_password_is_refused_without_repeating_it(
    valkey, valkey_socket, tmp_path
) -> None:
    with pytest.raises(InputError, match="cannot be used") as caught:
        async with connect(f"unix://nobody:secret@{valkey_socket}", tmp_path):
            pass
    assert "secret" not in caught.value.message


async def test_data_of_another_layout_are_left_alone(valkey, valkey_socket, tmp_path) -> None:
    await valkey.set(SCHEMA, "999")
    with pytest.raises(InputError, match=r"Redis at .*valkey.sock holds data of layout 999"):
        async with connect(f"unix://{valkey_socket}", tmp_path):
            pass
    assert await valkey.dbsize() == 1


async def test_a_server_lost_in_use_is_an_interruption(tmp_path) -> None:
    async def lose_it() -> None:
        async with connect(None, tmp_path) as redis:
            os.kill((await redis.info("server"))["process_id"], signal.SIGKILL)
            await redis.get("key")

    with pytest.raises(InterruptedRunError, match="run the same command again"):
        await lose_it()


async def test_a_command_that_is_refused_is_one_of_our_errors(
    valkey, valkey_socket, tmp_path
) -> None:
    async def misuse_it() -> None:
        async with connect(f"unix://{valkey_socket}", tmp_path) as redis:
            await redis.rpush("list", "value")
            await redis.get("list")

    with pytest.raises(BenchFillError, match=r"refused a command .WRONGTYPE"):
        await misuse_it()


async def test_a_server_that_was_killed_and_comes_back_is_asked_again(tmp_path) -> None:
    with RedisServer(tmp_path / "redis") as server:
        async with connect(server.url, tmp_path, patience=30) as redis:
            await redis.set("key", "kept")
            server.kill()
            asked = asyncio.create_task(redis.get("key"))
            await asyncio.sleep(0.1)
            await asyncio.to_thread(server.start)
            assert await asked == "kept"


async def test_a_server_that_does_not_come_back_is_an_interruption(tmp_path) -> None:
    async def lose_it() -> None:
        with RedisServer(tmp_path / "redis") as server:
            async with connect(server.url, tmp_path) as redis:
                server.kill()
                await redis.get("key")

    with pytest.raises(InterruptedRunError, match="run the same command again"):
        await lose_it()
