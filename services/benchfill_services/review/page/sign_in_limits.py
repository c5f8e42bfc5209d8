"""How often signing in may fail: from one address, and from all together."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter

from ...rest.problem import ProblemError
from ...store.keys import LIMITS_PREFIX

if TYPE_CHECKING:
    from redis.asyncio import Redis

PER_ADDRESS = 10
ALL = 300
_WAIT = "60"


async def refuse_too_often(redis: Redis, address: str) -> None:
    """Raise ProblemError (429) where too many wrong keys were given within a minute."""
    limiter = _limiter(redis)
    for limit, who in _limits(address):
        if not await limiter.test(limit, who):
            raise _too_often()


async def count_wrong_key(redis: Redis, address: str) -> None:
    """Count a failed attempt; right keys are not counted, since an office shares one address."""
    limiter = _limiter(redis)
    for limit, who in _limits(address):
        await limiter.hit(limit, who)


def _limits(address: str) -> tuple[tuple[RateLimitItemPerMinute, str], ...]:
    return (
        (RateLimitItemPerMinute(PER_ADDRESS, namespace="sign-in"), _network(address)),
        (RateLimitItemPerMinute(ALL, namespace="sign-in-all"), "all"),
    )


def _limiter(redis: Redis) -> MovingWindowRateLimiter:
    storage = RedisStorage(
        "async+redis://",
        implementation="redispy",
        key_prefix=LIMITS_PREFIX,
        connection_pool=redis.connection_pool,  # type: ignore[arg-type]
    )
    return MovingWindowRateLimiter(storage)


def _too_often() -> ProblemError:
    return ProblemError(
        429,
        "too-often",
        "there were too many attempts to sign in; wait a minute and try again.",
        headers={"Retry-After": _WAIT},
    )


def _network(address: str) -> str:
    """Return what stands for a client: whoever has an IPv6 address has 2^64 of them."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if ip.version == 6:
        return str(ipaddress.ip_network(f"{ip}/64", strict=False))
    return str(ip)
