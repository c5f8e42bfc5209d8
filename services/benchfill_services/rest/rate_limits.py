"""How often a key may ask: counted in Redis, so that all API processes count together."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter

from ..store.keys import LIMITS_PREFIX
from .problem import ProblemError

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from ..store.api_keys import ApiKey


class RateLimits:
    """Requests of each key in the last minute."""

    def __init__(self, redis: Redis) -> None:
        storage = RedisStorage(
            "async+redis://",
            implementation="redispy",
            key_prefix=LIMITS_PREFIX,
            connection_pool=redis.connection_pool,  # type: ignore[arg-type]
        )
        self._limiter = MovingWindowRateLimiter(storage)

    async def count(self, key: ApiKey) -> None:
        """Count a request. Raises ProblemError (429) when it is one too many."""
        limit = RateLimitItemPerMinute(key.rate_per_minute, namespace="")
        if await self._limiter.hit(limit, key.id):
            return
        window = await self._limiter.get_window_stats(limit, key.id)
        wait = max(1, math.ceil(window.reset_time - time.time()))
        raise ProblemError(
            429,
            "too-often",
            f"this API key may ask {key.rate_per_minute} times a minute; wait {wait} s.",
            headers={"Retry-After": str(wait)},
        )
