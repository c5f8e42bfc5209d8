"""What stored records looked like in older versions, and the way from there to here.

`SCHEMA_VERSION` is raised when what stands under a key changes its form or its meaning, and then a
migration from the version before it is added here. Keys that are new need neither: older programs
do not look at them, and newer ones take their absence for "none yet". So jobs, benchmarks, API keys
and usage came to memory, ledger and steps within layout 1.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from benchfill.errors import InputError

from .keys import SCHEMA, SCHEMA_LOCK, SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from redis.asyncio import Redis
    from redis.asyncio.lock import Lock

    Migration = Callable[[Redis], Awaitable[None]]

MIGRATIONS: Mapping[int, Migration] = {}
"""Layout -> what brings its data to the next; a migration that was killed is run again."""

_LOCK_SECONDS = 30.0


async def bring_up_to_date(
    redis: Redis,
    where: str,
    *,
    version: int = SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Mark an empty server, accept data of this layout, migrate older ones, refuse newer ones.

    Of several processes that start at once one migrates and the others wait for it.

    Raises
    ------
    InputError
        The data are newer than this program, or too old for it; they stay as they are.
    """
    if await _layout(redis, where, version) == version:
        return
    # a lock that expires, because its holder may be killed; as long as it lives it renews it
    async with redis.lock(SCHEMA_LOCK, timeout=_LOCK_SECONDS) as lock:
        found = await _layout(redis, where, version)
        missing = [step for step in range(found, version) if step not in migrations]
        if missing:
            raise InputError(
                f"{where} holds data of layout {found}, which this BenchFill cannot bring to "
                f"layout {version}; upgrade over an older release, or use another server or folder."
            )
        for step in range(found, version):
            await _holding(lock, migrations[step](redis))
            await redis.set(SCHEMA, step + 1)


async def _layout(redis: Redis, where: str, version: int) -> int:
    await redis.set(SCHEMA, version, nx=True)
    found = str(await redis.get(SCHEMA))
    if not found.isdecimal() or int(found) > version:
        raise InputError(
            f"{where} holds data of layout {found}, and this BenchFill knows none above layout "
            f"{version}; use the newer version that wrote them, or another server or folder."
        )
    return int(found)


async def _holding(lock: Lock, migration: Awaitable[None]) -> None:
    """Renew the lock until the migration has ended; end the migration if the lock is lost."""
    work = asyncio.ensure_future(migration)
    try:
        while not work.done():
            await asyncio.wait({work}, timeout=_LOCK_SECONDS / 3)
            await lock.reacquire()
        await work
    finally:
        work.cancel()
