"""The record of a job's finished steps in Redis: what a killed run continues from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .keys import job_fence, step_order, step_results

if TYPE_CHECKING:
    from redis.asyncio import Redis

# A script runs as one: no kill can part a result from its place in the order.
_PUT = """
if ARGV[3] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[3] then
    return redis.error_reply('FENCED the job was taken over by another worker')
end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then
    redis.call('RPUSH', KEYS[2], ARGV[1])
end
"""


class RedisSteps:
    """A `StepRecord` of one job; with a lease's token nothing is written once it was lost."""

    def __init__(self, redis: Redis, job: str, token: str = "") -> None:
        self._redis = redis
        self._fence, self._token = job_fence(job), token
        self._results, self._order = step_results(job), step_order(job)
        self._put = redis.register_script(_PUT)

    async def get(self, key: str) -> dict[str, Any] | None:
        """See `StepRecord.get`."""
        kept = await self._redis.hget(self._results, key)
        if kept is None:
            return None
        result: dict[str, Any] = json.loads(kept)
        return result

    async def put(self, key: str, result: dict[str, Any]) -> None:
        """See `StepRecord.put`."""
        await self._put(
            keys=[self._results, self._order, self._fence],
            args=[key, json.dumps(result), self._token],
        )

    async def keys(self) -> tuple[str, ...]:
        """See `StepRecord.keys`."""
        return tuple(str(key) for key in await self._redis.lrange(self._order, 0, -1))
