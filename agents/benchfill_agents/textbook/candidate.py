"""A candidate item and what became of it: the line of a generation's record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchfill.items import Item
from benchfill.textbook.blueprint import BlueprintCell
from benchfill.textbook.chapter import SourceSpan
from benchfill.textbook.question import ArrangedQuestion, Letter, Question
from benchfill.textbook.solution_graph import SolutionGraph

from ..calibrator import Calibration
from ..target import FillTarget
from .calls import Spent, added
from .messages import (
    BlindAnswer,
    FinalVerdict,
    GaveUp,
    GraphDraft,
    QuestionDraft,
    TraceReview,
    diagnosis_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome = Literal["accepted", "dropped", "duplicate", "failed"]


class StageNote(BaseModel):
    """What one turn came to, in the order of the turns."""

    model_config = ConfigDict(frozen=True)

    step: str
    author: str
    stage: str
    round: int
    outcome: str
    text: str
    at: str


class Verdicts(BaseModel):
    """How an item was judged."""

    model_config = ConfigDict(frozen=True)

    final_check: FinalVerdict | None = None
    blind_solve: BlindAnswer | None = None


class Candidate(BaseModel):
    """One candidate for a cell of the blueprint. All text in it is untrusted."""

    model_config = ConfigDict(frozen=True)

    place: str = Field(description="its place in the job, as item-3: the name of its transcript")
    number: int = Field(ge=1, description="running number over all cells")
    cell: BlueprintCell
    chapter: str
    outcome: Outcome
    why: tuple[str, ...] = Field((), description="why it is not accepted")
    duplicate_of: str | None = None
    similarity: float | None = Field(None, description="cosine to that item, where it was computed")
    first_check_passed: bool | None = Field(
        None, description="first final check and first blind solve; None when it did not get there"
    )
    retries: int = 0
    key: Letter | None = None
    item: Item | None = None
    graph: SolutionGraph | None = None
    question: Question | None = None
    arranged: ArrangedQuestion | None = None
    verdicts: Verdicts = Verdicts()
    knowledge: tuple[str, ...] = Field((), description="ids of the knowledge nodes it rests on")
    spans: tuple[SourceSpan, ...] = Field((), description="where the source says what it rests on")
    history: tuple[StageNote, ...] = ()
    spent: tuple[Spent, ...] = ()
    target: FillTarget | None = Field(None, description="gap that it was measured for")
    calibration: Calibration | None = None

    @property
    def usd(self) -> float | None:
        """US dollars that it took; None when a price is not known."""
        if any(one.unpriced for one in self.spent):
            return None
        return sum(one.usd for one in self.spent)


class Trail:
    """What the team has said about one item, as it says it."""

    def __init__(self) -> None:
        self.draft: QuestionDraft | None = None
        self.final: FinalVerdict | None = None
        self.blind: BlindAnswer | None = None
        self.gave_up: GaveUp | None = None
        self.first_check_passed: bool | None = None
        self.history: list[StageNote] = []
        self._spent: list[Spent] = []

    def note(self, author: str, step: str, at: str, said: Any) -> None:
        """Take note of a turn."""
        match said:
            case QuestionDraft():
                self.draft = said
            case FinalVerdict():
                self.final, self.blind = said, None
                if not said.passed and said.round == 0:
                    self.first_check_passed = False
            case BlindAnswer():
                self.blind = said
                if said.round == 0:
                    self.first_check_passed = said.reached
            case GaveUp():
                self.gave_up = said
        self._spent += said.spent
        stage, outcome = _stage_of(said)
        self.history.append(
            StageNote(
                step=step,
                author=author,
                stage=stage,
                round=said.round,
                outcome=outcome,
                text=said.summary(),
                at=at,
            )
        )

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What all turns took together."""
        return added(self._spent)

    @property
    def solved(self) -> bool:
        """Whether the item passed all and was solved blind."""
        return self.blind is not None and self.blind.reached

    @property
    def why_not(self) -> tuple[str, ...]:
        """Why it was dropped, in sentences."""
        if self.gave_up is not None:
            return self.gave_up.problems
        last = self.blind if self.blind is not None else self.final
        return () if last is None else diagnosis_of(last)

    @property
    def retries(self) -> int:
        """How often it was mended by a diagnosis."""
        return max((note.round for note in self.history), default=0)


def _stage_of(said: Any) -> tuple[str, str]:
    """Return the stage that a turn belongs to, and what it came to."""
    found = ("assignment", "given")
    match said:
        case GraphDraft():
            found = ("graph", _tries(said.sent_back))
        case QuestionDraft():
            done = _tries(said.sent_back) if said.changed else "nothing to repair"
            found = (said.stage, "not taken" if said.kept_because else done)
        case TraceReview():
            found = ("trace review", "problems" if said.problems else "holds")
        case FinalVerdict():
            found = ("final check", "passed" if said.passed else f"turned down by {said.by}")
        case BlindAnswer():
            found = ("blind solve", "key reached" if said.reached else f"answered {said.option}")
        case GaveUp():
            found = (said.stage, "gave up")
    return found


def _tries(sent_back: Sequence[Any]) -> str:
    return "done" if not sent_back else f"done in try {len(sent_back) + 1}"
