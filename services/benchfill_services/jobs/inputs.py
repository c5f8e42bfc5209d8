"""What a job works on, brought to the machine of its worker: files, fit and pool."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from filelock import AsyncFileLock

from benchfill.errors import InputError

from ..fill_job import fit_request
from ..store import keys
from ..store.benchmarks import RedisBenchmarks, materialise
from ..store.fits import fit_path
from .fit_process import fit_apart
from .record import FillSpec

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill.onepl import Engine

    from ..settings import Settings
    from .leasing import Holding
    from .record import Job


async def benchmark_folder(redis: Redis, settings: Settings, benchmark: str, version: int) -> Path:
    """Write down the files of a version, unless they are there; return their folder."""
    found = await RedisBenchmarks(redis).get(benchmark, version)
    return await materialise(redis, settings.data_dir, found)


async def fit_once(
    items: Path, responses: Path, engine: Engine, seed: int, settings: Settings
) -> None:
    """Make the fit in another process, unless it is kept: sampling would hold up all other jobs."""
    request = await asyncio.to_thread(fit_request, items, responses, engine=engine, seed=seed)
    path = fit_path(settings.data_dir, request)
    path.parent.mkdir(parents=True, exist_ok=True)
    # a lock beside that of the fit itself: who waits here has not started a process yet
    async with AsyncFileLock(f"{path}.turn", poll_interval=0.2):
        if path.exists():
            return
        await fit_apart(
            {
                "items": str(items),
                "responses": str(responses),
                "engine": engine,
                "seed": seed,
                "data_dir": str(settings.data_dir),
            }
        )


async def pinned_pool(redis: Redis, settings: Settings, job: Job, holding: Holding) -> Path:
    """Write down the pool as it was when the job began, so that a resumed job asks the same."""
    pool = job.spec.pool if isinstance(job.spec, FillSpec) else ""
    text = await redis.hget(keys.job(job.id), "pool_text")
    if text is None:
        if settings.pools_dir is None:
            raise InputError(
                "the worker that took it up has no pools; start it with --pools, and resume the "
                "fill."
            )
        path = settings.pools_dir / f"{pool}.yaml"
        if not path.is_file():
            raise InputError(
                f"the worker that took it up has no pool {pool!r}; add {pool}.yaml to its pools, "
                "and resume the fill."
            )
        text = path.read_text(encoding="utf-8-sig")
        await holding.lease.update({"pool_text": text})
    return written_pool(settings, job.id, holding, str(text))


async def pool_of_fill(
    redis: Redis, settings: Settings, job: Job, fill: str, holding: Holding
) -> Path:
    """Write down the pool as it was when a fill began, for another job.

    Raises
    ------
    InputError
        The fill never began.
    """
    text = await redis.hget(keys.job(fill), "pool_text")
    if text is None:
        raise InputError(f"the pool of fill {fill} is not known any more.")
    return written_pool(settings, job.id, holding, str(text))


def written_pool(settings: Settings, job_id: str, holding: Holding, text: str) -> Path:
    """Write a pool into the folder of a job, under the token of its lease."""
    folder = settings.data_dir / "jobs" / job_id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{holding.lease.token}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
