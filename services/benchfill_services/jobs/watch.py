"""What a fill tells while it runs, as events and in its record."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog
from redis.exceptions import RedisError

from benchfill_agents.messages import CalibrationRound

from ..store.events import RedisEvents
from ..store.jobs import LeaseLostError

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_agents.pool.rollouts import Progress
    from benchfill_agents.target import FillTarget

    from .leasing import Holding
    from .record import Job

_EVERY = 0.5  # seconds between two events of rollouts
_log = structlog.get_logger(__name__)


class Watch:
    """Turns what a fill tells into events, and into the job's record; in order, in one task."""

    def __init__(self, redis: Redis, job: Job, holding: Holding) -> None:
        self._events = RedisEvents(redis, job.id)
        self._lease = holding.lease
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue()
        self._said = 0.0
        self._gap = ""

    async def __aenter__(self) -> Watch:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._waiting.put_nowait(None)
        await self._task

    def message(self, target: FillTarget, author: str, content: Any) -> None:
        """Note what an agent said."""
        self._gap = target.id
        data = {
            "gap": target.id,
            "round": content.round,
            "author": author,
            "kind": type(content).__name__.lower(),
            "text": content.summary(),
        }
        if isinstance(content, CalibrationRound):
            data["chosen"] = content.chosen
        self._waiting.put_nowait(("message", data))

    def rollouts(self, state: Progress) -> None:
        """Note that answers arrived, now and then and at the end of each batch."""
        now = asyncio.get_running_loop().time()
        if state.done < state.total and now - self._said < _EVERY:
            return
        self._said = now
        self._waiting.put_nowait(
            (
                "rollouts",
                {
                    "gap": self._gap or None,
                    "total": state.total,
                    "from_ledger": state.from_ledger,
                    "received": state.received,
                    "failed": state.failed,
                },
            )
        )

    async def _write(self) -> None:
        while (one := await self._waiting.get()) is not None:
            kind, data = one
            try:
                await self._events.append(kind, data)
                if kind == "message":
                    await self._lease.update({"gap": data["gap"], "round": str(data["round"])})
            except (RedisError, LeaseLostError) as error:
                # events are for listeners; what the job needs is kept elsewhere
                _log.warning("event not kept", kind=kind, error=str(error))
