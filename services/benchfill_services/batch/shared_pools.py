"""The pools of a batch: a model's limit is one for all jobs, and so is the local server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from benchfill_agents.pool.config import LOCAL
from benchfill_agents.pool.local import local_server
from benchfill_agents.pool.pace import Pace
from benchfill_agents.pool.rollouts import LOCAL_SLOTS, RolloutRunner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence

    from benchfill_agents.pool.config import Pool, PoolModel
    from benchfill_agents.pool.ledger import Ledger
    from benchfill_agents.pool.rollout import Rollout
    from benchfill_agents.pool.rollouts import Progress, RolloutRequest


class SharedLimits:
    """A line for each model and each address, in which the calls of all jobs wait.

    Whoever has waited longest goes first, so that the jobs' calls alternate. A model that several
    pool files name (the same name, id and address) has the smallest of their limits.
    """

    def __init__(self, pools: Iterable[Pool]) -> None:
        models: dict[tuple[str, ...], int] = {}
        bases: dict[str, int] = {}
        for pool in pools:
            for model in pool.who_may_judge:
                name = _name(model)
                models[name] = min(models.get(name, model.max_concurrency), model.max_concurrency)
            local = {LOCAL: LOCAL_SLOTS} if pool.needs_local_server else {}
            for base, limit in {**local, **pool.limits}.items():
                bases[base] = min(bases.get(base, limit), limit)
        self.local_slots = bases.get(LOCAL, LOCAL_SLOTS)
        self._models = {name: asyncio.Semaphore(limit) for name, limit in models.items()}
        self._bases = {base: asyncio.Semaphore(limit) for base, limit in bases.items()}

    @contextlib.asynccontextmanager
    async def place(self, model: PoolModel) -> AsyncIterator[None]:
        """Wait for a place for a call to a model, and hold it."""
        own = self._models.setdefault(_name(model), asyncio.Semaphore(model.max_concurrency))
        shared = self._bases.get(model.api_base or "")
        async with own, shared or contextlib.nullcontext():
            yield


def _name(model: PoolModel) -> tuple[str, ...]:
    return model.name, model.litellm_id, model.api_base or ""


class _Runner(RolloutRunner):
    """A runner whose calls wait in the lines of the whole batch."""

    def __init__(  # noqa: PLR0913 - those of a runner
        self,
        pool: Pool,
        ledger: Ledger,
        limits: SharedLimits,
        *,
        on_progress: Callable[[Progress], None] | None,
        local_api_base: Mapping[str, str],
        pace: Pace,
        permit: Callable[[], Awaitable[None]] | None,
        before: Callable[[], Awaitable[None]] | None,
    ) -> None:
        super().__init__(
            pool,
            ledger,
            on_progress=on_progress,
            local_api_base=local_api_base,
            permit=permit,
            pace=pace,
        )
        self._limits = limits  # type: ignore[assignment] # of the same shape
        self._before = before

    async def run(self, requests: Sequence[RolloutRequest]) -> tuple[Rollout, ...]:
        """See `RolloutRunner.run`."""
        # here and not before each call: who waits for a turn must hold no place of a model
        if self._before is not None:
            await self._before()
        return await super().run(requests)


class SharedPools:
    """Opens runners for the jobs of a batch; local servers run from the first need to the end.

    Jobs whose pools are the same also share the pace at which it is asked. An asynchronous context
    manager.
    """

    def __init__(self, pools: Iterable[Pool]) -> None:
        self._limits = SharedLimits(pools)
        self._stack = contextlib.AsyncExitStack()
        self._starting = asyncio.Lock()
        self._local: dict[str, str] = {}
        self._paces: list[tuple[Pool, Pace]] = []

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
        yield _Runner(
            pool,
            ledger,
            self._limits,
            on_progress=on_progress,
            local_api_base={name: self._local[name] for name in pool.local_models},
            pace=self._pace(pool),
            permit=permit,
            before=before,
        )

    def _pace(self, pool: Pool) -> Pace:
        for known, pace in self._paces:
            if known == pool:
                return pace
        self._paces.append((pool, Pace(pool)))
        return self._paces[-1][1]
