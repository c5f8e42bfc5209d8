"""Dramatiq over the same Redis: the queues, and how a job gets into one.

A message is only a hint that a job may be taken up: the job's record says what is to be done, and
its lease who does it. So a message that comes twice does no harm, and one that is lost is replaced
by the next sweep (`jobs.sweep`).
"""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any

import dramatiq
import redis as sync_redis
from dramatiq.brokers.redis import RedisBroker

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from .record import Lane

NAMESPACE = "benchfill:queue"
ACTOR = "work_on"
LANES: tuple[Lane, ...] = ("small", "large")
HEARTBEAT_MS = 5_000
_MAINTENANCE = 200_000  # of a million commands; the default finds a dead worker's jobs in minutes


def queue_of(lane: Lane) -> str:
    """Return the name of a lane's queue."""
    return f"jobs-{lane}"


def broker_of(redis: Redis) -> RedisBroker:
    """Return a broker on the server that an asynchronous client uses."""
    pool = redis.connection_pool
    given: dict[str, Any] = dict(pool.connection_kwargs)
    kept = (
        "host", "port", "db", "username", "password", "path",
        "socket_timeout", "socket_connect_timeout", "socket_keepalive",
    )  # fmt: skip
    arguments = {name: given[name] for name in kept if name in given}
    if "path" in arguments:
        kind: Any = sync_redis.UnixDomainSocketConnection
        arguments.pop("host", None)
        arguments.pop("port", None)
    elif "SSL" in pool.connection_class.__name__:
        kind = sync_redis.SSLConnection
        arguments |= {name: value for name, value in given.items() if name.startswith("ssl_")}
    else:
        kind = sync_redis.Connection
    client = sync_redis.Redis(
        connection_pool=sync_redis.ConnectionPool(connection_class=kind, **arguments)
    )
    broker: RedisBroker = RedisBroker(  # type: ignore[no-untyped-call]
        client=client,
        middleware=[],
        namespace=NAMESPACE,
        heartbeat_timeout=HEARTBEAT_MS,
        maintenance_chance=_MAINTENANCE,
    )
    for lane in LANES:
        broker.declare_queue(queue_of(lane))
    return broker


def message_of(job_id: str, lane: Lane) -> dramatiq.Message[Any]:
    """Return the message that asks for a job to be taken up."""
    return dramatiq.Message(
        queue_name=queue_of(lane), actor_name=ACTOR, args=(job_id, lane), kwargs={}, options={}
    )


async def enqueue(redis: Redis, job_id: str, lane: Lane) -> None:
    """Ask for a job to be taken up by any worker."""
    broker = _brokers.get(redis.connection_pool)
    if broker is None:
        broker = _brokers[redis.connection_pool] = broker_of(redis)
    await asyncio.to_thread(broker.enqueue, message_of(job_id, lane))


# as long as the clients they were made from
_brokers: weakref.WeakKeyDictionary[Any, RedisBroker] = weakref.WeakKeyDictionary()
