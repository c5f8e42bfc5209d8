"""The transcript of one gap: what the agents said to one another, kept in a Redis stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .keys import job_fence, transcript_ids, transcript_log

if TYPE_CHECKING:
    from redis.asyncio import Redis

# A resumed job says its last message again: the key decides whether it was heard before.
_APPEND = """
if ARGV[3] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[3] then
    return redis.error_reply('FENCED the job was taken over by another worker')
end
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
    return known
end
local id = redis.call('XADD', KEYS[1], '*', 'key', ARGV[1], 'message', ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], id)
return id
"""


class RedisTranscript:
    """Messages of one gap of one job, oldest first; fenced as steps are."""

    def __init__(self, redis: Redis, job: str, gap: str, token: str = "") -> None:
        self._redis = redis
        self._fence, self._token = job_fence(job), token
        self._log, self._ids = transcript_log(job, gap), transcript_ids(job, gap)
        self._append = redis.register_script(_APPEND)

    async def append(self, message: dict[str, Any], *, key: str) -> str:
        """Keep a message and return its id; the first message of a key stays."""
        message_id = await self._append(
            keys=[self._log, self._ids, self._fence],
            args=[key, json.dumps(message), self._token],
        )
        return str(message_id)

    async def read(self) -> list[dict[str, Any]]:
        """Return all messages, oldest first."""
        return [message for _, message in await self.read_with_ids()]

    async def read_with_ids(self) -> list[tuple[str, dict[str, Any]]]:
        """Return all messages with their ids, oldest first."""
        kept: Any = await self._redis.xrange(self._log)
        return [(str(message_id), json.loads(fields["message"])) for message_id, fields in kept]

    async def window(
        self, *, before: str | None = None, after: str | None = None, count: int
    ) -> list[tuple[str, dict[str, Any]]]:
        """Return up to `count` messages with their ids, oldest first.

        Those just before an id, or just after one; the newest where none is named.
        """
        kept: Any
        if after is not None:
            kept = await self._redis.xrange(self._log, min=f"({after}", count=count)
        else:
            upper = "+" if before is None else f"({before}"
            kept = await self._redis.xrevrange(self._log, max=upper, count=count)
            kept = kept[::-1]
        return [(str(one), json.loads(fields["message"])) for one, fields in kept]
