"""The ledger of paid model calls in Redis: an answer that was received is never bought again."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from . import keys
from .usage import COUNT_ONCE, fields, rollout_amounts

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from .usage import RedisUsage

_BATCH = 1000  # digests a command, so that no single one holds up the other workers


_CLAIM = """
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if kept then return {'kept', kept} end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then return {'taken', ''} end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return {'ours', ''}
"""
_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""
_CLAIM_MS = 120_000  # after that a claim of a killed run stands in nobody's way


class RedisLedgerStore:
    """A `LedgerStore` for all benchmarks and jobs that share the server.

    With a usage, what an answer took is counted in the moment it is kept, and only then: a spool
    that is read again adds nothing. Claims are made in the name of `owner`, a job: whoever goes on
    with it finds its own.
    """

    def __init__(
        self, redis: Redis, usage: RedisUsage | None = None, owner: str | None = None
    ) -> None:
        self._redis, self._usage = redis, usage
        self._owner = owner or uuid.uuid4().hex
        self._keep = redis.register_script(COUNT_ONCE)
        self._claim = redis.register_script(_CLAIM)
        self._release = redis.register_script(_RELEASE)

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
        amounts = rollout_amounts(rollout) if self._usage is not None else {}
        hashes = self._usage.hashes if self._usage is not None else []
        new = await self._keep(
            keys=[keys.ROLLOUTS, keys.rollout_claim(digest), *hashes],
            args=[digest, kept, *fields(amounts)],
        )
        if int(new) and self._usage is not None:
            self._usage.note(amounts)

    async def claim(self, digest: str) -> dict[str, Any] | bool:
        """See `LedgerStore.claim`."""
        said, kept = await self._claim(
            keys=[keys.ROLLOUTS, keys.rollout_claim(digest)], args=[digest, self._owner, _CLAIM_MS]
        )
        if said == "kept":
            rollout: dict[str, Any] = json.loads(kept)
            return rollout
        return bool(said == "ours")

    async def release(self, digest: str) -> None:
        """See `LedgerStore.release`."""
        await self._release(keys=[keys.rollout_claim(digest)], args=[self._owner])
