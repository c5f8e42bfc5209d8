"""Health check of a container: ``python -m benchfill_services.observability.worker_alive``.

It ends with 0 if a worker of this host gave a sign of life in the last seconds, else with 1.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time

from benchfill.errors import BenchFillError

from ..settings import Settings
from ..store.connection import connect
from ..store.keys import WORKERS

_SECONDS = 15.0


async def worker_alive(settings: Settings, host: str) -> bool:
    """Whether a worker of a host lives."""
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with connect(url, settings.data_dir) as redis:
        alive = await redis.zrangebyscore(WORKERS, time.time() - _SECONDS, "+inf")
    return any(str(worker).startswith(f"{host}-") for worker in alive)


if __name__ == "__main__":
    try:
        living = asyncio.run(worker_alive(Settings(), socket.gethostname()))
    except BenchFillError as error:
        sys.exit(str(error))
    sys.exit(None if living else "no worker of this host gives signs of life")
