"""What Designer, Verifier and Solver say about one item: a typed message for each turn."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from benchfill.textbook.question import ArrangedQuestion, Letter, Question
from benchfill.textbook.solution_graph import SolutionGraph

from .calls import Spent
from .material import RepairStage

MOST_RETRIES = 3
Stage = Literal["written", RepairStage, "mended"]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    round: int = Field(0, ge=0, description="0 for the first wording, then the retry")
    spent: tuple[Spent, ...] = ()


class ItemAssignment(_Message):
    """What the item shall be; it opens the transcript."""

    competency: str
    bloom: str
    difficulty: str
    chapter: str
    key: Letter = Field(description="where the key shall stand, so that keys are in balance")
    seed: int = Field(ge=0, description="seed of the order of the options")

    def summary(self) -> str:
        """Say it in a sentence."""
        return (
            f"Write an item for {self.competency} ({self.bloom}, {self.difficulty}) from the "
            f"chapter {self.chapter}."
        )


class GraphDraft(_Message):
    """A solution graph that passed the checks."""

    graph: SolutionGraph
    sent_back: tuple[tuple[str, ...], ...] = Field((), description="faults of earlier tries")

    def summary(self) -> str:
        """Say it in a sentence."""
        graph = self.graph
        answer = graph.by_id[graph.answer]
        lines = [
            f"Solution graph: {len(graph.nodes)} nodes, {len(graph.edges)} edges; answer: "
            f"{answer.value}"
        ]
        return "\n".join([*lines, *_sent_back(self.sent_back)])


class QuestionDraft(_Message):
    """The question after a stage, with its options as arranged."""

    stage: Stage
    graph: SolutionGraph
    question: Question
    arranged: ArrangedQuestion
    changes: str = ""
    changed: bool = True
    kept_because: tuple[str, ...] = Field(
        (), description="the repair broke the item and was not taken: what the checks said"
    )
    sent_back: tuple[tuple[str, ...], ...] = ()

    def summary(self) -> str:
        """Say it in a few lines."""
        title = {"written": "Question written", "mended": f"Mended, retry {self.round}"}.get(
            self.stage, f"Repair: {self.stage.replace('_', ' ')}"
        )
        if self.kept_because:
            return "\n".join([f"{title}: not taken, since it broke the item.", *self.kept_because])
        if not self.changed:
            return f"{title}: nothing to repair."
        said = f"{title}. {self.changes}".rstrip()
        return "\n".join([said, "", self.arranged.text, *_sent_back(self.sent_back)])


class TraceReview(_Message):
    """What the Verifier found when it followed the graph."""

    problems: tuple[str, ...]
    steps: int

    def summary(self) -> str:
        """Say it in a few lines."""
        if not self.problems:
            return f"All {self.steps} steps hold."
        return "\n".join([f"{len(self.problems)} problems in the trace:", *self.problems])


class FinalVerdict(_Message):
    """Whether the item may go on, by the checks and the Verifier."""

    passed: bool
    by: Literal["checks", "Verifier"]
    failed: tuple[str, ...] = Field((), description="names of the criteria that do not hold")
    problems: tuple[str, ...] = ()
    solution: str = ""

    def summary(self) -> str:
        """Say it in a few lines."""
        who = "The checks" if self.by == "checks" else "The Verifier"
        if self.passed:
            return f"{who} found nothing wrong."
        return "\n".join([f"{who} turned it down ({', '.join(self.failed)}).", *self.problems])


class BlindAnswer(_Message):
    """What a third model answered without the key."""

    option: Letter
    reached: bool
    reasoning: str

    def summary(self) -> str:
        """Say it in a few lines."""
        said = "as the key has it" if self.reached else "which is not the key"
        return f"Solved blind: {self.option}, {said}.\n{self.reasoning[:2000]}"


class GaveUp(_Message):
    """The item is dropped."""

    stage: str
    problems: tuple[str, ...]

    def summary(self) -> str:
        """Say it in a few lines."""
        return "\n".join([f"Dropped at stage {self.stage}.", *self.problems])


KINDS: tuple[type[BaseModel], ...] = (
    ItemAssignment,
    GraphDraft,
    QuestionDraft,
    TraceReview,
    FinalVerdict,
    BlindAnswer,
    GaveUp,
)


def kind_of(said: BaseModel) -> str:
    """Return what a transcript calls a message, as final_verdict."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(said).__name__).lower()


def diagnosis_of(said: FinalVerdict | BlindAnswer) -> tuple[str, ...]:
    """Return what is to be mended."""
    if isinstance(said, FinalVerdict):
        return said.problems or tuple(f"{name} does not hold." for name in said.failed)
    return (
        f"A solver that did not know the key chose {said.option}. Its reasoning: "
        f"{said.reasoning[:4000]}",
    )


def _sent_back(tries: tuple[tuple[str, ...], ...]) -> list[str]:
    return [f"Sent back: {' '.join(problems)}" for problems in tries]
