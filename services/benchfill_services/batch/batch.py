"""A batch from beginning to end, in this process."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from benchfill.errors import InputError
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.ledger import Ledger

from ..fill_job import SPOOL
from ..store.connection import connect
from ..store.ledger import RedisLedgerStore
from .common_budget import CommonBudget
from .job_files import JobReports
from .outcome import BatchReport
from .run import BatchParts, run_jobs
from .shared_pools import SharedPools
from .turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill_agents.pool.config import Pool

    from ..settings import Settings
    from .jobs_file import Jobs
    from .outcome import JobOutcome
    from .view import BatchView

LOOK_EVERY = 0.5  # seconds
_LAST_LOOK = 5.0


async def run_batch(
    jobs: Jobs,
    settings: Settings,
    view: BatchView,
    envelope: Mapping[str, Any],
    show: Callable[[], None],
) -> BatchReport:
    """Carry out all jobs here; `show` is called whenever `view` may have changed."""
    began = time.perf_counter()
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with (
        connect(url, settings.data_dir) as redis,
        # no `benchfill fill` beside it; and what a killed one left there is not bought again
        Ledger(settings.data_dir / SPOOL, RedisLedgerStore(redis)),
        SharedPools(pools_of(jobs).values()) as pools,
        kept_up(view, redis, show),
    ):
        parts = BatchParts(
            redis,
            settings,
            pools,
            CommonBudget(jobs.budget),
            JobReports(redis, settings, envelope),
            Turns(jobs.at_once),
        )
        outcomes = await run_jobs(jobs, parts, view)
    return summed(outcomes, seconds=time.perf_counter() - began, workers=None)


def pools_of(jobs: Jobs) -> dict[Path, Pool]:
    """Read the pools that can be read; the jobs of others fail with the reason."""
    found: dict[Path, Pool] = {}
    for one in jobs.jobs:
        with contextlib.suppress(InputError):
            if one.request.pool not in found:
                found[one.request.pool] = read_pool(one.request.pool)
    return found


@contextlib.asynccontextmanager
async def kept_up(view: BatchView, redis: Redis, show: Callable[[], None]) -> AsyncIterator[None]:
    """Keep the view up to date for as long as this is open."""
    ended = asyncio.Event()

    async def keep() -> None:
        while not ended.is_set():
            with contextlib.suppress(RedisError):  # whoever works will say so
                await view.look(redis)
            show()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), LOOK_EVERY)

    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        # told and not cancelled: nothing here is worth breaking off a command to Redis
        ended.set()
        await asyncio.wait({keeping}, timeout=_LAST_LOOK)
        keeping.cancel()
        show()


def summed(outcomes: Iterable[JobOutcome], *, seconds: float, workers: int | None) -> BatchReport:
    """Put the outcomes together."""
    jobs = tuple(outcomes)
    return BatchReport(
        jobs=jobs,
        rollouts=sum(one.rollouts for one in jobs),
        usd=sum(one.usd for one in jobs),
        tokens=sum(one.tokens for one in jobs),
        seconds=seconds,
        workers=workers,
    )
