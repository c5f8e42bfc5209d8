"""Spools of jobs: a file for each time that a worker takes up a job, read again after a kill.

A worker that dies leaves a file that nobody holds. Whoever takes up a job on the same machine next
reads what was left, gives the store the answers that it lacks, and notes the calls that were out.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from filelock import FileLock

from benchfill.errors import InputError
from benchfill_agents.pool.ledger import Ledger

from . import keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill_agents.pool.rollout import LedgerStore

FOLDER = "spools"


@asynccontextmanager
async def job_ledger(
    folder: Path, redis: Redis, store: LedgerStore, job: str, token: str
) -> AsyncIterator[Ledger]:
    """Give the ledger of one taking-up of a job, after what killed workers left was taken in.

    The file stays when it is closed: the next one to come makes sure that the store has it all.
    """
    spools = folder / FOLDER
    spools.mkdir(parents=True, exist_ok=True)
    await collect(folder, redis, store)
    async with Ledger(spools / f"{job}.{token}.jsonl", store) as ledger:
        yield ledger


async def collect(folder: Path, redis: Redis, store: LedgerStore) -> None:
    """Read and remove all spools of the folder that nobody holds."""
    for path in sorted((folder / FOLDER).glob("*.jsonl")):
        try:
            async with Ledger(path, store) as ledger:
                lost = [key.digest for key in ledger.in_flight_lost]
                if lost:
                    await _note_lost(redis, path.name.split(".")[0], lost)
                # removed while it is held: whoever opens it now makes a new, empty one
                path.unlink(missing_ok=True)
        except InputError:
            if not _is_held(path):
                raise


def _is_held(path: Path) -> bool:
    lock = FileLock(f"{path}.lock", blocking=False)
    try:
        with lock:
            return False
    except TimeoutError:
        return True


async def _note_lost(redis: Redis, job: str, digests: list[str]) -> None:
    async with redis.pipeline(transaction=True) as pipe:
        pipe.sadd(keys.job_lost(job), *digests)
        pipe.scard(keys.job_lost(job))
        _, count = await pipe.execute()
    if await redis.exists(keys.job(job)):
        await redis.hset(keys.job(job), "in_flight_lost", str(count))
