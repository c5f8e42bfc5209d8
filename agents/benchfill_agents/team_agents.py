"""The four agents: what each hears, does and says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from .calibrator import Foretold
from .messages import Assignment, CalibrationRound, Retrieval, Rewriting, Validation
from .rewriter import RewriteTask
from .rewriter.child import Rejection
from .turns import RecordedAgent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from benchfill.items import Item

    from .calibrator import Calibration, Calibrator
    from .calibrator.learned import Guess, LearnedDifficulty
    from .memory import Memory
    from .retriever import Retriever
    from .rewriter import Child, Rewriter, Shortfall
    from .steps import StepRecord
    from .target import FillTarget
    from .validator import Validator

CHILDREN_PER_PARENT = 4
MAX_REPAIRS = 2


class RetrieverAgent(RecordedAgent):
    """Opens each round."""

    produces = Retrieval

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


class RewriterAgent(RecordedAgent):
    """Writes children, and mends those that were turned down."""

    produces = Rewriting

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


class ValidatorAgent(RecordedAgent):
    """Checks children against all known items; sends back those it turns down."""

    produces = Validation

    def __init__(  # noqa: PLR0913 - keyword-only but for four
        self,
        target: FillTarget,
        steps: StepRecord,
        validator: Validator,
        memory: Memory,
        *,
        repairs: int = MAX_REPAIRS,
        replaced: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__("Validator", "Checks children before rollouts are spent.", target, steps)
        self._validator, self._memory = validator, memory
        self._repairs = repairs
        self._replaced = replaced  # ids of items that need not differ from what is checked
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
        entries = await self._memory.entries()
        known = [entry.item for entry in entries if entry.item.id not in self._replaced]
        verdicts = await self._validator.validate(
            content.children, [*known, *(child.item for child in valid)]
        )
        judged = list(zip(content.children, verdicts, strict=True))
        # who failed since the judge gave nothing that can be used is not sent back to be mended
        turned_down = [(child, verdict) for child, verdict in judged if verdict.blames_child]
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
            repair=bool(turned_down) and content.attempt < self._repairs,
        )


class CalibratorAgent(RecordedAgent):
    """Measures the valid children, gives all of them to the memory, and closes the round."""

    produces = CalibrationRound

    def __init__(  # noqa: PLR0913 - keyword-only but for four
        self,
        target: FillTarget,
        steps: StepRecord,
        calibrator: Calibrator,
        memory: Memory,
        *,
        rounds: int,
        learned: LearnedDifficulty | None = None,
    ) -> None:
        super().__init__("Calibrator", "Measures children on the pool.", target, steps)
        self._calibrator, self._memory, self._rounds = calibrator, memory, rounds
        self._learned = learned
        self._measured: dict[str, Calibration] = {}
        self._parents: dict[str, float] = {}  # z by id
        self._children: dict[str, Child] = {}

    @override
    def hear(self, content: BaseModel) -> None:
        if isinstance(content, CalibrationRound):
            self._measured |= {one.item: one for one in content.calibrations}
        elif isinstance(content, Retrieval):
            self._parents |= {entry.item.id: entry.z for entry in content.parents}
        elif isinstance(content, Validation):
            self._children |= {child.item.id: child for child in content.valid}

    @override
    async def replayed(self, result: CalibrationRound) -> None:
        self._calibrator.allowance.used += result.rollouts
        self._calibrator.remember(result.calibrations, self._target, self._parent_places())
        await self._keep(result.calibrations)  # the memory may be a new one

    async def _keep(self, calibrations: Sequence[Calibration]) -> None:
        """Give measured children to the memory."""
        await self._memory.add(
            *(self._calibrator.entry(self._children[one.item], one) for one in calibrations)
        )

    def _parent_places(self) -> dict[str, float]:
        """Return the z of each child's parent by the child's id."""
        return {
            name: self._parents[child.parent_id]
            for name, child in self._children.items()
            if child.parent_id in self._parents
        }

    async def _guesses(self, items: list[Item]) -> dict[str, Guess]:
        """Return what the items' text lets expect, by id."""
        if self._learned is None:
            return {}
        found = await asyncio.to_thread(self._learned.guess, items)
        return {item.id: one for item, one in zip(items, found or (), strict=bool(found))}

    @override
    def step(self, content: Validation) -> str:
        return f"round-{content.round}/calibrate"

    @override
    async def act(self, content: Validation) -> CalibrationRound:
        before = self._calibrator.allowance.used
        earlier = self._calibrator.open(self._measured.values())
        items = [child.item for child in content.valid]
        items += [self._children[one.item].item for one in earlier]
        last = content.round >= self._rounds
        calibrations = await self._calibrator.calibrate(
            items,
            self._target,
            Foretold(self._parent_places(), await self._guesses(items), earlier),
            last_round=last,
        )
        await self._keep(calibrations)
        measured = self._measured | {one.item: one for one in calibrations}
        chosen = self._calibrator.choose(list(measured.values()), self._target, last_round=last)
        return CalibrationRound(
            round=content.round,
            calibrations=calibrations,
            rollouts=self._calibrator.allowance.used - before,
            chosen=chosen,
            done=last or chosen is not None,
        )
