"""Rollouts: the pool's models answer items, each answer bought at most once."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.errors import BenchFillError, InputError, ProviderError

from ..domains import first_problem
from ..domains.multiple_choice import choice_order, reordered
from .asking import Asker, Budget, Order
from .calls import Caller, addresses
from .config import LOCAL, Pool, PoolModel
from .door import Door
from .external import ExternalAsker
from .local import local_servers
from .marking import Marker
from .pace import Pace
from .prompting import SolvePrompt, build_prompt
from .rejections import Rejections
from .rollout import Rollout, RolloutKey
from .together import LOCAL_SLOTS, CallLimits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence

    from benchfill.items import Item

    from .ledger import Ledger

_FAILURES_IN_A_ROW = 8


@dataclass(frozen=True)
class RolloutRequest:
    """One answer that is wanted: from a model of the pool (by name), to an item."""

    model: str
    item: Item
    sample: int


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    total: int
    from_ledger: int
    received: int
    failed: int

    @property
    def done(self) -> int:
        """Rollouts that need no more work."""
        return self.from_ledger + self.received + self.failed


class RolloutRunner:
    """Gets rollouts from the ledger, and buys the ones that it lacks.

    `budget` bounds the calls of this runner that a provider may charge for. `local_api_base` is
    the address of the local server, if the pool needs it (of several: by model); `open_runner`
    starts them. `backoff` is the longest first wait before another try, in seconds; it doubles from
    try to try. `permit` is awaited before each call, and raises a BenchFillError when none may go
    out any more. `limits` and `pace` are for those who share them with other runners.
    """

    def __init__(  # noqa: PLR0913 - keyword-only but for two
        self,
        pool: Pool,
        ledger: Ledger,
        *,
        budget: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        local_api_base: str | Mapping[str, str] | None = None,
        backoff: float = 1.0,
        permit: Callable[[], Awaitable[None]] | None = None,
        limits: CallLimits | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._local = addresses(local_api_base)
        lacking = set(pool.local_models) - set(self._local)
        if lacking:
            raise ValueError(f"the pool needs a local server of {min(lacking)}; use open_runner")
        self._pool = pool
        self._ledger = ledger
        self._on_progress = on_progress
        self._pace = pace or Pace(pool)
        self._rejections = Rejections(pool)
        self._backoff = backoff
        self._models = {model.name: model for model in pool.models}
        self._marker = Marker(pool.scoring)
        self._prompts: dict[tuple[str, str, str | None], SolvePrompt] = {}
        self._limits = limits or CallLimits(pool)
        self.budget = Budget(budget)
        self._permit = permit
        self.retries: Counter[str] = Counter()
        """Tries beyond the first so far, by what made them necessary."""

    def address_of(self, model: PoolModel) -> str | None:
        """Return where a model is asked; None for its provider's own address."""
        return self._local[model.local_model] if model.api_base == LOCAL else model.api_base

    def door_of(self, model: PoolModel) -> Door:
        """Return the way out for a model's calls that are no rollouts, in the lines of these."""
        return Door(model, self._pace, self._limits.place)

    def key_of(self, request: RolloutRequest) -> RolloutKey:
        """Return the key under which the ledger keeps this rollout."""
        model = self._model(request.model)
        return RolloutKey(
            model=model.parameters_hash,
            prompt=self._prompt(model, self._shown(request)[0]).sha256,
            item=request.item.content_hash,
            sample=request.sample,
        )

    async def known(self, requests: Iterable[RolloutRequest]) -> tuple[Rollout, ...]:
        """Return those of the rollouts that the ledger has; nothing is bought."""
        wanted = [(request, self.key_of(request)) for request in requests]
        found = await self._ledger.get_many(key for _, key in wanted)
        return tuple(
            await asyncio.gather(
                *(
                    self._labelled(found[key.digest], request)
                    for request, key in wanted
                    if key.digest in found
                )
            )
        )

    async def run(self, requests: Sequence[RolloutRequest]) -> tuple[Rollout, ...]:
        """Return a rollout for each request, in their order.

        Raises BudgetExhaustedError or ProviderError once the calls in flight have come back; what
        was received is kept, and the next run gets it from the ledger.
        """
        self._check_references(requests)
        keys = [self.key_of(request) for request in requests]
        found = await self._ledger.get_many(keys)
        orders = {
            key.digest: self._order(request, key)
            for request, key in zip(requests, keys, strict=True)
            if key.digest not in found
        }
        if orders:
            found |= await self._buy(list(orders.values()), from_ledger=len(found))
        return tuple(
            await asyncio.gather(
                *(
                    self._labelled(found[key.digest], request)
                    for request, key in zip(requests, keys, strict=True)
                )
            )
        )

    async def _buy(self, orders: list[Order], *, from_ledger: int) -> dict[str, Rollout]:
        caller = Caller(self._local)
        asker = Asker(
            self._ledger,
            marker=self._marker,
            budget=self.budget,
            caller=caller,
            pace=self._pace,
            rejections=self._rejections,
            backoff=self._backoff,
            permit=self._permit,
        )
        external = ExternalAsker(
            self._ledger, self._marker, self.budget, asker.stopping, self._permit
        )
        try:
            return await _Purchase(
                asker,
                external,
                self._limits,
                from_ledger=from_ledger,
                on_progress=self._on_progress,
            ).buy(orders)
        finally:
            self.retries += asker.retries + external.retries
            await caller.close()

    def _order(self, request: RolloutRequest, key: RolloutKey) -> Order:
        model = self._model(request.model)
        item, choice_order = self._shown(request)
        return Order(key, model, item, self._prompt(model, item), choice_order)

    def _shown(self, request: RolloutRequest) -> tuple[Item, tuple[int, ...] | None]:
        """Return the item as this sample shows it, and the order of its options if it is drawn."""
        item = request.item
        domain = self._marker.domain(item)
        if not self._pool.shuffle_choices or domain.name != "multiple_choice":
            return item, None
        order = choice_order(item, request.sample)
        return reordered(item, order), order

    def _model(self, name: str) -> PoolModel:
        if name not in self._models:
            raise InputError(f"the pool has no model {name!r}; it has {', '.join(self._models)}.")
        return self._models[name]

    def _prompt(self, model: PoolModel, item: Item) -> SolvePrompt:
        scoring = self._pool.scoring
        place = (model.name, item.content_hash, item.domain)
        if place not in self._prompts:
            self._prompts[place] = build_prompt(model, self._pool.shots_of(model), item, scoring)
        return self._prompts[place]

    def _check_references(self, requests: Sequence[RolloutRequest]) -> None:
        """Refuse an item that cannot be scored before anything is paid for it."""
        items = {request.item.id: request.item for request in requests}
        found = first_problem(items.values(), self._pool.scoring)
        if found is not None:
            item, problem = found
            domain = self._marker.domain(item).name
            raise InputError(
                f"item {item.id!r} cannot be scored as {domain}: {problem[:1].lower()}"
                f"{problem[1:].removesuffix('.')}; correct the item, or name another domain in it "
                "or in the pool file (`scoring`)."
            )

    async def _labelled(self, rollout: Rollout, request: RolloutRequest) -> Rollout:
        """Score a kept answer as this pool scores, under the names that are used now."""
        changes: dict[str, object] = {"model_name": request.model, "item_id": request.item.id}
        style = self._model(request.model).style
        changes |= await self._marker.again(rollout, request.item, style)
        return rollout.model_copy(update=changes)


