"""Holding a job while it is worked on: renewing the lease, hearing of cancels, stopping in time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from benchfill.errors import BenchFillError

from ..store.jobs import JobLease, LeaseLostError

if TYPE_CHECKING:
    import threading

    from redis.asyncio import Redis

LEASE_MS = 8_000
"""How long a worker that went silent keeps its job from others."""
_EVERY = 0.5
_MARGIN = 1.0


class HandedBackError(BenchFillError):
    """The worker ends; the job goes on elsewhere from its last step."""


class Holding:
    """The lease of one job. `keep` runs beside the work, whose calls each ask for `permit`.

    A call may only go out while nobody else can have the job: until a second before the lease ends
    by this machine's clock. When Redis is away calls wait; they go on if the lease is still ours.
    """

    def __init__(self, lease: JobLease, hand_back: threading.Event) -> None:
        self.lease = lease
        self.cancelled = False
        self._hand_back = hand_back
        self._until = time.monotonic() + LEASE_MS / 1000 - _MARGIN
        self._lost: LeaseLostError | None = None
        self._renewed = asyncio.Event()

    @classmethod
    async def take(cls, redis: Redis, job: str, hand_back: threading.Event) -> Holding | None:
        """Take the lease; None while somebody else has it."""
        lease = await JobLease.acquire(redis, job, LEASE_MS)
        return None if lease is None else cls(lease, hand_back)

    async def permit(self) -> None:
        """Wait until a call may go out.

        Raises
        ------
        LeaseLostError
            Another worker has the job.
        HandedBackError
            This worker is to end.
        """
        while True:
            if self._lost is not None:
                raise self._lost
            if self._hand_back.is_set():
                raise HandedBackError("the worker ends; the job goes on elsewhere.")
            if time.monotonic() < self._until:
                return
            self._renewed.clear()
            await self._renewed.wait()

    async def keep(self, work: asyncio.Task[object]) -> None:
        """Renew the lease until the work ends; end it when it is cancelled or the lease is lost."""
        while not work.done():
            began = time.monotonic()
            try:
                said = await self.lease.renew()
            except LeaseLostError as error:
                self._lost = error
                self._renewed.set()
                work.cancel()
                return
            except RedisError:
                await asyncio.sleep(_EVERY)  # it may be back before the lease ends
                continue
            self._until = began + LEASE_MS / 1000 - _MARGIN
            self._renewed.set()
            if said == "cancel" and not self.cancelled:
                self.cancelled = True
                work.cancel()
            await asyncio.wait({work}, timeout=_EVERY)
            if self._hand_back.is_set():
                self._renewed.set()

    @property
    def lost(self) -> bool:
        """Whether another worker has the job."""
        return self._lost is not None
