"""The Verifier, who judges and mends nothing, and the Solver, who does not know the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

from ..turns import RecordedSpeaker
from .calls import NotWrittenError
from .checks import question_faults
from .material import ask_final_check, ask_solve, ask_trace_review
from .messages import BlindAnswer, FinalVerdict, GaveUp, QuestionDraft, TraceReview
from .replies import FinalReply, SolveReply, TraceReply

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..steps import StepRecord
    from .calls import Calls
    from .material import ItemTask
    from .seat import Seat


class VerifierAgent(RecordedSpeaker):
    """Follows the trace, and has the last word on an item. It sees key, trace and solution."""

    speaks = (TraceReview, FinalVerdict, GaveUp)

    def __init__(
        self, place: str, steps: StepRecord, calls: Calls, seat: Seat, task: ItemTask
    ) -> None:
        super().__init__("Verifier", "Judges items.", place, steps)
        self._calls, self._seat, self._task = calls, seat, task

    @override
    def step(self, content: QuestionDraft) -> str:
        if content.stage == "self_contained":
            return "trace-review"
        return f"final-check-{content.round}"

    @override
    async def act(self, content: QuestionDraft) -> BaseModel:
        if content.stage == "self_contained":
            return await self._follow(content)
        return await self._decide(content)

    async def _follow(self, draft: QuestionDraft) -> TraceReview | GaveUp:
        ask = ask_trace_review(self._task, draft.graph, draft.question)
        place = f"{self._place}/trace-review"
        try:
            written = await self._calls.write(self._seat, place, ask, TraceReply, _no_problem)
        except NotWrittenError as error:
            return GaveUp(stage="trace review", problems=error.problems, spent=error.spent)
        reply = written.value
        doubted = tuple(f"{one.node}: {one.comment}" for one in reply.steps if not one.holds)
        return TraceReview(
            problems=reply.problems or doubted, steps=len(reply.steps), spent=written.spent
        )

    async def _decide(self, draft: QuestionDraft) -> FinalVerdict | GaveUp:
        # what can be computed is not left to a model, and costs nothing
        found = await question_faults(
            draft.question, draft.arranged, draft.graph, self._task.knowledge
        )
        if found:
            return FinalVerdict(
                round=draft.round, passed=False, by="checks", failed=("checks",), problems=found
            )
        ask = ask_final_check(self._task, draft.graph, draft.question, draft.arranged)
        place = f"{self._place}/final-check-{draft.round}"
        try:
            written = await self._calls.write(self._seat, place, ask, FinalReply, _no_problem)
        except NotWrittenError as error:
            return GaveUp(
                round=draft.round,
                stage="final check",
                problems=error.problems,
                spent=error.spent,
            )
        reply = written.value
        return FinalVerdict(
            round=draft.round,
            passed=not reply.failed,
            by="Verifier",
            failed=reply.failed,
            problems=reply.problems,
            solution=reply.solution,
            spent=written.spent,
        )


class SolverAgent(RecordedSpeaker):
    """Solves an item from stem and options alone."""

    speaks = (BlindAnswer, GaveUp)

    def __init__(self, place: str, steps: StepRecord, calls: Calls, seat: Seat) -> None:
        super().__init__("Solver", "Solves items without the key.", place, steps)
        self._calls, self._seat = calls, seat
        self._draft: QuestionDraft | None = None

    @override
    def hear(self, content: BaseModel) -> None:
        if isinstance(content, QuestionDraft):
            self._draft = content

    @override
    def step(self, content: FinalVerdict) -> str:
        return f"blind-solve-{content.round}"

    @override
    async def act(self, content: FinalVerdict) -> BaseModel:
        if self._draft is None:
            raise RuntimeError("the Solver was called before there was a question")
        arranged = self._draft.arranged
        place = f"{self._place}/blind-solve-{content.round}"
        try:
            written = await self._calls.write(
                self._seat, place, ask_solve(arranged), SolveReply, _no_problem
            )
        except NotWrittenError as error:
            return GaveUp(
                round=content.round,
                stage="blind solve",
                problems=error.problems,
                spent=error.spent,
            )
        reply = written.value
        return BlindAnswer(
            round=content.round,
            option=reply.option,
            reached=reply.option == arranged.key,
            reasoning=reply.reasoning,
            spent=written.spent,
        )


async def _no_problem(reply: Any) -> tuple[str, ...]:  # noqa: ARG001 - a check like others
    return ()