class _Purchase:
    """One run's purchases: workers for each model, which stop at the first fatal error."""

    def __init__(
        self,
        asker: Asker,
        external: ExternalAsker,
        limits: CallLimits,
        *,
        from_ledger: int,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._asker = asker
        self._external = external
        self._limits = limits
        self._from_ledger = from_ledger
        self._on_progress = on_progress
        self._bought: dict[str, Rollout] = {}
        self._failed = 0
        self._failed_in_a_row: Counter[str] = Counter()
        self._fatal: BenchFillError | None = None

    async def buy(self, orders: list[Order]) -> dict[str, Rollout]:
        """Return the rollouts by digest. A cancelled run drops the calls that are out."""
        self._total = self._from_ledger + len(orders)
        self._report()
        by_model: dict[str, deque[Order]] = {}
        for order in orders:
            by_model.setdefault(order.model.name, deque()).append(order)
        async with asyncio.TaskGroup() as group:
            for queue in by_model.values():
                if queue[0].model.runner is not None:
                    group.create_task(self._run_externally(queue))
                    continue
                for _ in range(min(queue[0].model.max_concurrency, len(queue))):
                    group.create_task(self._work(queue))
        if self._fatal is not None:
            raise self._fatal
        return self._bought

    async def _work(self, queue: deque[Order]) -> None:
        while queue and self._fatal is None:
            order = queue.popleft()
            async with self._limits.place(order.model):
                if self._fatal is not None:
                    return
                try:
                    rollout = await self._asker.ask(order)
                except BenchFillError as error:
                    self._stop(error)
                    return
            self._note(order, rollout)

    async def _run_externally(self, queue: deque[Order]) -> None:
        try:
            await self._external.buy(queue, self._note)
        except BenchFillError as error:
            self._stop(error)

    def _note(self, order: Order, rollout: Rollout) -> None:
        self._bought[order.key.digest] = rollout
        name = order.model.name
        if rollout.outcome == "failed":
            self._failed += 1
            self._failed_in_a_row[name] += 1
        else:
            self._failed_in_a_row[name] = 0
        self._report()
        # A server that is down would otherwise cost hours of waiting, one rollout after another.
        if self._failed_in_a_row[name] >= _FAILURES_IN_A_ROW:
            self._stop(
                ProviderError(
                    f"model {name!r} failed {_FAILURES_IN_A_ROW} times in a row, each after all "
                    f"retries ({rollout.error}); all answers received are kept, run the same "
                    "command again when it is back.",
                    model=name,
                    retryable=True,
                )
            )

    def _stop(self, error: BenchFillError) -> None:
        self._fatal = self._fatal or error
        self._asker.stopping.set()

    def _report(self) -> None:
        if self._on_progress is not None:
            received = len(self._bought) - self._failed
            self._on_progress(Progress(self._total, self._from_ledger, received, self._failed))


@contextlib.asynccontextmanager
async def open_runner(
    pool: Pool,
    ledger: Ledger,
    *,
    budget: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    permit: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[RolloutRunner]:
    """Give a runner, with the local servers that it needs running for as long as it is used."""
    async with contextlib.AsyncExitStack() as stack:
        slots = pool.limits.get(LOCAL, LOCAL_SLOTS)
        yield RolloutRunner(
            pool,
            ledger,
            budget=budget,
            on_progress=on_progress,
            local_api_base=await stack.enter_async_context(local_servers(pool, slots)),
            permit=permit,
        )
