"""Fixtures that tests of several parts share."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import BlockingConnectionPool, Redis

from benchfill_services.store.embedded import client_of
from benchfill_services.store.server import EmbeddedServer
from support.redis_server import RedisServer
from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Iterator
    from contextlib import AbstractAsyncContextManager

    OpenEmpty = Callable[[str], AbstractAsyncContextManager[Redis]]


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


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A redis-server that runs as long as the tests do; who wants to kill one starts his own."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def open_empty(request: pytest.FixtureRequest) -> OpenEmpty:
    """Open a client of an empty server by kind, `Valkey` or `redis-server`."""

    @asynccontextmanager
    async def opened(kind: str) -> AsyncIterator[Redis]:
        if kind == "Valkey":
            client = client_of(request.getfixturevalue("valkey_socket"))
        else:
            url = request.getfixturevalue("redis_server").url
            # like the services': who finds no free connection waits for one
            pool = BlockingConnectionPool.from_url(url, decode_responses=True, timeout=None)
            client = Redis.from_pool(pool)
        async with client as redis:
            await redis.config_set("appendfsync", "no")
            await redis.flushall()
            yield redis

    return opened


@pytest.fixture(params=["Valkey", "redis-server"])
async def each_server(
    request: pytest.FixtureRequest, open_empty: OpenEmpty
) -> AsyncIterator[Redis]:
    """A client of each server that BenchFill runs on, empty."""
    async with open_empty(request.param) as redis:
        yield redis


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real response matrices, beside the repository; skip where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BENCHFILL_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; BENCHFILL_SHARED_DATA may name another folder")
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under BENCHFILL_REQUIRE_ALL=1 a skipped test is a failed one."""
    report = yield
    required = os.environ.get("BENCHFILL_REQUIRE_ALL") == "1"
    if required and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped under BENCHFILL_REQUIRE_ALL=1: {report.longrepr}"
    return report
