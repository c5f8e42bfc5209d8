"""The four agents as one AutoGen team, with one transcript for each gap.

Retriever -> Rewriter -> Validator -> (Rewriter, to mend what was turned down) -> Calibrator ->
Retriever ... Each turn's message carries all that the next agent works on. A turn is a recorded
step: its result is written before it is spoken, and a resumed job speaks the records again instead
of working, so that AutoGen's own state is never needed (docs/architecture, decisions).
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import BaseChatMessage, StopMessage, StructuredMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core import CancellationToken
from typing_extensions import override

from .messages import Assignment, CalibrationRound, Retrieval, Rewriting, Validation
from .rewriter import RewriteTask
from .rewriter.child import Rejection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from autogen_core.models import ChatCompletionClient
    from pydantic import BaseModel

    from .calibrator import Calibration, Calibrator
    from .memory import Memory
    from .retriever import Retriever
    from .rewriter import Child, Rewriter, Shortfall
    from .steps import StepRecord
    from .target import FillTarget
    from .validator import Validator

CHILDREN_PER_PARENT = 4
MAX_REPAIRS = 2
_TYPES = (Assignment, Retrieval, Rewriting, Validation, CalibrationRound)

# AutoGen logs whole tracebacks of failed agents; errors reach the user typed, as one sentence
logging.getLogger("autogen_core").setLevel(logging.CRITICAL)


class _Stopped:
    """The first error of a team: AutoGen would turn it into a bare RuntimeError."""

    error: Exception | None = None


class _RecordedAgent(BaseChatAgent):
    """An agent whose every turn is a recorded step."""

    produces: type[BaseModel]
    spoken: type[StructuredMessage[Any]]
    """What it makes, and the message that carries it."""

    def __init__(self, name: str, description: str, target: FillTarget, steps: StepRecord) -> None:
        super().__init__(name, description)
        self._target, self._steps = target, steps
        self.stopped = _Stopped()

    @property
    @override
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (self.spoken, StopMessage)

    @override
    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        said = [m.content for m in messages if isinstance(m, StructuredMessage)]
        for content in said:
            self.hear(content)
        work = asyncio.ensure_future(self._turn(said[-1]))
        cancellation_token.link_future(work)
        try:
            return Response(chat_message=await work)
        except Exception as error:
            self.stopped.error = error
            return Response(chat_message=StopMessage(content=str(error), source=self.name))

    async def _turn(self, content: BaseModel) -> BaseChatMessage:
        key = f"{self._target.id}/{self.step(content)}"
        recorded = await self._steps.get(key)
        if recorded is None:
            result = await self.act(content)
            recorded = {
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "payload": result.model_dump(mode="json"),
            }
            await self._steps.put(key, recorded)
        else:
            result = self.produces.model_validate(recorded["payload"])
            self.replayed(result)
        self.hear(result)
        return self.spoken(
            content=result, source=self.name, metadata={"at": recorded["at"], "step": key}
        )

    @override
    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Nothing to forget: a team is made for one gap and runs once."""

    @abstractmethod
    def step(self, content: Any) -> str:
        """Name the step that answers a message, the same whenever the job runs again."""

    @abstractmethod
    async def act(self, content: Any) -> BaseModel:
        """Do the work that answers a message."""

    def hear(self, content: BaseModel) -> None:
        """Take note of what was said, by others or by itself."""

    def replayed(self, result: Any) -> None:
        """Take note that a step was done in an earlier run."""


class RetrieverAgent(_RecordedAgent):
    """Opens each round."""

    produces = Retrieval
    spoken = StructuredMessage[Retrieval]

    def __init__(self, target: FillTarget, steps: StepRecord, retriever: Retriever) -> None:
        super().__init__("Retriever", "Picks parents and bilateral references.", target, steps)
        self._retriever = retriever

    @override
    def step(self, content: Assignment | CalibrationRound) -> str:
        return f"round-{_next_round(content)}/retrieve"

    @override
    async def act(self, content: Assignment | CalibrationRound) -> Retrieval:
        return await self._retriever.retrieve(self._target, _next_round(content))


def _next_round(content: Assignment | CalibrationRound) -> int:
    return content.round if isinstance(content, Assignment) else content.round + 1


