"""Cases under review in Redis: what is judged, the audit trail, and the queues.

The audit trail is the truth; the queues follow from it and are written with it in one script, so
that no kill can part them. A line is added only if nobody added one since the trail was read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from benchfill.errors import BenchFillError

from ..review.case import Case, Event, ThreadMessage
from . import keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis.asyncio import Redis

QueueName = Literal["open", "disagreement", "decided"]
QUEUES: tuple[QueueName, ...] = ("open", "disagreement", "decided")

# KEYS: case, sequence, all, queue `open`, benchmark, gap. ARGV: candidate, case.
_OPEN = """
if redis.call('SET', KEYS[1], ARGV[2], 'NX') == false then return 0 end
local number = redis.call('INCR', KEYS[2])
for k = 3, 6 do redis.call('ZADD', KEYS[k], number, ARGV[1]) end
return 1
"""
# KEYS: log, all, the three queues. ARGV: candidate, expected length, event, number of the queue,
# then for each reviewer: key of `done`, '1' or '0'.
_APPEND = """
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
local number = redis.call('ZSCORE', KEYS[2], ARGV[1])
redis.call('RPUSH', KEYS[1], ARGV[3])
for k = 3, 5 do
    if k - 2 == tonumber(ARGV[4]) then redis.call('ZADD', KEYS[k], number, ARGV[1])
    else redis.call('ZREM', KEYS[k], ARGV[1]) end
end
for k = 5, #ARGV, 2 do
    if ARGV[k + 1] == '1' then redis.call('ZADD', ARGV[k], number, ARGV[1])
    else redis.call('ZREM', ARGV[k], ARGV[1]) end
