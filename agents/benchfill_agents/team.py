"""The four agents as one AutoGen team, with one transcript for each gap.

Retriever -> Rewriter -> Validator -> (Rewriter, to mend what was turned down) -> Calibrator ->
Retriever ... Each turn's message carries all that the next agent works on. A reviewer's change
request goes to the Rewriter at once, and there is no Retriever.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import StructuredMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core import CancellationToken

from .messages import (
    Assignment,
    CalibrationRound,
    ChangeRequest,
    Retrieval,
    Rewriting,
    Validation,
)
from .team_agents import MAX_REPAIRS
from .turns import Stopped

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

    from autogen_core.models import ChatCompletionClient
    from pydantic import BaseModel

    from .target import FillTarget
    from .turns import RecordedAgent, RecordedSpeaker

WIND_DOWN = 4.0  # seconds at most: an agent may be waiting for a reply that is on its way
_TYPES = (Assignment, ChangeRequest, Retrieval, Rewriting, Validation, CalibrationRound)


class RecordedTeam:
    """Recorded agents who speak in the order that `order` gives, until `ends` or an error."""

    def __init__(  # noqa: PLR0913 - keyword-only but for two
        self,
        agents: Sequence[RecordedSpeaker],
        opening: BaseModel,
        *,
        order: Callable[[Sequence[Any]], str | None],
        ends: Callable[[BaseModel], bool],
        kinds: Sequence[type[BaseModel]],
        turns: int,
        model_client: ChatCompletionClient,
    ) -> None:
        self._opening, self._ends = opening, ends
        self._stopped = Stopped()
        for agent in agents:
            agent.stopped = self._stopped
        typed: Any = StructuredMessage
        self._team = SelectorGroupChat(
            list(agents),
            model_client,  # demanded by the constructor; the order never asks a model
            selector_func=order,
            termination_condition=FunctionalTermination(self._ended),
            max_turns=turns,
            custom_message_types=[typed[kind] for kind in kinds],
            allow_repeated_speaker=True,
        )

    def _ended(self, messages: Sequence[Any]) -> bool:
        if self._stopped.error is not None:
            return True
        return any(self._ends(m.content) for m in messages if isinstance(m, StructuredMessage))

    async def run(self) -> AsyncIterator[StructuredMessage[Any]]:
        """Yield the transcript's messages as they are spoken, the opening first.

        Raises whatever an agent raised, as it was raised.
        """
        typed: Any = StructuredMessage
        opening = typed[type(self._opening)](content=self._opening, source="BenchFill")
        token = CancellationToken()
        stream = self._team.run_stream(task=opening, cancellation_token=token)
        while (message := await _next(stream, token)) is not None:
            if isinstance(message, StructuredMessage):
                yield message
        if self._stopped.error is not None:
            raise self._stopped.error


class GapTeam(RecordedTeam):
    """Retriever, Rewriter, Validator and Calibrator at work on one target.

    `opening` is what they are given first; the target as their assignment when it is missing.
    """

    def __init__(
        self,
        target: FillTarget,
        agents: Sequence[RecordedAgent],
        model_client: ChatCompletionClient,
        *,
        rounds: int,
        opening: ChangeRequest | None = None,
    ) -> None:
        super().__init__(
            agents,
            opening or Assignment(round=1, target=target),
            order=next_speaker,
            ends=lambda said: isinstance(said, CalibrationRound) and said.done,
            kinds=_TYPES,
            turns=rounds * (2 + 2 * (MAX_REPAIRS + 1)),
            model_client=model_client,
        )


async def _next(stream: AsyncGenerator[Any, None], token: CancellationToken) -> Any:
    """Return what is said next, None at the end; on an interrupt the agents' work stops at once.

    AutoGen, when it is cancelled itself, waits until the agent at work has finished its turn, which
    may go on buying rollouts for minutes. So the token is cancelled first, and AutoGen winds down.
    """

    async def following() -> Any:
        return await anext(stream, None)

    said = asyncio.ensure_future(following())
    try:
        return await asyncio.shield(said)
    except asyncio.CancelledError:
        token.cancel()
        await asyncio.wait({said}, timeout=WIND_DOWN)
        said.cancel()
        raise


def next_speaker(messages: Sequence[Any]) -> str | None:
    """Order the four by what was said last."""
    said = messages[-1].content
    if isinstance(said, Assignment | CalibrationRound):
        return "Retriever"
    if isinstance(said, ChangeRequest | Retrieval):
        return "Rewriter"
    if isinstance(said, Rewriting):
        return "Validator"
    return "Rewriter" if said.repair else "Calibrator"
