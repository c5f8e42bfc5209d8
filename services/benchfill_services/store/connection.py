"""The way into Redis: the server of a URL, or the embedded one."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from redis.asyncio import Redis
from redis.asyncio.connection import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from benchfill.errors import BenchFillError, InputError, InterruptedRunError

from .embedded import embedded_valkey
from .migrations import bring_up_to_date

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

_OPTION = "BENCHFILL_REDIS_URL"
PATIENCE = 3
_MALFORMED = (
    "is not a URL like redis://user:password@host:6379/0 or unix:///path/to/socket; "
    "percent-encode special characters of the password."
)
# Stricter than redis-py: a password with a raw @, / or # would end up in the address we print.
_URL = re.compile(
    r"(?:rediss?://(?:[^@/?#\s]*@)?(?P<host>(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d+)?)(?:/\d*)?"
    r"|unix://(?:[^@/?#\s]*@)?(?P<path>/[^@?#]+))(?:\?[^#\s]*)?"
)


@asynccontextmanager
async def connect(
    url: str | None, data_dir: Path, *, patience: int = PATIENCE
) -> AsyncIterator[Redis]:
    """Connect to the server of a URL or, without one, to the embedded server of a data folder.

    A command that finds the server away is tried again `patience` times, at most a second apart.

    Raises
    ------
    InputError
        The server cannot be reached or used.
    InterruptedRunError
        The server was lost while it was in use.
    """
    where = f"the embedded Valkey of {data_dir}" if url is None else f"Redis at {_address(url)}"
    opened = embedded_valkey(data_dir) if url is None else _remote(url, patience)
    try:
        async with opened as redis:
            await _check(redis, where)
            yield redis
    except (RedisConnectionError, RedisTimeoutError) as error:
        raise InterruptedRunError(
            f"{where} was lost ({_said(error)}); everything recorded is kept, run the same command "
            "again to go on."
        ) from error
    except RedisError as error:
        raise BenchFillError(f"{where} refused a command ({_said(error)}).") from error


@asynccontextmanager
async def _remote(url: str, patience: int) -> AsyncIterator[Redis]:
    # All we send may be sent twice, so a server that restarts is simply asked again.
    retry = Retry(ExponentialWithJitterBackoff(cap=1.0, base=0.1), retries=patience)
    # a connection over a socket file knows no such option
    keepalive = {} if url.startswith("unix:") else {"socket_keepalive": True}
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            decode_responses=True,
            timeout=None,
            retry=retry,
            socket_connect_timeout=5,
            socket_timeout=10,
            **keepalive,
        )
    except ValueError:  # its text may repeat parts of the URL
        raise InputError(_MALFORMED, source=_OPTION) from None
    async with Redis.from_pool(pool) as redis:
        yield redis


async def _check(redis: Redis, where: str) -> None:
    try:
        await bring_up_to_date(redis, where)
    except RedisError as error:
        raise InputError(
            f"{where} cannot be used ({_said(error)}); start it, or unset {_OPTION} to use the "
            "embedded one."
        ) from None


def _address(url: str) -> str:
    matched = _URL.fullmatch(url)
    if matched is None:
        raise InputError(_MALFORMED, source=_OPTION)
    return matched["host"] or matched["path"]


def _said(error: RedisError) -> str:
    return str(error).rstrip(".") or type(error).__name__
