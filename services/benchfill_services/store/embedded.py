"""The embedded default: a real Valkey in the data folder, for machines without a Redis server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from redis.asyncio import Redis
from redis.asyncio.connection import BlockingConnectionPool, UnixDomainSocketConnection

from .server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@asynccontextmanager
async def embedded_valkey(data_dir: Path) -> AsyncIterator[Redis]:
    """Start or join the server of a data folder; it ends with its last user.

    Raises
    ------
    InputError
        The folder cannot be written, or holds data that this version cannot load.
    """
    server = EmbeddedServer(data_dir)
    try:
        path = await asyncio.to_thread(server.join)
        async with client_of(path) as redis:
            yield redis
    finally:
        await asyncio.to_thread(server.leave)


def client_of(path: Path) -> Redis:
    """Return a client of the server that listens on a socket."""
    # Rollouts arrive by the thousand: this pool waits for a free connection, the usual one raises.
    return Redis.from_pool(
        BlockingConnectionPool(
            connection_class=UnixDomainSocketConnection,
            path=str(path),
            decode_responses=True,
            timeout=None,
        )
    )
