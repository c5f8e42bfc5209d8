"""A revision: one item changed as a reviewer asked, checked and measured like any other child.

Rewriter, Validator and Calibrator of a fill do it, as a team with a single round whose turns are
recorded steps: a killed job continues at the first turn without a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from .calibrator import CalibrationPlan, Calibrator
from .messages import CalibrationRound, ChangeRequest, Rewriting, Validation
from .rewriter.revise import LLMReviser, NotRevisedError
from .team import GapTeam
from .team_agents import CalibratorAgent, ValidatorAgent
from .turns import RecordedAgent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from autogen_core.models import ChatCompletionClient
    from pydantic import BaseModel

    from .calibrator import Bench, Calibration
    from .memory import Memory
    from .pool.config import Scoring
    from .pool.rollouts import RolloutRunner
    from .rewriter import Child, RevisionTask
    from .spending import Allowance
    from .steps import StepRecord
    from .target import FillTarget
    from .validator import Validator

REPAIRS = 1
_REFERENCES_PER_SIDE = 8
_NOTHING = "Nothing was measured."
_TURNED_DOWN = "the revision does not pass the checks."


@dataclass(frozen=True, eq=False)
class RevisionParts:
    """What a revision works with."""

    target: FillTarget
    bench: Bench
    plan: CalibrationPlan
    scoring: Scoring
    validator: Validator
    """With the checks that the fill's children passed."""
    runner: RolloutRunner
    memory: Memory
    steps: StepRecord
    model_client: ChatCompletionClient
    allowance: Allowance
    permit: Callable[[], Awaitable[None]]
    seed: int
    replaced: frozenset[str]
    """Ids of the item's wordings so far: the revision takes their place."""


@dataclass(frozen=True)
class Spoken:
    """What an agent has said, and the step in which it did."""

    author: str
    step: str
    content: Rewriting | Validation | CalibrationRound


class RevisionTeam:
    """Rewriter, Validator and Calibrator at work on one change request."""

    def __init__(self, parts: RevisionParts) -> None:
        self._parts = parts
        self._written: dict[str, Child] = {}
        self._validation: Validation | None = None
        self._round: CalibrationRound | None = None
        self._reviser = LLMReviser(parts.model_client, parts.scoring)

    @property
    def prompts(self) -> dict[str, str]:
        """SHA-256 of each template that is used, by name."""
        return self._reviser.prompts

    async def run(self, task: RevisionTask) -> AsyncIterator[Spoken]:
        """Yield what the agents say, as they say it.

        Raises
        ------
        NotRevisedError
            The model wrote nothing that can be used.
        BudgetExhaustedError
            The allowance does not hold the rollouts.
        ProviderError
            A model could not be reached.
        """
        self._parts.allowance.check()
        task = await self._with_references(task)
        async for message in self._team(task).run():
            content = message.content
            if isinstance(content, ChangeRequest):
                continue
            self._note(content)
            yield Spoken(message.source, message.metadata["step"], content)

    def result(self) -> tuple[Child, Calibration]:
        """Return what came of it. Raises NotRevisedError when the checks turned it down."""
        measured = self._round.calibrations if self._round is not None else ()
        if not measured:
            verdicts = self._validation.verdicts if self._validation is not None else ()
            reasons = [reason for one in verdicts for reason in one.reasons]
            raise NotRevisedError(f"{_TURNED_DOWN} {' '.join(reasons or [_NOTHING])}")
        return self._written[measured[0].item], measured[0]

    def _note(self, content: Rewriting | Validation | CalibrationRound) -> None:
        if isinstance(content, Rewriting):
            self._written |= {child.item.id: child for child in content.children}
        elif isinstance(content, Validation):
            self._validation = content
        else:
            self._round = content

    async def _with_references(self, task: RevisionTask) -> RevisionTask:
        parts = self._parts
        # some to spare for those that are the item itself
        count = _REFERENCES_PER_SIDE + len(parts.replaced)
        below, above = (
            tuple(one for one in side if one.item.id not in parts.replaced)
            for side in await parts.memory.neighbours(task.target_z, count)
        )
        return task.model_copy(
            update={
                "references_below": below[:_REFERENCES_PER_SIDE],
                "references_above": above[:_REFERENCES_PER_SIDE],
            }
        )

    def _team(self, task: RevisionTask) -> GapTeam:
        parts = self._parts
        calibrator = Calibrator(parts.bench, parts.runner, parts.allowance, parts.plan)
        return GapTeam(
            parts.target,
            (
                _ReviserAgent(parts, task, self._reviser),
                ValidatorAgent(
                    parts.target,
                    parts.steps,
                    parts.validator,
                    parts.memory,
                    repairs=REPAIRS,
                    replaced=parts.replaced,
                ),
                CalibratorAgent(parts.target, parts.steps, calibrator, parts.memory, rounds=1),
            ),
            parts.model_client,
            rounds=1,
            opening=ChangeRequest(round=1, task=task),
        )


class _ReviserAgent(RecordedAgent):
    """Writes the revision, and mends it once when it is turned down."""

    produces = Rewriting

    def __init__(self, parts: RevisionParts, task: RevisionTask, reviser: LLMReviser) -> None:
        super().__init__("Rewriter", "Changes an item as asked.", parts.target, parts.steps)
        self._parts, self._task, self._reviser = parts, task, reviser

    @override
    def step(self, content: ChangeRequest | Validation) -> str:
        return f"revision/rewrite-{_attempt(content)}"

    @override
    async def act(self, content: ChangeRequest | Validation) -> BaseModel:
        await self._parts.permit()
        if not isinstance(content, Validation):
            child = await self._reviser.revise(self._task, seed=self._parts.seed)
            return Rewriting(round=1, attempt=0, children=(child,))
        task = self._task.model_copy(update={"rejected": content.rejected})
        try:
            # two on: a reviser that asks again takes the next one
            child = await self._reviser.revise(task, seed=self._parts.seed + 2)
        except NotRevisedError as error:
            reasons = " ".join(content.rejected[-1].reasons)
            raise NotRevisedError(f"{_TURNED_DOWN} {reasons} Mending it failed.") from error
        return Rewriting(round=1, attempt=_attempt(content), children=(child,))


def _attempt(content: Any) -> int:
    return content.attempt + 1 if isinstance(content, Validation) else 0
