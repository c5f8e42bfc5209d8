"""Fixtures that tests of several parts share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill_services.store.embedded import client_of
from benchfill_services.store.server import EmbeddedServer
from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from redis.asyncio import Redis


@pytest.fixture
def scripted_server() -> Iterator[ScriptedServer]:
    """A provider that follows a script, over real HTTP."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="session")
def valkey_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a Valkey that runs as long as the tests do."""
    server = EmbeddedServer(tmp_path_factory.mktemp("valkey"))
    yield server.join()
    server.leave()


@pytest.fixture
async def valkey(valkey_socket: Path) -> AsyncIterator[Redis]:
    """A client of a real, empty Valkey."""
    async with client_of(valkey_socket) as redis:
        # Thousands of writes a test: only the tests of durability wait for the disk.
        await redis.config_set("appendfsync", "no")
        await redis.flushall()
        yield redis
