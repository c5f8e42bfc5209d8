"""How often somebody may try to sign in: from one address, and from all together."""

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


async def count_sign_in(redis: Redis, address: str) -> None:
    """Count an attempt. Raises ProblemError (429) when it is one too many."""
    storage = RedisStorage(
        "async+redis://",
        implementation="redispy",
        key_prefix=LIMITS_PREFIX,
        connection_pool=redis.connection_pool,  # type: ignore[arg-type]
    )
    limiter = MovingWindowRateLimiter(storage)
    limit = RateLimitItemPerMinute(PER_ADDRESS, namespace="sign-in")
    if not await limiter.hit(limit, _network(address)):
        raise _too_often()
    if not await limiter.hit(RateLimitItemPerMinute(ALL, namespace="sign-in-all"), "all"):
        raise _too_often()


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
