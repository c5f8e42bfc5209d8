"""Putting jobs back into the queue whose message was lost: with Redis, an API process or a worker.

A running job without a lease has lost its worker; when the queues are empty, a queued job has lost
its message.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..store import keys
from ..store.jobs import RedisJobs
from .broker import LANES, broker_of, message_of, queue_of

if TYPE_CHECKING:
    from dramatiq.brokers.redis import RedisBroker
    from redis.asyncio import Redis

_AGAIN_MS = 15_000
_MOST = 200  # jobs a sweep


async def sweep(redis: Redis, broker: RedisBroker | None = None) -> int:
    """Enqueue what waits for nobody; return how many jobs that were."""
    broker = broker or broker_of(redis)
    running: Any = await redis.zrange(keys.jobs_by_status("running"), 0, _MOST - 1)
    orphans = [job for job in running if not await redis.exists(keys.job_lease(job))]
    depth = sum([await asyncio.to_thread(broker.do_qsize, queue_of(lane)) for lane in LANES])
    if depth == 0:
        queued: Any = await redis.zrange(keys.jobs_by_status("queued"), 0, _MOST - 1)
        orphans += queued
    count = 0
    for job in orphans:
        # several workers sweep: one of them is enough
        if await redis.set(keys.job_swept(job), "1", nx=True, px=_AGAIN_MS):
            found = await RedisJobs(redis).get(job)
            if found is None:
                continue
            await asyncio.to_thread(broker.enqueue, message_of(job, found.spec.lane))
            count += 1
    return count
