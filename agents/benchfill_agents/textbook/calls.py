"""Paid calls of the three: each goes through the ledger, so no reply received is bought again.

A call is keyed by model, prompt and its place in the job. A reply that does not fit its schema, or
that the checks refuse, is sent back with the reasons; each try is a call of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchfill.errors import BenchFillError, ProviderError
from benchfill_prompts import load

from ..pool.rollout import Rollout, RolloutKey
from ..structured import describe, parse_structured

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from autogen_core.models import CreateResult

    from ..pool.ledger import Ledger
    from ..spending import Allowance
    from .material import Ask
    from .seat import Seat

TRIES = 3
LANDING = 2.0
"""Seconds that a reply which is on its way gets to arrive when the run is interrupted."""
_LONGEST_SENT_BACK = 24_000
_MOST_PROBLEMS = 12

Model = TypeVar("Model", bound=BaseModel)


class NotWrittenError(BenchFillError):
    """A model gave nothing usable, in all its tries; `problems` are those of the last one."""

    def __init__(self, message: str, problems: tuple[str, ...], spent: tuple[Spent, ...]) -> None:
        super().__init__(message)
        self.problems, self.spent = problems, spent


class Spent(BaseModel):
    """What a turn took of one model. Replies that the ledger had count like bought ones."""

    model_config = ConfigDict(frozen=True)

    role: str
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = Field(0.0, description="US dollars of the calls whose price is known")
    unpriced: int = Field(0, description="calls whose price is not known")
    seconds: float = 0.0


def added(spent: Sequence[Spent]) -> tuple[Spent, ...]:
    """Add up what was spent, by role and model."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    for one in spent:
        amounts = one.model_dump(exclude={"role", "model"})
        sums.setdefault((one.role, one.model), Counter()).update(amounts)
    return tuple(
        Spent.model_validate({"role": role, "model": model, **amounts})
        for (role, model), amounts in sums.items()
    )


@dataclass(frozen=True)
class Written(Generic[Model]):
    """A usable reply, what was wrong with those before it, and what they all took."""

    value: Model
    sent_back: tuple[tuple[str, ...], ...]
    spent: tuple[Spent, ...]


class Calls:
    """Asks models in their seats. `permit` is awaited before each call that may cost something."""

    def __init__(
        self,
        ledger: Ledger,
        allowance: Allowance,
        *,
        permit: Callable[[], Awaitable[None]] | None = None,
        on_call: Callable[[Seat, str], None] | None = None,
    ) -> None:
        self._ledger, self._allowance = ledger, allowance
        self._permit, self._on_call = permit, on_call
        self._again = load("textbook_again")

    async def write(
        self,
        seat: Seat,
        place: str,
        ask: Ask,
        schema: type[Model],
        problems_of: Callable[[Model], Awaitable[tuple[str, ...]]],
    ) -> Written[Model]:
        """Ask until a reply fits the schema and has no problem.

        Raises
        ------
        NotWrittenError
            No try brought one.
        BudgetExhaustedError
            The tokens or dollars are spent.
        ProviderError
            The model could not be reached, or refused for good.
        """
        messages: list[LLMMessage] = [
            SystemMessage(content=ask.rules),
            UserMessage(content=ask.material, source="benchfill"),
        ]
        sent_back: list[tuple[str, ...]] = []
        spent: list[Spent] = []
        for number in range(TRIES):
            rollout = await self._reply(seat, f"{place}/{number}", messages, schema)
            spent.append(_spent(seat, rollout))
            value, problems = _read(rollout, schema)
            if value is not None:
                problems = await problems_of(value)
                if not problems:
                    return Written(value, tuple(sent_back), added(spent))
            problems = problems[:_MOST_PROBLEMS]
            sent_back.append(problems)
            said = (rollout.text or "(nothing)")[:_LONGEST_SENT_BACK]
            again = self._again.render(problems="\n".join(f"- {one}" for one in problems))
            messages += [
                AssistantMessage(content=said, source=seat.role.lower()),
                UserMessage(content=again, source="benchfill"),
            ]
        reasons = " ".join(sent_back[-1])
        raise NotWrittenError(
            f"the {seat.role} ({seat.name}) wrote nothing usable in {TRIES} tries: {reasons}",
            sent_back[-1],
            added(spent),
        )

    async def _reply(
        self, seat: Seat, place: str, messages: Sequence[LLMMessage], schema: type[BaseModel]
    ) -> Rollout:
        key = _key(seat, place, messages, schema)
        kept = (await self._ledger.get_many([key])).get(key.digest)
        if kept is not None:
            return kept
        self._allowance.check()
        elsewhere = await self._ledger.claim(key)
        if elsewhere is not None:
            return elsewhere
        try:
            return await self._buy(seat, place, messages, schema, key)
        except BaseException:
            with contextlib.suppress(Exception):  # a claim ends by itself
                await asyncio.shield(self._ledger.release(key))
            raise

    async def _buy(
        self,
        seat: Seat,
        place: str,
        messages: Sequence[LLMMessage],
        schema: type[BaseModel],
        key: RolloutKey,
    ) -> Rollout:
        if self._permit is not None:
            await self._permit()
        if self._on_call is not None:
            self._on_call(seat, place)
        await self._ledger.begin(key)
        buying = asyncio.ensure_future(self._bought(seat, place, messages, schema, key))
        try:
            return await asyncio.shield(buying)
        except asyncio.CancelledError:
            # what is out is paid for: if it arrives by now, nobody need buy it again
            await asyncio.wait({buying}, timeout=LANDING)
            buying.cancel()
            await asyncio.gather(buying, return_exceptions=True)
            raise

    async def _bought(
        self,
        seat: Seat,
        place: str,
        messages: Sequence[LLMMessage],
        schema: type[BaseModel],
        key: RolloutKey,
    ) -> Rollout:
        started = time.monotonic()
        try:
            result = await seat.client.create(
                messages,
                json_output=schema,
                extra_create_args={"seed": int(key.digest[:8], 16) % 2**31},
            )
        except ProviderError as error:
            await self._ledger.record(_failed(seat, place, key, error.message))
            raise
        rollout = _rollout(seat, place, key, result, time.monotonic() - started)
        # a cancelled run keeps what has arrived
        await asyncio.shield(self._ledger.record(rollout))
        return rollout


