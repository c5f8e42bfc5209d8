"""Asking for one rollout until it is answered: budget, retries, and what the outcome is."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from benchfill.errors import BenchFillError, BudgetExhaustedError, ProviderError

from .calls import CallError, sent_parameters
from .rollout import Rollout, RolloutKey

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from benchfill.items import Item

    from .calls import Caller, Reply
    from .config import PoolModel
    from .failures import Failure
    from .ledger import Ledger
    from .marking import Marker
    from .pace import Pace
    from .prompting import SolvePrompt
    from .rejections import Rejections

_LONGEST_WAIT = 60.0
_REJECTED = "rejected_parameter"


class Budget:
    """How many calls may be made that a provider may charge for; None is no bound."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.spent = 0

    def take(self) -> None:
        """Take one call. Raises BudgetExhaustedError before the call that would exceed it."""
        if self.limit is not None and self.spent >= self.limit:
            raise BudgetExhaustedError(
                f"the budget of {self.limit} rollouts is spent; all answers received are kept."
            )
        self.spent += 1

    def give_back(self) -> None:
        """Return a call that the provider turned away, which costs nothing."""
        self.spent -= 1


@dataclass(frozen=True)
class Order:
    """A rollout that is to be bought."""

    key: RolloutKey
    model: PoolModel
    item: Item
    """As it is shown: its options in the order of `choice_order`, where there is one."""
    prompt: SolvePrompt
    choice_order: tuple[int, ...] | None = None


class Asker:
    """Asks for rollouts and records each in the ledger the moment it arrives."""

    def __init__(  # noqa: PLR0913 - keyword-only but for one
        self,
        ledger: Ledger,
        *,
        marker: Marker,
        budget: Budget,
        caller: Caller,
        pace: Pace,
        rejections: Rejections,
        backoff: float,
        permit: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._ledger = ledger
        self._marker = marker
        self._budget = budget
        self._caller = caller
        self._pace = pace
        self._rejections = rejections
        self._permit = permit
        self._backoff = wait_random_exponential(multiplier=backoff, max=_LONGEST_WAIT)
        self.retries: Counter[str] = Counter()
        self.stopping = asyncio.Event()
        """Once set, nobody waits for another try."""

    async def ask(self, order: Order) -> Rollout:
        """Return what came of the order, recorded; a `failed` one too.

        Raises BudgetExhaustedError before a call that would exceed the budget, ProviderError when
        the provider refuses for good.
        """
        elsewhere = await self._ledger.claim(order.key)
        if elsewhere is not None:
            return elsewhere
        try:
            return await self._ask(order)
        except BaseException:
            with contextlib.suppress(Exception):  # a claim ends by itself
                await self._ledger.release(order.key)
            raise

    async def _ask(self, order: Order) -> Rollout:
        tries = _Tries(order.model)
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_AskAgainError),
            stop=tries.are_spent,
            wait=self._wait,
            sleep=self._sleep,
            before_sleep=self._count,
            reraise=True,
        )
        try:
            rollout: Rollout = await retrying(self._ask_once, order, tries)
        except _AskAgainError as error:
            rollout = error.rollout
        except BenchFillError:  # the budget is spent, or no call is permitted any more
            if tries.made:
                message = "the run stopped before it was answered"
                await self._ledger.record(_failed(order, tries, message))
            raise
        await self._ledger.record(rollout)
        if rollout.outcome == "failed":
            await self._ledger.release(order.key)
        if tries.fatal is not None:
            raise ProviderError(
                f"model {order.model.name!r} refused the call: {tries.fatal.message}",
                model=order.model.name,
            )
        return rollout

    async def _ask_once(self, order: Order, tries: _Tries) -> Rollout:
        if tries.made and self.stopping.is_set():
            self._release(tries)
            return _failed(order, tries, "the run stopped before it was answered")
        reserved = await self._pace.wait(order.model, order.prompt.chars, self.stopping)
        if self.stopping.is_set():
            self._release(tries)
            raise _StoppedError("the run stopped before it was answered")
        if self._permit is not None:
            await self._permit()
        if not tries.holds_budget:
            self._budget.take()
            tries.holds_budget = True
        if not tries.made:
            await self._ledger.begin(order.key)
        tries.made += 1
        tries.left_out = self._rejections.left_out(order.model)
        seed = _seed(order, tries)
        try:
            reply = await self._caller.call(
                order.model, order.prompt, seed=seed, left_out=tries.left_out
            )
        except CallError as error:
            return self._unanswered(order, tries, error.failure, seed)
        self._pace.settle(order.model, reserved, reply.tokens)
        tries.holds_budget = False
        rollout = await self._read(order, tries, reply)
        if rollout.outcome in {"empty", "truncated"}:
            tries.replies += 1
            raise _AskAgainError(rollout.outcome, rollout)
        return rollout

    def _unanswered(
        self, order: Order, tries: _Tries, failure: Failure, seed: int | None
    ) -> Rollout:
        if failure.billed:
            tries.holds_budget = False
        if failure.kind == "rate_limit" and failure.retry_after is not None:
            self._pace.pause(order.model, failure.retry_after)
        sent = sent_parameters(order.model, seed=seed, left_out=tries.left_out)
        if failure.kind == "fatal" and self._rejections.take_note(order.model, failure, sent):
            raise _AskAgainError(_REJECTED, _failed(order, tries, failure.message))
        if failure.retryable:
            tries.failures += 1
            rollout = _failed(order, tries, f"{failure.kind}: {failure.message}")
            if tries.failures > order.model.retries:
                self._release(tries)
            raise _AskAgainError(failure.kind, rollout, retry_after=failure.retry_after)
        self._release(tries)
        if failure.kind == "content_policy":
            return _failed(order, tries, failure.message).model_copy(update={"outcome": "refused"})
        tries.fatal = failure
        return _failed(order, tries, failure.message)

    def _release(self, tries: _Tries) -> None:
        if tries.holds_budget:
            self._budget.give_back()
            tries.holds_budget = False

    async def _read(self, order: Order, tries: _Tries, reply: Reply) -> Rollout:
        """Say what a reply is worth. A refusal is no answer, so it gets no score."""
        rollout = _failed(order, tries, None).model_copy(
            update={
                "text": reply.text,
                "reasoning": reply.reasoning,
                # earlier replies to this order, empty or cut, were paid for as well
                "prompt_tokens": tries.sum("prompt_tokens", reply.prompt_tokens),
                "completion_tokens": tries.sum("completion_tokens", reply.completion_tokens),
                "reasoning_tokens": tries.sum("reasoning_tokens", reply.reasoning_tokens),
                "cost": tries.sum("cost", reply.cost),
                "seconds": reply.seconds,
            }
        )
        if reply.refused:
            return rollout.model_copy(update={"outcome": "refused"})
        if not reply.text.strip():
            cut = reply.finish_reason == "length"
            outcome = "truncated" if cut else "empty"
            return rollout.model_copy(update={"outcome": outcome, "correct": False})
        found = self._marker.find(reply.text, item=order.item, style=order.model.style)
        # A number that ends where the tokens end may be the beginning of a longer one.
        if reply.finish_reason == "length" and (found is None or found.at_end):
            return rollout.model_copy(update={"outcome": "truncated", "correct": False})
        rollout = rollout.model_copy(update={"outcome": "answered"})
        try:
            scored = await self._marker.score(found, order.item)
        except BenchFillError:  # kept without a score, which whoever reads it asks for again
            return rollout
        return rollout.model_copy(update=scored)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, _AskAgainError) and error.kind == _REJECTED:
            return 0.0
        asked_for = error.retry_after if isinstance(error, _AskAgainError) else None
        return max(self._backoff(state), asked_for or 0.0)

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), timeout=seconds)

    def _count(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, _AskAgainError):
            self.retries[error.kind] += 1


