"""A worker process: threads that take up jobs, and signs of life."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import time
import uuid
from typing import TYPE_CHECKING

import dramatiq
import structlog
from dramatiq.worker import Worker
from redis.exceptions import RedisError

from ..store import keys
from ..store.connection import connect
from .broker import ACTOR, broker_of, message_of, queue_of
from .run import work_on
from .sweep import sweep

if TYPE_CHECKING:
    from dramatiq.brokers.redis import RedisBroker
    from redis.asyncio import Redis

    from ..settings import Settings
    from .record import Lane

SIGN_OF_LIFE = 2.0  # seconds
_SWEEP = 5.0
_HEARD = 0.1  # seconds until threads have heard that they are to end
_GRACE_MS = 60_000
PATIENCE = 60
"""How often a command is tried again while Redis is away, about a second apart."""
_log = structlog.get_logger(__name__)


class JobWorker:
    """Takes up jobs until it is told to stop.

    One thread takes up small jobs only, so that a small fill never waits for a large one; the
    others take up whatever comes first.
    """

    def __init__(self, settings: Settings, redis: Redis, threads: int) -> None:
        self._settings, self._redis = settings, redis
        self.id = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self._hand_back = threading.Event()
        self._loop = asyncio.get_running_loop()
        # a broker each: Dramatiq allows one worker a broker
        self._crews = [
            self._crew(broker_of(redis), {queue_of("small")}, 1),
            self._crew(broker_of(redis), {queue_of("small"), queue_of("large")}, threads),
        ]

    def _crew(self, broker: RedisBroker, queues: set[str], threads: int) -> Worker:
        def take_up(job_id: str, lane: Lane) -> None:
            self._take_up(broker, job_id, lane)

        register = dramatiq.actor(actor_name=ACTOR, queue_name=queue_of("small"), broker=broker)
        register(take_up)
        worker = Worker(broker, queues=queues, worker_threads=threads, worker_timeout=500)
        # what is taken from the queue beyond that waits here, while another worker may be idle
        worker.queue_prefetch = threads
        return worker

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT; then finish the running steps and hand back the rest."""
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, stop.set)
        for crew in self._crews:
            crew.start()
        _log.info("worker started", worker=self.id)
        living = asyncio.create_task(self._live())
        try:
            await stop.wait()
        finally:
            _log.info("worker ends", worker=self.id, after="running calls and fits")
            # the crews first, or they would take up again what is handed back
            stopping = [asyncio.to_thread(crew.stop, _GRACE_MS) for crew in self._crews]
            ended = asyncio.gather(*stopping)
            await asyncio.sleep(_HEARD)
            self._hand_back.set()
            await ended
            living.cancel()
            with contextlib.suppress(RedisError):
                await self._redis.zrem(keys.WORKERS, self.id)

    async def _live(self) -> None:
        """Give signs of life, and look after jobs that nobody works on."""
        swept = 0.0
        broker = broker_of(self._redis)
        while True:
            try:
                await self._redis.zadd(keys.WORKERS, {self.id: time.time()})
                if time.monotonic() - swept > _SWEEP:
                    swept = time.monotonic()
                    count = await sweep(self._redis, broker)
                    if count:
                        _log.info("jobs put back into the queue", count=count)
            except Exception as error:  # Redis may be away for a while
                _log.warning("redis is away", error=str(error))
            await asyncio.sleep(SIGN_OF_LIFE)

    def _take_up(self, broker: RedisBroker, job_id: str, lane: Lane) -> None:
        """Have a job worked on, and wait for it: as many are at work as there are threads."""
        try:
            # one event loop for all jobs: litellm's tasks belong to that of its first call
            ended = asyncio.run_coroutine_threadsafe(
                work_on(self._redis, self._settings, job_id, self._hand_back), self._loop
            ).result()
        except Exception as error:  # the sweep finds the job again
            _log.error("job left", job=job_id, exc_info=error)
            return
        # one that is busy elsewhere needs no message: should its worker die, the sweep finds it
        if ended == "handed_back":
            broker.enqueue(message_of(job_id, lane))


async def run_worker(settings: Settings, threads: int) -> None:
    """Run a worker until it is told to stop."""
    url = settings.redis_url
    address = url.get_secret_value() if url else None
    async with connect(address, settings.data_dir, patience=PATIENCE) as redis:
        await JobWorker(settings, redis, threads).run()