def _key(
    seat: Seat, place: str, messages: Sequence[LLMMessage], schema: type[BaseModel]
) -> RolloutKey:
    sent = [[type(message).__name__, message.content] for message in messages]
    return RolloutKey(
        model=seat.identity,
        prompt=_sha256(json.dumps([sent, schema.__name__])),
        item=_sha256(f"textbook/{seat.role}/{place}"),
        sample=0,
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(rollout: Rollout, schema: type[Model]) -> tuple[Model | None, tuple[str, ...]]:
    """Return what a reply says, or why it says nothing usable."""
    if rollout.outcome == "refused":
        return None, ("The model refused.",)
    if rollout.outcome == "truncated":
        return None, ("The reply was cut off at the token limit; be shorter.",)
    if rollout.outcome == "empty":
        return None, ("The reply holds no text.",)
    try:
        return parse_structured(rollout.text or "", schema), ()
    except ValidationError as error:
        return None, (f"The reply does not fit the schema: {describe(error)}",)


def _rollout(
    seat: Seat, place: str, key: RolloutKey, result: CreateResult, seconds: float
) -> Rollout:
    text = result.content if isinstance(result.content, str) else ""
    outcome = "answered" if text.strip() else "empty"
    outcome = {"content_filter": "refused", "length": "truncated"}.get(
        result.finish_reason, outcome
    )
    return Rollout.model_validate(
        {
            "key": key,
            "purpose": "write",
            "model_name": seat.name,
            "item_id": place,
            "outcome": outcome,
            # unpaired surrogates, which models emit now and then, are no text
            "text": text.encode("utf-8", "replace").decode(),
            "correct": None,
            "prompt_tokens": result.usage.prompt_tokens,
            "completion_tokens": result.usage.completion_tokens,
            "cost": seat.meter.cost,
            "seconds": seconds,
            "received_at": _now(),
        }
    )


def _failed(seat: Seat, place: str, key: RolloutKey, why: str) -> Rollout:
    return Rollout(
        key=key,
        purpose="write",
        model_name=seat.name,
        item_id=place,
        outcome="failed",
        correct=None,
        received_at=_now(),
        error=why,
    )


def _spent(seat: Seat, rollout: Rollout) -> Spent:
    return Spent(
        role=seat.role,
        model=seat.name,
        calls=1,
        prompt_tokens=rollout.prompt_tokens or 0,
        completion_tokens=rollout.completion_tokens or 0,
        usd=rollout.cost or 0.0,
        unpriced=int(rollout.cost is None),
        seconds=rollout.seconds or 0.0,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
