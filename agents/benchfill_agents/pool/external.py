"""Members of the pool that are external runners: their rollouts, like any other's, bought once.

A process gets up to `max_concurrency` items, and its answers are recorded one by one as they come.
What it leaves unanswered goes to another process, up to `retries` times.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchfill.errors import BenchFillError, BudgetExhaustedError, ProviderError

from .external_process import Answer, Run, environment, run_process
from .marking import RUNNER
from .rollout import Rollout

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from .asking import Budget, Order
    from .ledger import Ledger
    from .marking import Marker

_FRUITLESS = 2  # runs in a row without one answer
_logger = logging.getLogger(__name__)


@dataclass
class ExternalAsker:
    """Buys rollouts from external runners."""

    ledger: Ledger
    marker: Marker
    budget: Budget
    stopping: asyncio.Event
    permit: Callable[[], Awaitable[None]] | None = None
    retries: Counter[str] = field(default_factory=Counter)

    async def buy(self, queue: deque[Order], note: Callable[[Order, Rollout], None]) -> None:
        """Empty a queue of one member's orders; `note` is told of each rollout, once recorded.

        Raises
        ------
        BudgetExhaustedError
            Before the item that would exceed the budget.
        ProviderError
            Two runs in a row answered nothing.
        InputError
            The runner cannot be started.
        """
        environment(queue[0].model)
        work = _Work(queue, note)
        try:
            while (queue or work.claimed) and not self.stopping.is_set():
                await self._fill(work)
                if work.claimed:
                    await self._one_run(work)
        finally:
            for order in work.claimed.values():
                with contextlib.suppress(Exception):  # a claim ends by itself
                    await self.ledger.release(order.key)

    async def _fill(self, work: _Work) -> None:
        """Claim as many orders as one process is given."""
        wanted = work.size - len(work.claimed)
        taken = [work.queue.popleft() for _ in range(min(wanted, len(work.queue)))]
        # in one order everywhere, so that two runs never wait for each other
        for order in sorted(taken, key=lambda one: one.key.digest):
            elsewhere = await self.ledger.claim(order.key)
            if elsewhere is None:
                work.claimed[_place(order)] = order
            else:
                work.note(order, elsewhere)

    async def _one_run(self, work: _Work) -> None:
        given, spent = await self._paid(work)
        if not given:
            raise spent or BudgetExhaustedError("the budget is spent.")
        answered_before = work.answered
        run = await run_process(
            work.model,
            [_line(order) for order in given],
            lambda answer: self._take(work, given, answer),
            self.stopping,
        )
        self._tell(work, run)
        left = [order for order in given if _place(order) in work.claimed]
        reason = run.problems[0] if run.problems else run.ending
        fruitless = work.answered == answered_before
        work.fruitless = work.fruitless + 1 if fruitless else 0
        if left and work.fruitless >= _FRUITLESS and not self.stopping.is_set():
            for order in left:
                await self._give_up(work, order, f"the runner {run.ending}", tell=False)
            raise ProviderError(
                f"runner {work.model.name!r} answered nothing in {_FRUITLESS} runs: it "
                f"{run.ending}{f'; {reason}' if run.problems else ''}. Answers received so far are "
                "kept; correct the runner and run the same command again.",
                model=work.model.name,
            )
        for order in left:
            work.tries[_place(order)] += 1
            if work.tries[_place(order)] > work.model.retries or self.stopping.is_set():
                await self._give_up(work, order, work.errors.get(_place(order), reason))
            else:
                self.retries[RUNNER] += 1

    async def _paid(self, work: _Work) -> tuple[list[Order], BenchFillError | None]:
        """Return the orders that the budget allows, and why not all."""
        given: list[Order] = []
        for order in list(work.claimed.values()):
            try:
                if self.permit is not None:
                    await self.permit()
                self.budget.take()
            except BenchFillError as error:
                return given, error
            await self.ledger.begin(order.key)
            given.append(order)
        return given, None

    async def _take(self, work: _Work, given: list[Order], answer: Answer) -> str | None:
        """Record an answer; say why not, when it cannot be used."""
        place = (answer.id, answer.sample)
        order = next((one for one in given if _place(one) == place), None)
        if order is None:
            return f"item {answer.id!r}, sample {answer.sample}, was not asked for"
        if place not in work.claimed:
            return f"item {answer.id!r}, sample {answer.sample}, was answered before"
        if answer.score is None and answer.answer is None:
            work.errors[place] = (answer.error or "")[:240]
            work.answered += 1  # it is at work, which is what `fruitless` asks for
            return None
        rollout = await self._rollout(work, order, answer)
        await self.ledger.record(rollout)
        del work.claimed[place]
        work.answered += 1
        work.note(order, rollout)
        return None

    async def _rollout(self, work: _Work, order: Order, answer: Answer) -> Rollout:
        rollout = _empty(order, work.tries[_place(order)] + 1).model_copy(
            update={
                "outcome": "answered",
                "text": answer.answer,
                "prompt_tokens": answer.prompt_tokens,
                "completion_tokens": answer.completion_tokens,
                "cost": answer.cost,
                "seconds": answer.seconds,
            }
        )
        if answer.score is not None:
            scored = {"correct": answer.score == 1, "scored_by": RUNNER}
            return rollout.model_copy(update=scored | {"extracted": answer.answer})
        said = answer.answer or ""
        if not said.strip():
            return rollout.model_copy(update={"outcome": "empty", "correct": False})
        found = self.marker.find(said, item=order.item, style=order.model.style)
        try:
            return rollout.model_copy(update=await self.marker.score(found, order.item))
        except BenchFillError:  # kept without a score, which whoever reads it asks for again
            return rollout

    async def _give_up(self, work: _Work, order: Order, reason: str, *, tell: bool = True) -> None:
        rollout = _empty(order, work.tries[_place(order)] + 1)
        rollout = rollout.model_copy(update={"error": reason})
        await self.ledger.record(rollout)
        await self.ledger.release(order.key)
        work.claimed.pop(_place(order), None)
        if tell:
            work.note(order, rollout)

    @staticmethod
    def _tell(work: _Work, run: Run) -> None:
        if run.problems:
            _logger.warning(
                "runner %r: %d lines were set aside; the first: %s",
                work.model.name,
                len(run.problems),
                run.problems[0],
            )


class _Work:
    """The orders of one member: those that wait, and those that are ours to ask for."""

    def __init__(self, queue: deque[Order], note: Callable[[Order, Rollout], None]) -> None:
        self.queue, self.note = queue, note
        self.model = queue[0].model
        self.size = self.model.max_concurrency
        self.claimed: dict[tuple[str, int], Order] = {}
        self.tries: Counter[tuple[str, int]] = Counter()
        self.errors: dict[tuple[str, int], str] = {}
        self.answered = 0
        self.fruitless = 0


def _place(order: Order) -> tuple[str, int]:
    return order.item.id, order.key.sample


def _line(order: Order) -> dict[str, Any]:
    """Return what a runner is given of an order."""
    asked: dict[str, Any] = json.loads(order.prompt.text or "{}")
    return {**asked, "sample": order.key.sample, "key": order.key.digest}


def _empty(order: Order, attempts: int) -> Rollout:
    return Rollout(
        key=order.key,
        model_name=order.model.name,
        item_id=order.item.id,
        choice_order=order.choice_order,
        outcome="failed",
        correct=None,
        attempts=attempts,
        received_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
