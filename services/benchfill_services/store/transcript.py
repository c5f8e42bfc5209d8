"""The transcript of one gap: what the agents said to one another, kept in a Redis stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .keys import transcript_ids, transcript_log

if TYPE_CHECKING:
    from redis.asyncio import Redis

# A resumed job says its last message again: the key decides whether it was heard before.
_APPEND = """
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
    return known
end
local id = redis.call('XADD', KEYS[1], '*', 'key', ARGV[1], 'message', ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], id)
return id
"""


class RedisTranscript:
    """Messages of one gap of one job, in the order they were first appended."""

    def __init__(self, redis: Redis, job: str, gap: str) -> None:
        self._redis = redis
        self._log, self._ids = transcript_log(job, gap), transcript_ids(job, gap)
        self._append = redis.register_script(_APPEND)

    async def append(self, message: dict[str, Any], *, key: str) -> str:
        """Keep a message and return its id; the first message of a key stays."""
        message_id = await self._append(
            keys=[self._log, self._ids], args=[key, json.dumps(message)]
        )
        return str(message_id)

    async def read(self) -> list[dict[str, Any]]:
        """Return all messages, oldest first."""
        kept: Any = await self._redis.xrange(self._log)
        return [json.loads(fields["message"]) for _, fields in kept]
