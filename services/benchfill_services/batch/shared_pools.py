"""The pools of a batch: limits and rates are one for all jobs, and so is the local server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from benchfill_agents.pool.local import local_server
from benchfill_agents.pool.pace import Pace
from benchfill_agents.pool.rollouts import RolloutRunner
from benchfill_agents.pool.together import CallLimits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from benchfill_agents.pool.config import Pool
    from benchfill_agents.pool.ledger import Ledger
    from benchfill_agents.pool.rollout import Rollout
    from benchfill_agents.pool.rollouts import Progress, RolloutRequest


class _Runner(RolloutRunner):
    """A runner that waits for its job's turn before each batch of rollouts."""

    before: Callable[[], Awaitable[None]] | None = None

    async def run(self, requests: Sequence[RolloutRequest]) -> tuple[Rollout, ...]:
        """See `RolloutRunner.run`."""
        # here and not before each call: who waits for a turn must hold no place of a model
        if self.before is not None:
            await self.before()
        return await super().run(requests)


class SharedPools:
    """Opens runners for the jobs of a batch; local servers run from the first need to the end.

    All calls wait in the same lines, whichever pool file names a model, an address or a key. An
    asynchronous context manager.
    """

    def __init__(self, pools: Iterable[Pool]) -> None:
        pools = tuple(pools)
        self._limits, self._pace = CallLimits(*pools), Pace(*pools)
        self._stack = contextlib.AsyncExitStack()
        self._starting = asyncio.Lock()
        self._local: dict[str, str] = {}

    async def __aenter__(self) -> SharedPools:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @contextlib.asynccontextmanager
    async def open_runner(
        self,
        pool: Pool,
        ledger: Ledger,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        permit: Callable[[], Awaitable[None]] | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncIterator[RolloutRunner]:
        """Give a runner of one job; see `open_runner` of the pool.

        `before` is awaited before each batch of rollouts.
        """
        async with self._starting:
            for name in pool.local_models:
                if name not in self._local:
                    server = local_server(self._limits.local_slots, name)
                    self._local[name] = await self._stack.enter_async_context(server)
        runner = _Runner(
            pool,
            ledger,
            on_progress=on_progress,
            local_api_base={name: self._local[name] for name in pool.local_models},
            permit=permit,
            limits=self._limits,
            pace=self._pace,
        )
        runner.before = before
        yield runner