class RewriterAgent(_RecordedAgent):
    """Writes children, and mends those that were turned down."""

    produces = Rewriting
    spoken = StructuredMessage[Rewriting]

    def __init__(
        self,
        target: FillTarget,
        steps: StepRecord,
        rewriter: Rewriter,
        *,
        shortfalls: list[Shortfall],
        seed: tuple[int, ...],
    ) -> None:
        super().__init__("Rewriter", "Rewrites parents towards z*.", target, steps)
        self._rewriter, self._shortfalls, self._seed = rewriter, shortfalls, seed
        self._retrieval: Retrieval | None = None

    @override
    def hear(self, content: BaseModel) -> None:
        if isinstance(content, Retrieval):
            self._retrieval = content

    @override
    def step(self, content: Retrieval | Validation) -> str:
        return f"round-{content.round}/rewrite-{_attempt(content)}"

    @override
    async def act(self, content: Retrieval | Validation) -> Rewriting:
        tasks = self._tasks(content)
        self._shortfalls.clear()
        attempt = _attempt(content)
        written = await asyncio.gather(
            *(
                self._rewriter.rewrite(
                    task, np.random.default_rng([*self._seed, content.round, attempt, place])
                )
                for place, task in enumerate(tasks)
            )
        )
        return Rewriting(
            round=content.round,
            attempt=attempt,
            children=tuple(child for group in written for child in group),
            shortfalls=tuple(
                f"{one.delivered} of {one.wanted} children of {one.parent_id}: "
                f"{' '.join(one.reasons)}"
                for one in self._shortfalls
            ),
        )

    def _tasks(self, content: Retrieval | Validation) -> list[RewriteTask]:
        retrieval = self._retrieval
        if retrieval is None:
            raise RuntimeError("the Rewriter was called before the Retriever")
        wanted = {entry.item.id: CHILDREN_PER_PARENT for entry in retrieval.parents}
        rejected: tuple[Rejection, ...] = ()
        if isinstance(content, Validation):
            wanted = {p: content.rejected_parents.count(p) for p in content.rejected_parents}
            rejected = content.rejected
        return [
            RewriteTask(
                target_z=self._target.z,
                parent=entry,
                references_below=retrieval.below,
                references_above=retrieval.above,
                count=wanted[entry.item.id],
                rejected=rejected,
            )
            for entry in retrieval.parents
            if wanted.get(entry.item.id, 0) > 0
        ]


def _attempt(content: Retrieval | Validation) -> int:
    return 0 if isinstance(content, Retrieval) else content.attempt + 1


class ValidatorAgent(_RecordedAgent):
    """Checks children against all known items; sends back those it turns down."""

    produces = Validation
    spoken = StructuredMessage[Validation]

    def __init__(
        self, target: FillTarget, steps: StepRecord, validator: Validator, memory: Memory
    ) -> None:
        super().__init__("Validator", "Checks children before rollouts are spent.", target, steps)
        self._validator, self._memory = validator, memory
        self._so_far: Validation | None = None

    @override
    def hear(self, content: BaseModel) -> None:
        if isinstance(content, Retrieval):
            self._so_far = None
        elif isinstance(content, Validation):
            self._so_far = content

    @override
    def step(self, content: Rewriting) -> str:
        return f"round-{content.round}/validate-{content.attempt}"

    @override
    async def act(self, content: Rewriting) -> Validation:
        valid: tuple[Child, ...] = self._so_far.valid if self._so_far else ()
        rejected = self._so_far.rejected if self._so_far else ()
        known = [entry.item for entry in await self._memory.entries()]
        verdicts = self._validator.validate(
            content.children, [*known, *(child.item for child in valid)]
        )
        judged = list(zip(content.children, verdicts, strict=True))
        turned_down = [(child, verdict) for child, verdict in judged if not verdict.valid]
        return Validation(
            round=content.round,
            attempt=content.attempt,
            verdicts=verdicts,
            valid=(*valid, *(child for child, verdict in judged if verdict.valid)),
            rejected=(
                *rejected,
                *(
                    Rejection(
                        question=child.item.question,
                        answer=child.item.answer,
                        reasons=verdict.reasons,
                    )
                    for child, verdict in turned_down
                ),
            ),
            rejected_parents=tuple(child.parent_id for child, _ in turned_down),
            repair=bool(turned_down) and content.attempt < MAX_REPAIRS,
        )