end
return 1
"""
# KEYS: the set that is paged, then sets a case must be in, then sets it must not be in.
# ARGV: upper bound, how many, how many sets it must be in.
_PAGE = """
local found, upper, wanted = {}, ARGV[1], tonumber(ARGV[2])
local inside = tonumber(ARGV[3])
while true do
    local some = redis.call(
        'ZREVRANGEBYSCORE', KEYS[1], upper, '-inf', 'WITHSCORES', 'LIMIT', 0, 256
    )
    for k = 1, #some, 2 do
        local fits = true
        for s = 2, #KEYS do
            local has = redis.call('ZSCORE', KEYS[s], some[k]) ~= false
            if has ~= (s <= 1 + inside) then fits = false break end
        end
        if fits then
            found[#found + 1] = some[k]
            found[#found + 1] = some[k + 1]
            if #found >= 2 * wanted then return found end
        end
        upper = '(' .. some[k + 1]
    end
    if #some < 512 then return found end
end
"""
# KEYS: queue, all, sets a case must be in, the one it must not be in. ARGV: candidate, how many
# sets it must be in. Returns the nearest newer and the nearest older case, '' for none.
_BESIDE = """
local number, inside = redis.call('ZSCORE', KEYS[2], ARGV[1]), tonumber(ARGV[2])
if not number then return {'', ''} end
local function nearest(command, last)
    local bound = '(' .. number
    while true do
        local some = redis.call(command, KEYS[1], bound, last, 'WITHSCORES', 'LIMIT', 0, 256)
        for k = 1, #some, 2 do
            local fits = true
            for s = 3, #KEYS do
                local has = redis.call('ZSCORE', KEYS[s], some[k]) ~= false
                if has ~= (s <= 2 + inside) then fits = false break end
            end
            if fits then return some[k] end
            bound = '(' .. some[k + 1]
        end
        if #some < 512 then return '' end
    end
end
return {nearest('ZRANGEBYSCORE', '+inf'), nearest('ZREVRANGEBYSCORE', '-inf')}
"""
_SAY = """
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then return known end
local id = redis.call('XADD', KEYS[1], '*', 'message', ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], id)
return id
"""


class UnknownCaseError(BenchFillError):
    """There is no such candidate, or it is not under review."""

    exit_code = 2


class RedisReviews:
    """All cases of a server."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._open, self._append, self._page, self._beside, self._say = (
            redis.register_script(script) for script in (_OPEN, _APPEND, _PAGE, _BESIDE, _SAY)
        )

    async def open(self, case: Case) -> bool:
        """Put a candidate up for review; False when it is already."""
        new = await self._open(
            keys=[
                keys.review_case(case.id),
                keys.REVIEW_SEQUENCE,
                keys.REVIEW_CASES,
                keys.review_queue("open"),
                keys.review_benchmark(case.benchmark),
                keys.review_gap(case.job, case.gap),
            ],
            args=[case.id, case.model_dump_json()],
        )
        return bool(new)

    async def case(self, candidate: str) -> tuple[Case, list[Event]]:
        """Return a case and its audit trail, oldest line first. Raises UnknownCaseError."""
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.get(keys.review_case(candidate))
            pipe.lrange(keys.review_log(candidate), 0, -1)
            kept, log = await pipe.execute()
        if kept is None:
            raise UnknownCaseError(f"candidate {candidate[:80]} is not under review.")
        return Case.model_validate_json(kept), [Event.model_validate_json(one) for one in log]

    async def cases(self, candidates: Sequence[str]) -> list[tuple[Case, list[Event]]]:
        """Return several at once, in their order; those that are unknown are left out."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for candidate in candidates:
                pipe.get(keys.review_case(candidate))
                pipe.lrange(keys.review_log(candidate), 0, -1)
            kept: Any = await pipe.execute()
        pairs = zip(kept[::2], kept[1::2], strict=True)
        return [
            (Case.model_validate_json(case), [Event.model_validate_json(one) for one in log])
            for case, log in pairs
            if case is not None
        ]

    async def append(
        self,
        candidate: str,
        event: Event,
        *,
        after: int,
        queue: QueueName,
        done: Mapping[str, bool],
    ) -> bool:
        """Add a line to the trail that had `after` lines; False when it has more by now.

        `queue` is where the case stands after it, `done` which reviewers have no verdict to give.
        """
        marks = [
            word
            for one, has in done.items()
            for word in (keys.review_done(one), "1" if has else "0")
        ]
        added = await self._append(
            keys=[
                keys.review_log(candidate),
                keys.REVIEW_CASES,
                *(keys.review_queue(name) for name in QUEUES),
            ],
            args=[
                candidate,
                after,
                event.model_dump_json(exclude_defaults=True),
                QUEUES.index(queue) + 1,
                *marks,
            ],
        )
        return bool(added)

    async def page(  # noqa: PLR0913 - a filter each
        self,
        queue: QueueName,
        *,
        limit: int,
        before: int | None = None,
        done_by: str | None = None,
        not_done_by: str | None = None,
        benchmark: str | None = None,
        gap: tuple[str, str] | None = None,
    ) -> tuple[list[str], int | None]:
        """Return ids of cases, newest first, and the cursor that goes into `before`."""
        inside = [keys.review_done(done_by)] if done_by is not None else []
        inside += [keys.review_benchmark(benchmark)] if benchmark is not None else []
        inside += [keys.review_gap(*gap)] if gap is not None else []
        outside = [keys.review_done(not_done_by)] if not_done_by is not None else []
        upper = "+inf" if before is None else f"({before}"
        found: Any = await self._page(
            keys=[keys.review_queue(queue), *inside, *outside],
            args=[upper, limit + 1, len(inside)],
        )
        ids, numbers = found[::2], found[1::2]
        following = int(numbers[limit - 1]) if len(ids) > limit else None
        return [str(one) for one in ids[:limit]], following

    async def beside(
        self,
        candidate: str,
        reviewer: str,
        *,
        benchmark: str | None = None,
        gap: tuple[str, str] | None = None,
    ) -> tuple[str | None, str | None]:
        """Return the nearest newer and older cases that wait for a reviewer's verdict."""
        inside = [keys.review_benchmark(benchmark)] if benchmark is not None else []
        inside += [keys.review_gap(*gap)] if gap is not None else []
        queue, done = keys.review_queue("open"), keys.review_done(reviewer)
        newer, older = await self._beside(
            keys=[queue, keys.REVIEW_CASES, *inside, done], args=[candidate, len(inside)]
        )
        return (str(newer) or None, str(older) or None)

    async def size(self, queue: QueueName, *, done_by: str | None = None) -> int:
        """Return how many cases are in a queue, or of them those that a reviewer is done with."""
        name = keys.review_queue(queue)
        if done_by is None:
            return int(await self._redis.zcard(name))
        return int(await self._redis.zintercard(2, [name, keys.review_done(done_by)]))

    async def ids(self, *, benchmark: str | None = None) -> list[str]:
        """Return the ids of all cases, or of a benchmark's, oldest first."""
        name = keys.REVIEW_CASES if benchmark is None else keys.review_benchmark(benchmark)
        return [str(one) for one in await self._redis.zrange(name, 0, -1)]

    async def say(self, candidate: str, message: ThreadMessage, *, key: str) -> str:
        """Keep a message and return its id; the first message of a key stays."""
        kept = await self._say(
            keys=[keys.review_thread(candidate), keys.review_thread_ids(candidate)],
            args=[key, message.model_dump_json(exclude={"id"})],
        )
        return str(kept)

    async def message_id(self, candidate: str, key: str) -> str | None:
        """Return the id of the message that was said under a key, or None."""
        found = await self._redis.hget(keys.review_thread_ids(candidate), key)
        return None if found is None else str(found)

    async def message_ids(self, candidate: str) -> dict[str, str]:
        """Return the ids of all messages by the keys under which they were said."""
        kept: Any = await self._redis.hgetall(keys.review_thread_ids(candidate))
        return {str(key): str(message_id) for key, message_id in kept.items()}

    async def said(
        self, candidate: str, *, after: str = "0-0", count: int = 10_000
    ) -> list[ThreadMessage]:
        """Return the messages after an id, oldest first."""
        kept: Any = await self._redis.xrange(
            keys.review_thread(candidate), min=f"({after}", count=count
        )
        return [
            ThreadMessage.model_validate(json.loads(fields["message"]) | {"id": message_id})
            for message_id, fields in kept
        ]

    async def looked(self, candidate: str, reviewer: str, revision: int, at: str) -> None:
        """Note when a reviewer first looked at a revision."""
        await self._redis.hsetnx(keys.review_opened(candidate), f"{revision}:{reviewer}", at)

    async def first_look(self, candidate: str, reviewer: str, revision: int) -> str | None:
        """Return when that was."""
        found = await self._redis.hget(keys.review_opened(candidate), f"{revision}:{reviewer}")
        return None if found is None else str(found)

    async def pseudonym(self, reviewer: str) -> str:
        """Return the name that stands for a reviewer in results: R1, R2, ..."""
        script = """
        local known = redis.call('HGET', KEYS[1], ARGV[1])
        if known then return known end
        local name = 'R' .. (redis.call('HLEN', KEYS[1]) + 1)
        redis.call('HSET', KEYS[1], ARGV[1], name)
        return name
        """
        kept: Any = await self._redis.eval(script, 1, keys.REVIEW_PSEUDONYMS, reviewer)
        return str(kept)
