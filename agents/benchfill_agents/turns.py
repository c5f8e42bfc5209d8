"""An agent whose every turn is a recorded step.

A turn's result is written before it is spoken, and a resumed job speaks the records again instead
of working, so that AutoGen's own state is never needed (docs/decisions/003).
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, StopMessage, StructuredMessage
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autogen_core import CancellationToken
    from pydantic import BaseModel

    from .steps import StepRecord
    from .target import FillTarget

# AutoGen logs whole tracebacks of failed agents; errors reach the user typed, as one sentence
logging.getLogger("autogen_core").setLevel(logging.CRITICAL)


class Stopped:
    """The first error of a team: AutoGen would turn it into a bare RuntimeError."""

    error: Exception | None = None


class RecordedSpeaker(BaseChatAgent):
    """An agent whose every turn is a recorded step below its place in the job."""

    speaks: tuple[type[BaseModel], ...]
    """The contents that its messages may have."""

    def __init__(self, name: str, description: str, place: str, steps: StepRecord) -> None:
        super().__init__(name, description)
        self._place, self._steps = place, steps
        self._latest: BaseModel | None = None  # who speaks twice is not sent what it said itself
        self.stopped = Stopped()

    @property
    @override
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (*(_spoken(kind) for kind in self.speaks), StopMessage)

    @override
    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        said = [m.content for m in messages if isinstance(m, StructuredMessage)]
        for content in said:
            self.hear(content)
        latest = said[-1] if said else self._latest
        if latest is None:
            raise RuntimeError(f"{self.name} was called before anybody spoke")
        work = asyncio.ensure_future(self._turn(latest))
        cancellation_token.link_future(work)
        try:
            return Response(chat_message=await work)
        except Exception as error:
            self.stopped.error = error
            return Response(chat_message=StopMessage(content=str(error), source=self.name))

    async def _turn(self, content: BaseModel) -> BaseChatMessage:
        key = f"{self._place}/{self.step(content)}"
        recorded = await self._steps.get(key)
        if recorded is None:
            result = await self.act(content)
            recorded = {
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "kind": type(result).__name__,
                "payload": result.model_dump(mode="json"),
            }
            await self._steps.put(key, recorded)
        else:
            result = self._revived(recorded)
            await self.replayed(result)
        self.hear(result)
        self._latest = result
        message: BaseChatMessage = _spoken(type(result))(
            content=result, source=self.name, metadata={"at": recorded["at"], "step": key}
        )
        return message

    def _revived(self, recorded: dict[str, Any]) -> BaseModel:
        name = recorded.get("kind")  # records of an agent that says one thing may lack it
        kind = next((one for one in self.speaks if one.__name__ == name), self.speaks[0])
        return kind.model_validate(recorded["payload"])

    @override
    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Nothing to forget: a team is made for one place and runs once."""

    @abstractmethod
    def step(self, content: Any) -> str:
        """Name the step that answers a message, the same whenever the job runs again."""

    @abstractmethod
    async def act(self, content: Any) -> BaseModel:
        """Do the work that answers a message."""

    def hear(self, content: BaseModel) -> None:
        """Take note of what was said, by others or by itself."""

    async def replayed(self, result: Any) -> None:
        """Take note that a step was done in an earlier run."""


class RecordedAgent(RecordedSpeaker):
    """A recorded agent of a fill: its place is the gap that is filled, and it says one thing."""

    produces: type[BaseModel]

    def __init__(self, name: str, description: str, target: FillTarget, steps: StepRecord) -> None:
        super().__init__(name, description, target.id, steps)
        self.speaks = (self.produces,)
        self._target = target


def _spoken(kind: type[BaseModel]) -> Any:
    """Return the type of the message that carries such contents."""
    typed: Any = StructuredMessage
    return typed[kind]
