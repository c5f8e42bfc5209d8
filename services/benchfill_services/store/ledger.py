"""The ledger of paid model calls in Redis: an answer that was received is never bought again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .keys import ROLLOUTS

if TYPE_CHECKING:
    from redis.asyncio import Redis

_BATCH = 1000  # digests a command, so that no single one holds up the other workers


class RedisLedgerStore:
    """A `LedgerStore` for all benchmarks and jobs that share the server."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def get_many(self, digests: list[str]) -> dict[str, dict[str, Any]]:
        """See `LedgerStore.get_many`."""
        found: dict[str, dict[str, Any]] = {}
        for start in range(0, len(digests), _BATCH):
            batch = digests[start : start + _BATCH]
            kept = await self._redis.hmget(ROLLOUTS, batch)
            found |= {
                digest: json.loads(rollout)
                for digest, rollout in zip(batch, kept, strict=True)
                if rollout is not None
            }
        return found

    async def put(self, digest: str, rollout: dict[str, Any]) -> None:
        """See `LedgerStore.put`."""
        # ASCII JSON also carries the unpaired surrogates that models now and then emit.
        await self._redis.hsetnx(ROLLOUTS, digest, json.dumps(rollout))