class CalibratorAgent(_RecordedAgent):
    """Measures the valid children, gives all of them to the memory, and closes the round."""

    produces = CalibrationRound
    spoken = StructuredMessage[CalibrationRound]

    def __init__(
        self,
        target: FillTarget,
        steps: StepRecord,
        calibrator: Calibrator,
        memory: Memory,
        *,
        rounds: int,
    ) -> None:
        super().__init__("Calibrator", "Measures children on the pool.", target, steps)
        self._calibrator, self._memory, self._rounds = calibrator, memory, rounds
        self._measured: list[Calibration] = []

    @override
    def hear(self, content: BaseModel) -> None:
        if isinstance(content, CalibrationRound):
            self._measured.extend(content.calibrations)

    @override
    def replayed(self, result: CalibrationRound) -> None:
        self._calibrator.allowance.used += result.rollouts

    @override
    def step(self, content: Validation) -> str:
        return f"round-{content.round}/calibrate"

    @override
    async def act(self, content: Validation) -> CalibrationRound:
        before = self._calibrator.allowance.used
        calibrations = await self._calibrator.calibrate(
            [child.item for child in content.valid], self._target
        )
        await self._memory.add(
            *(
                self._calibrator.entry(child, calibration)
                for child, calibration in zip(content.valid, calibrations, strict=True)
            )
        )
        last = content.round >= self._rounds
        chosen = self._calibrator.choose(
            [*self._measured, *calibrations], self._target, last_round=last
        )
        return CalibrationRound(
            round=content.round,
            calibrations=calibrations,
            rollouts=self._calibrator.allowance.used - before,
            chosen=chosen,
            done=last or chosen is not None,
        )


class GapTeam:
    """Retriever, Rewriter, Validator and Calibrator at work on one target."""

    def __init__(
        self,
        target: FillTarget,
        agents: tuple[RetrieverAgent, RewriterAgent, ValidatorAgent, CalibratorAgent],
        model_client: ChatCompletionClient,
        *,
        rounds: int,
    ) -> None:
        self._target = target
        self._stopped = _Stopped()
        for agent in agents:
            agent.stopped = self._stopped
        turns = rounds * (2 + 2 * (MAX_REPAIRS + 1))
        self._team = SelectorGroupChat(
            list(agents),
            model_client,  # demanded by the constructor; the order below never asks a model
            selector_func=next_speaker,
            termination_condition=FunctionalTermination(self._ended),
            max_turns=turns,
            custom_message_types=[StructuredMessage[kind] for kind in _TYPES],  # type: ignore[valid-type]
            allow_repeated_speaker=True,
        )

    def _ended(self, messages: Sequence[Any]) -> bool:
        if self._stopped.error is not None:
            return True
        said = [m.content for m in messages if isinstance(m, StructuredMessage)]
        return any(isinstance(one, CalibrationRound) and one.done for one in said)

    async def run(self) -> AsyncIterator[StructuredMessage[Any]]:
        """Yield the transcript's messages as they are spoken, the assignment first.

        Raises whatever an agent raised, as it was raised.
        """
        opening = StructuredMessage[Assignment](
            content=Assignment(round=1, target=self._target), source="BenchFill"
        )
        token = CancellationToken()
        try:
            async for message in self._team.run_stream(task=opening, cancellation_token=token):
                if isinstance(message, StructuredMessage):
                    yield message
        finally:
            token.cancel()
        if self._stopped.error is not None:
            raise self._stopped.error


def next_speaker(messages: Sequence[Any]) -> str | None:
    """Order the four by what was said last."""
    said = messages[-1].content
    if isinstance(said, Assignment | CalibrationRound):
        return "Retriever"
    if isinstance(said, Retrieval):
        return "Rewriter"
    if isinstance(said, Rewriting):
        return "Validator"
    return "Rewriter" if said.repair else "Calibrator"


__all__ = [
    "CHILDREN_PER_PARENT",
    "CalibratorAgent",
    "GapTeam",
    "RetrieverAgent",
    "RewriterAgent",
    "ValidatorAgent",
    "next_speaker",
]
