"""The ledger of paid model calls in Redis: an answer that was received is never bought again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import keys
from .usage import COUNT_ONCE, fields, rollout_amounts

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from .usage import RedisUsage

_BATCH = 1000  # digests a command, so that no single one holds up the other workers


class RedisLedgerStore:
    """A `LedgerStore` for all benchmarks and jobs that share the server.

    With a usage, what an answer took is counted in the moment it is kept, and only then: a spool
    that is read again adds nothing.
    """

    def __init__(self, redis: Redis, usage: RedisUsage | None = None) -> None:
        self._redis, self._usage = redis, usage
        self._count_once = redis.register_script(COUNT_ONCE)

    async def get_many(self, digests: list[str]) -> dict[str, dict[str, Any]]:
        """See `LedgerStore.get_many`."""
        found: dict[str, dict[str, Any]] = {}
        for start in range(0, len(digests), _BATCH):
            batch = digests[start : start + _BATCH]
            kept = await self._redis.hmget(keys.ROLLOUTS, batch)
            found |= {
                digest: json.loads(rollout)
                for digest, rollout in zip(batch, kept, strict=True)
                if rollout is not None
            }
        return found

    async def put(self, digest: str, rollout: dict[str, Any]) -> None:
        """See `LedgerStore.put`."""
        # ASCII JSON also carries the unpaired surrogates that models now and then emit.
        kept = json.dumps(rollout)
        if self._usage is None:
            await self._redis.hsetnx(keys.ROLLOUTS, digest, kept)
            return
        amounts = rollout_amounts(rollout)
        new = await self._count_once(
            keys=[keys.ROLLOUTS, *self._usage.hashes], args=[digest, kept, *fields(amounts)]
        )
        if int(new):
            self._usage.note(amounts)
