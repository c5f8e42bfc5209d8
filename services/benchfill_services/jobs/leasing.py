"""Holding a job while it is worked on: renewing the lease, hearing of cancels, stopping in time."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING

from benchfill.errors import BenchFillError, InterruptedRunError

from ..store.jobs import JobLease, LeaseLostError

if TYPE_CHECKING:
    import threading

    from redis.asyncio import Redis

LEASE_MS = 8_000
"""How long a worker that went silent keeps its job from others."""
_EVERY = 0.5
_MARGIN = 1.0
_TRIES = 3  # of renewing that fail in a row, at least, before Redis is taken to be gone


class HandedBackError(BenchFillError):
    """The worker ends; the job goes on elsewhere from its last step."""


class Holding:
    """The lease of one job. `keep` runs beside the work, whose calls each ask for `permit`.

    A call may only go out while nobody else can have the job: until a second before the lease ends
    by this machine's clock. When Redis is away calls wait; they go on if the lease is still ours.
    After `patience` seconds without Redis the work is ended.
    """

    def __init__(
        self, lease: JobLease, hand_back: threading.Event, *, patience: float = math.inf
    ) -> None:
        self.lease = lease
        self.cancelled = False
        self.error: BenchFillError | None = None
        """Why the job is not ours any more."""
        self._hand_back = hand_back
        self._patience = patience
        self._until = time.monotonic() + LEASE_MS / 1000 - _MARGIN
        self._renewed = asyncio.Event()

    @classmethod
    async def take(
        cls, redis: Redis, job: str, hand_back: threading.Event, *, patience: float = math.inf
    ) -> Holding | None:
        """Take the lease; None while somebody else has it."""
        lease = await JobLease.acquire(redis, job, LEASE_MS)
        return None if lease is None else cls(lease, hand_back, patience=patience)

    async def permit(self) -> None:
        """Wait until a call may go out.

        Raises
        ------
        LeaseLostError
            Another worker has the job.
        HandedBackError
            This worker is to end.
        InterruptedRunError
            Redis has been away for too long.
        """
        while True:
            if self.error is not None:
                raise self.error
            if self._hand_back.is_set():
                raise HandedBackError("the worker ends; the job goes on elsewhere.")
            if time.monotonic() < self._until:
                return
            self._renewed.clear()
            await self._renewed.wait()

    async def keep(self, work: asyncio.Task[object]) -> None:
        """Renew the lease until the work ends; end it when it is cancelled or the lease is lost."""
        tries, since = 0, 0.0
        while not work.done():
            began = time.monotonic()
            try:
                said = await self.lease.renew()
            except LeaseLostError as error:
                self._give_up(error, work)
                return
            except Exception as error:
                # Whatever the client makes of it (not all are its own errors) Redis is away. It may
                # be back before the lease ends; calls would wait for ever if nobody renewed it.
                # Counted from the first failure: a machine that stood still tells nothing of Redis.
                tries, since = tries + 1, since if tries else time.monotonic()
                if tries >= _TRIES and time.monotonic() - since > self._patience:
                    self._give_up(InterruptedRunError(_away(since, error)), work)
                    return
                await asyncio.sleep(_EVERY)
                continue
            tries = 0
            self._until = began + LEASE_MS / 1000 - _MARGIN
            self._renewed.set()
            if said == "cancel" and not self.cancelled:
                self.cancelled = True
                work.cancel()
            await asyncio.wait({work}, timeout=_EVERY)
            if self._hand_back.is_set():
                self._renewed.set()

    def _give_up(self, error: BenchFillError, work: asyncio.Task[object]) -> None:
        self.error = error
        self._renewed.set()
        work.cancel()

    @property
    def lost(self) -> bool:
        """Whether the job is not ours any more."""
        return self.error is not None


def _away(since: float, error: Exception) -> str:
    said = str(error).rstrip(".") or type(error).__name__
    return (
        f"Redis has not answered for {time.monotonic() - since:.0f} seconds ({said}); everything "
        "recorded is kept, run the same command again to go on."
    )
