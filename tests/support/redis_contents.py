"""All that a server holds, in a form that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redis.asyncio import Redis


async def contents(redis: Redis) -> dict[str, Any]:
    """Return the value of every key; what expires is marked, whenever it does."""
    found: dict[str, Any] = {}
    for key in await redis.keys("*"):
        match await redis.type(key):
            case "string":
                value: Any = await redis.get(key)
            case "hash":
                value = await redis.hgetall(key)
            case "list":
                value = await redis.lrange(key, 0, -1)
            case "set":
                value = await redis.smembers(key)
            case "zset":
                value = await redis.zrange(key, 0, -1, withscores=True)
            case "stream":
                value = await redis.xrange(key)
            case other:
                raise AssertionError(f"{key} is a {other}")
        found[key] = (value, "expires") if await redis.ttl(key) >= 0 else value
    return found