class _StoppedError(BenchFillError):
    """The run is stopping, for a reason that somebody else met."""


class _AskAgainError(Exception):
    """A try brought no answer; `rollout` is what is recorded if it was the last."""

    def __init__(self, kind: str, rollout: Rollout, *, retry_after: float | None = None) -> None:
        super().__init__(kind)
        self.kind, self.rollout, self.retry_after = kind, rollout, retry_after


@dataclass
class _Tries:
    """What has been tried for one order."""

    model: PoolModel
    made: int = 0
    failures: int = 0
    replies: int = 0
    holds_budget: bool = False
    fatal: Failure | None = None
    left_out: tuple[str, ...] = ()
    taken: dict[str, float] = field(default_factory=dict)

    def sum(self, what: str, amount: float | None) -> float | None:
        """Add to what the replies of this order have taken so far; None where one is not known."""
        if amount is None:
            return None
        self.taken[what] = self.taken.get(what, 0) + amount
        return self.taken[what]

    def are_spent(self, state: RetryCallState) -> bool:  # noqa: ARG002 - tenacity's signature
        """Whether no further try is due."""
        asked_again = self.model.replies_asked_again
        return self.failures > self.model.retries or self.replies > asked_again


def _seed(order: Order, tries: _Tries) -> int | None:
    """Give each sample its own seed; the same for all items would tie their answers together."""
    seed = order.model.parameters.seed
    if seed != "per_sample":
        return seed
    return (int(order.key.digest[:8], 16) + tries.replies) % 2**31


def _failed(order: Order, tries: _Tries, error: str | None) -> Rollout:
    return Rollout(
        key=order.key,
        model_name=order.model.name,
        item_id=order.item.id,
        choice_order=order.choice_order,
        outcome="failed",
        correct=None,
        attempts=max(tries.made, 1),
        left_out=tries.left_out,
        received_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        error=error,
    )
