"""The memory of items and difficulties in Redis, shared by all workers and kept between runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchfill_agents.memory import MemoryEntry

from .keys import memory_entries, memory_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis.asyncio import Redis

    Place = tuple[str, float]  # item id and z, as a sorted set returns them


class RedisMemory:
    """A `Memory` of one benchmark; several live side by side in one server.

    Redis orders equal scores by the id's UTF-8 bytes, which is the order of Python's strings.
    """

    def __init__(self, redis: Redis, benchmark: str) -> None:
        self._redis = redis
        self._order, self._entries = memory_order(benchmark), memory_entries(benchmark)

    async def add(self, *entries: MemoryEntry) -> None:
        """See `Memory.add`."""
        if not entries:
            return
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(
                self._entries,
                mapping={entry.item.id: json.dumps(entry.model_dump()) for entry in entries},
            )
            pipe.zadd(self._order, {entry.item.id: entry.z for entry in entries})
            await pipe.execute()

    async def get(self, item_id: str) -> MemoryEntry | None:
        """See `Memory.get`."""
        kept = await self._redis.hget(self._entries, item_id)
        return None if kept is None else _entry(kept)

    async def nearest(self, z: float, count: int) -> tuple[MemoryEntry, ...]:
        """See `Memory.nearest`."""
        if count <= 0:
            return ()
        below, above = await self._around(z, count)
        ranked = _ranked(below + above, z)[:count]
        if not ranked:
            return ()
        # Ties at the last distance kept are decided by id, so all of them must have been seen.
        farthest = ranked[-1][0]
        below = await self._complete(below, z, farthest, upwards=False, page=count)
        above = await self._complete(above, z, farthest, upwards=True, page=count)
        ranked = _ranked(below + above, z)[:count]
        return await self._read(item_id for _, item_id in ranked)

    async def neighbours(
        self, z: float, per_side: int
    ) -> tuple[tuple[MemoryEntry, ...], tuple[MemoryEntry, ...]]:
        """See `Memory.neighbours`."""
        if per_side <= 0:
            return (), ()
        below, above = await self._around(z, per_side)
        return (
            await self._read(item_id for item_id, _ in below),
            await self._read(item_id for item_id, _ in above),
        )

    async def entries(self) -> tuple[MemoryEntry, ...]:
        """See `Memory.entries`."""
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zrange(self._order, 0, -1)
            pipe.hgetall(self._entries)
            order, kept = await pipe.execute()
        return tuple(_entry(kept[item_id]) for item_id in order)

    async def _around(self, z: float, count: int) -> tuple[list[Place], list[Place]]:
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zrevrangebyscore(
                self._order, _below(z), "-inf", start=0, num=count, withscores=True
            )
            pipe.zrangebyscore(self._order, z, "+inf", start=0, num=count, withscores=True)
            below, above = await pipe.execute()
        return _places(below), _places(above)

    async def _complete(
        self, side: list[Place], z: float, farthest: float, *, upwards: bool, page: int
    ) -> list[Place]:
        """Walk on along one side until all places up to a distance have been seen."""
        side = list(side)
        while len(side) >= page and len(side) % page == 0 and abs(side[-1][1] - z) <= farthest:
            window: dict[str, Any] = {"start": len(side), "num": page, "withscores": True}
            more: Any
            if upwards:
                more = await self._redis.zrangebyscore(self._order, z, "+inf", **window)
            else:
                more = await self._redis.zrevrangebyscore(self._order, _below(z), "-inf", **window)
            if not more:
                break
            side += _places(more)
        return side

    async def _read(self, item_ids: Iterable[str]) -> tuple[MemoryEntry, ...]:
        wanted = list(item_ids)
        if not wanted:
            return ()
        kept = await self._redis.hmget(self._entries, wanted)
        return tuple(_entry(entry) for entry in kept if entry is not None)


def _below(z: float) -> str:
    return f"({z!r}"


def _entry(kept: str | bytes) -> MemoryEntry:
    return MemoryEntry.model_validate(json.loads(kept))


def _places(pairs: Iterable[tuple[Any, Any]]) -> list[Place]:
    return [(str(item_id), float(z)) for item_id, z in pairs]


def _ranked(places: list[Place], z: float) -> list[tuple[float, str]]:
    # A mapping, because an item that another worker moves meanwhile may be met on both sides.
    return sorted((abs(place_z - z), item_id) for item_id, place_z in dict(places).items())
