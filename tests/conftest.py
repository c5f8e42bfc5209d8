"""Fixtures that tests of several parts share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchfill_services.store.embedded import client_of
from benchfill_services.store.server import EmbeddedServer
from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterator

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
