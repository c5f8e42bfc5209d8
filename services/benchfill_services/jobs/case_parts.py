"""What both kinds of requests to the agents need: the case, its fill, and who is asked."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.errors import InputError
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.providers import refuse_providers_elsewhere
from benchfill_agents.pool.rollouts import open_runner
from benchfill_agents.spending import Allowance

from ..fill_models import writing_client
from ..review.desk import ReviewDesk
from ..review.failure import was_asked
from ..store.benchmarks import RedisBenchmarks
from ..store.jobs import RedisJobs
from ..store.ledger import RedisLedgerStore
from ..store.spools import job_ledger
from ..store.usage import RedisUsage
from .inputs import pool_of_fill
from .record import FillSpec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

    from benchfill_agents.model_client import LiteLLMChatCompletionClient
    from benchfill_agents.pool.config import Pool, PoolModel
    from benchfill_agents.pool.rollouts import RolloutRunner

    from ..review.case import Revision
    from ..review.state import CaseState
    from ..settings import Settings
    from .leasing import Holding
    from .record import CaseSpec, Job

PATIENCE = 10.0
"""Seconds for a verdict or question to come on record: a sweep may find its job first."""
_EVERY = 0.2


@dataclass(frozen=True, eq=False)
class CaseParts:
    """A case and the means of the fill it came from."""

    desk: ReviewDesk
    state: CaseState
    revision: Revision
    fill: FillSpec
    pool: Pool
    writer: PoolModel


@dataclass(frozen=True, eq=False)
class Means:
    """What a request may use while it is worked on."""

    runner: RolloutRunner
    client: LiteLLMChatCompletionClient
    allowance: Allowance
    usage: RedisUsage


async def asked_in_time(desk: ReviewDesk, job: Job, spec: CaseSpec) -> bool:
    """Wait until the request stands on record; False when it does not come."""
    until = asyncio.get_running_loop().time() + PATIENCE
    while not await was_asked(desk, job, spec):
        if asyncio.get_running_loop().time() > until:
            return False
        await asyncio.sleep(_EVERY)
    return True


async def parts_of(
    job: Job, spec: CaseSpec, redis: Redis, settings: Settings, holding: Holding
) -> CaseParts:
    """Gather what is known of the case.

    Raises
    ------
    InputError
        The fill or its pool is gone, or the pool must not see these items.
    UnknownBenchmarkError
        The version is gone.
    """
    desk = ReviewDesk(redis, needed=settings.reviews_needed)
    state = await desk.state(spec.candidate)
    fill = await RedisJobs(redis).get(spec.fill)
    if fill is None or not isinstance(fill.spec, FillSpec):
        raise InputError(f"the record of fill {spec.fill} is gone.")
    path = await pool_of_fill(redis, settings, job, spec.fill, holding)
    pool = await asyncio.to_thread(read_pool, path)
    version = await RedisBenchmarks(redis).get(spec.benchmark, spec.version)
    if version.local_only:
        refuse_providers_elsewhere(pool, version.benchmark)
    named = [model for model in pool.models if model.name == state.case.writer]
    if not named:
        raise InputError(f"the pool of fill {spec.fill} has not the model that is to be asked.")
    revision = state.revisions[spec.revision - 1].revision
    return CaseParts(desk, state, revision, fill.spec, pool, named[0])


@asynccontextmanager
async def means_of(  # noqa: PLR0913, PLR0917 - where the job stands, and what it has
    job: Job,
    spec: CaseSpec,
    parts: CaseParts,
    redis: Redis,
    settings: Settings,
    holding: Holding,
) -> AsyncIterator[Means]:
    """Open the ledger and the pool; all that is used counts for this job and its reviewer."""
    usage = RedisUsage(redis, job.id, job.created_by)
    await usage.load()
    store = RedisLedgerStore(redis, usage, job.id)
    budget = spec.budget
    async with (
        job_ledger(settings.data_dir, redis, store, job.id, holding.lease.token) as ledger,
        open_runner(parts.pool, ledger, permit=holding.permit) as runner,
    ):
        client = writing_client(parts.writer, runner, usage)
        allowance = Allowance(budget.rollouts, budget.tokens, budget.usd, usage)
        try:
            yield Means(runner, client, allowance, usage)
        finally:
            await usage.settle()
