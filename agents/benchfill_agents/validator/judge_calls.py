"""Asking the judge: every reply is recorded before it is used, and none is bought twice.

A reply is a step of the job under a key that is made of all that was sent. A job that was killed in
the middle of a round finds there what it had received, and goes on with the rest.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from autogen_core.models import AssistantMessage, CreateResult, SystemMessage, UserMessage
from pydantic import BaseModel, ValidationError

from benchfill_prompts import load

from ..rewriter.draft import text_of, unusable
from ..structured import describe, parse_structured

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from autogen_core.models import ChatCompletionClient, LLMMessage

    from ..spending import Allowance
    from ..steps import StepRecord

AGAIN = "reply_again"
_TRIES = 2
_LONGEST_SHOWN = 4_000  # of a reply that is sent back

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Said(Generic[Answer]):
    """What the judge replied in the end: an answer, or why there is none; and in how many calls."""

    answer: Answer | None
    problem: str
    calls: int


class JudgeCalls:
    """Asks one model, through the records of one job.

    Parameters
    ----------
    client
        The judge.
    identity
        What tells this judge from others, its parameters included; part of the key of a reply.
    steps
        The job's records.
    allowance
        Checked before each call that is not on record.
    permit
        Awaited before each of those; raises when none may go out any more.
    at_once
        Calls at a time.
    """

    def __init__(  # noqa: PLR0913 - keyword-only but for one
        self,
        client: ChatCompletionClient,
        *,
        identity: str,
        steps: StepRecord,
        allowance: Allowance,
        permit: Callable[[], Awaitable[None]] | None = None,
        at_once: int = 8,
    ) -> None:
        self._client, self._identity = client, identity
        self._steps, self._allowance, self._permit = steps, allowance, permit
        self._slots = asyncio.Semaphore(at_once)
        self._again = load(AGAIN)

    async def ask(
        self, rules: str, task: str, schema: type[Answer], *, sample: int = 0
    ) -> Said[Answer]:
        """Ask for an answer in a schema; a reply that does not fit it is sent back once.

        Raises
        ------
        BudgetExhaustedError
            Tokens or dollars are spent; what was received is on record.
        ProviderError
            The judge could not be reached.
        """
        messages: list[LLMMessage] = [
            SystemMessage(content=rules),
            UserMessage(content=task, source="benchfill"),
        ]
        problem = ""
        for number in range(_TRIES):
            result = await self._reply(messages, schema, sample)
            try:
                return Said(parse_structured(text_of(result), schema), "", number + 1)
            except ValidationError as error:
                problem = unusable(result, describe(error))
            if result.finish_reason == "content_filter":
                return Said(None, problem, number + 1)  # asked again it would refuse again
            messages += [
                AssistantMessage(content=text_of(result)[:_LONGEST_SHOWN], source="judge"),
                UserMessage(content=self._again.render(problem=problem), source="benchfill"),
            ]
        return Said(None, problem, _TRIES)

    async def _reply(
        self, messages: list[LLMMessage], schema: type[BaseModel], sample: int
    ) -> CreateResult:
        key = self._key(messages, sample)
        recorded = await self._steps.get(key)
        if recorded is None:
            async with self._slots:
                self._allowance.check()
                if self._permit is not None:
                    await self._permit()
                result = await self._client.create(
                    messages,
                    json_output=schema,
                    extra_create_args={"seed": int(key[-8:], 16) % 2**31},
                )
            recorded = result.model_dump(mode="json")
            await self._steps.put(key, recorded)
        return CreateResult.model_validate(recorded)

    def _key(self, messages: list[LLMMessage], sample: int) -> str:
        sent = [self._identity, [message.model_dump(mode="json") for message in messages], sample]
        content = json.dumps(sent, sort_keys=True).encode()
        return f"judge/{hashlib.sha256(content).hexdigest()}"
