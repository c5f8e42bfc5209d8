"""The Designer: solution graph, question, five repairs, and mending by a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import override

from benchfill.textbook.question import Question
from benchfill.textbook.solution_graph import SolutionGraph

from ..turns import RecordedSpeaker
from .calls import NotWrittenError
from .checks import arranged_as, graph_faults, question_faults
from .material import REPAIRS, RepairStage, ask_graph, ask_mend, ask_question, ask_repair
from .messages import (
    BlindAnswer,
    FinalVerdict,
    GaveUp,
    GraphDraft,
    ItemAssignment,
    QuestionDraft,
    TraceReview,
    diagnosis_of,
)
from .replies import MendReply, Repair

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..steps import StepRecord
    from .calls import Calls
    from .material import ItemTask
    from .messages import Stage
    from .seat import Seat


class DesignerAgent(RecordedSpeaker):
    """Writes and repairs one item; judges nothing."""

    speaks = (GraphDraft, QuestionDraft, GaveUp)

    def __init__(  # noqa: PLR0913, PLR0917 - what a seat at the table takes
        self,
        place: str,
        steps: StepRecord,
        calls: Calls,
        seat: Seat,
        task: ItemTask,
        assignment: ItemAssignment,
    ) -> None:
        super().__init__("Designer", "Writes items and repairs them.", place, steps)
        self._calls, self._seat, self._task = calls, seat, task
        self._assignment = assignment
        self._draft: QuestionDraft | None = None

    @override
    def hear(self, content: BaseModel) -> None:
        if isinstance(content, QuestionDraft):
            self._draft = content

    @override
    def step(self, content: Any) -> str:
        match content:
            case ItemAssignment():
                return "graph"
            case GraphDraft():
                return "question"
            case FinalVerdict() | BlindAnswer():
                return f"mend-{content.round + 1}"
            case _:
                return f"repair-{_repair_after(content)}"

    @override
    async def act(self, content: Any) -> BaseModel:
        match content:
            case ItemAssignment():
                return await self._graph()
            case GraphDraft():
                return await self._question(content.graph)
            case FinalVerdict() | BlindAnswer():
                return await self._mend(content)
            case TraceReview():
                return await self._repair("integrity", content.problems)
            case _:
                return await self._repair(_repair_after(content), ())

    async def _graph(self) -> GraphDraft | GaveUp:
        async def faults(graph: SolutionGraph) -> tuple[str, ...]:
            return await graph_faults(graph, self._task.knowledge)

        try:
            written = await self._calls.write(
                self._seat, f"{self._place}/graph", ask_graph(self._task), SolutionGraph, faults
            )
        except NotWrittenError as error:
            return GaveUp(stage="graph", problems=error.problems, spent=error.spent)
        return GraphDraft(graph=written.value, sent_back=written.sent_back, spent=written.spent)

    async def _question(self, graph: SolutionGraph) -> QuestionDraft | GaveUp:
        async def faults(question: Question) -> tuple[str, ...]:
            return await self._faults(question, graph, "written")

        try:
            written = await self._calls.write(
                self._seat,
                f"{self._place}/question",
                ask_question(self._task, graph),
                Question,
                faults,
            )
        except NotWrittenError as error:
            return GaveUp(stage="question", problems=error.problems, spent=error.spent)
        return QuestionDraft(
            stage="written",
            graph=graph,
            question=written.value,
            arranged=self._arranged(written.value),
            sent_back=written.sent_back,
            spent=written.spent,
        )

    async def _repair(self, stage: RepairStage, problems: tuple[str, ...]) -> QuestionDraft:
        draft = self._latest_draft()
        known = await self._faults(draft.question, draft.graph, None)
        due = await self._faults(draft.question, draft.graph, stage)
        if stage == "integrity" and not problems and not due:
            return draft.model_copy(update=_unchanged(stage))

        async def faults(repair: Repair) -> tuple[str, ...]:
            if repair.question is None:
                return tuple(f"Nothing was repaired, but {one}" for one in (*due, *problems))
            return await self._faults(repair.question, draft.graph, stage)

        ask = ask_repair(stage, self._task, draft.graph, draft.question, (*problems, *known))
        place = f"{self._place}/repair-{stage}"
        try:
            written = await self._calls.write(self._seat, place, ask, Repair, faults)
        except NotWrittenError as error:
            # what stood before the repair was sound so far: the final check will see it
            kept = {"kept_because": error.problems, "spent": error.spent}
            return draft.model_copy(update=_unchanged(stage) | kept)
        repair = written.value
        came_of_it = {"sent_back": written.sent_back, "spent": written.spent}
        if repair.question is None or repair.question == draft.question:
            return draft.model_copy(update=_unchanged(stage) | came_of_it)
        return QuestionDraft.model_validate(
            {
                "stage": stage,
                "graph": draft.graph,
                "question": repair.question,
                "arranged": self._arranged(repair.question),
                "changes": repair.changes,
            }
            | came_of_it
        )

    async def _mend(self, said: FinalVerdict | BlindAnswer) -> QuestionDraft | GaveUp:
        draft, retry = self._latest_draft(), said.round + 1

        async def faults(mended: MendReply) -> tuple[str, ...]:
            graph = mended.graph or draft.graph
            wrong = await graph_faults(graph, self._task.knowledge) if mended.graph else ()
            return wrong or await self._faults(mended.question, graph, None)

        ask = ask_mend(self._task, draft.graph, draft.question, draft.arranged, diagnosis_of(said))
        try:
            written = await self._calls.write(
                self._seat, f"{self._place}/mend-{retry}", ask, MendReply, faults
            )
        except NotWrittenError as error:
            return GaveUp(round=retry, stage="mend", problems=error.problems, spent=error.spent)
        mended = written.value
        return QuestionDraft(
            round=retry,
            stage="mended",
            graph=mended.graph or draft.graph,
            question=mended.question,
            arranged=self._arranged(mended.question),
            changes=mended.changes,
            sent_back=written.sent_back,
            spent=written.spent,
        )

    async def _faults(
        self, question: Question, graph: SolutionGraph, after: Stage | None
    ) -> tuple[str, ...]:
        arranged = self._arranged(question)
        return await question_faults(question, arranged, graph, self._task.knowledge, after=after)

    def _arranged(self, question: Question) -> Any:
        return arranged_as(question, self._assignment.key, self._assignment.seed)

    def _latest_draft(self) -> QuestionDraft:
        if self._draft is None:
            raise RuntimeError("a repair was asked for before there was a question")
        return self._draft


def _repair_after(content: QuestionDraft | TraceReview) -> RepairStage:
    """Return the repair that follows."""
    if isinstance(content, TraceReview):
        return "integrity"
    if content.stage == "written":
        return REPAIRS[0]
    return REPAIRS[REPAIRS.index(content.stage) + 1]


def _unchanged(stage: RepairStage) -> dict[str, Any]:
    return {
        "stage": stage,
        "changes": "",
        "changed": False,
        "kept_because": (),
        "sent_back": (),
        "spent": (),
    }
