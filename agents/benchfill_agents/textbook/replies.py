"""What the models must answer with, besides the core's own graph, question and taxonomy."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from benchfill.textbook.knowledge import KnowledgeNode
from benchfill.textbook.question import Letter, Question
from benchfill.textbook.solution_graph import SolutionGraph


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class KnowledgeReply(_Reply):
    """What a chapter teaches."""

    nodes: tuple[KnowledgeNode, ...] = Field(min_length=1, max_length=200)


class Repair(_Reply):
    """A question after a repair; None when there was nothing to repair."""

    changes: str = Field(max_length=4_000)
    question: Question | None


class TraceStep(_Reply):
    """What the Verifier says of one node."""

    node: str = Field(max_length=200)
    holds: bool
    comment: str = Field(max_length=4_000)


class TraceReply(_Reply):
    """What the Verifier found when it followed the solution graph."""

    steps: tuple[TraceStep, ...] = Field(max_length=120)
    problems: tuple[str, ...] = Field(max_length=40)


class FinalReply(_Reply):
    """The Verifier's last word on an item."""

    solution: str = Field(max_length=20_000)
    format: bool
    self_contained: bool
    solution_holds: bool
    one_right: bool
    distractors_wrong: bool
    bloom_fits: bool
    difficulty_fits: bool
    problems: tuple[str, ...] = Field(max_length=40)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the criteria that do not hold."""
        flags = self.model_dump(exclude={"solution", "problems"})
        return tuple(name for name, holds in flags.items() if not holds)


class SolveReply(_Reply):
    """A blind solution."""

    reasoning: str = Field(max_length=20_000)
    option: Letter


class MendReply(_Reply):
    """An item mended by a diagnosis; the graph is None when it stays."""

    changes: str = Field(max_length=4_000)
    graph: SolutionGraph | None
    question: Question
