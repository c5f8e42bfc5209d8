"""The store of commands that run in this process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_services.store.embedded import client_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from redis.asyncio import Redis

    InStore = Callable[[Callable[[Redis], Awaitable[Any]]], Any]


@pytest.fixture
def in_store(valkey_socket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InStore:
    """An empty store that commands use too; what is given works on it and ends."""
    monkeypatch.setenv("BENCHFILL_REDIS_URL", f"unix://{valkey_socket}")
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("BENCHFILL_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(work: Callable[[Redis], Awaitable[Any]]) -> Any:
        async def opened() -> Any:
            async with client_of(valkey_socket) as redis:
                return await work(redis)

        return asyncio.run(opened())

    async def empty(redis: Redis) -> None:
        await redis.config_set("appendfsync", "no")
        await redis.flushall()

    run(empty)
    return run
