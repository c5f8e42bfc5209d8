"""Designer, Verifier and Solver as one AutoGen team, with one transcript for each item.

graph -> question -> self-contained -> (Verifier follows the trace) -> integrity -> concise -> no
references -> sound -> Verifier's final check -> blind solve; a verdict against it, or another
answer, goes back to the Designer, up to three times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..team import RecordedTeam
from .designer import DesignerAgent
from .messages import (
    KINDS,
    MOST_RETRIES,
    BlindAnswer,
    FinalVerdict,
    GaveUp,
    ItemAssignment,
    QuestionDraft,
)
from .verifier import SolverAgent, VerifierAgent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from ..steps import StepRecord
    from .calls import Calls
    from .material import ItemTask
    from .seat import Seats

_FIRST_PASS = 9  # turns until the first blind solve
_A_RETRY = 3


class ItemTeam(RecordedTeam):
    """The three at work on one item."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a table of three takes
        self,
        place: str,
        assignment: ItemAssignment,
        task: ItemTask,
        seats: Seats,
        steps: StepRecord,
        calls: Calls,
    ) -> None:
        super().__init__(
            (
                DesignerAgent(place, steps, calls, seats.designer, task, assignment),
                VerifierAgent(place, steps, calls, seats.verifier, task),
                SolverAgent(place, steps, calls, seats.solver),
            ),
            assignment,
            order=next_speaker,
            ends=is_end,
            kinds=KINDS,
            turns=1 + _FIRST_PASS + _A_RETRY * MOST_RETRIES + 1,
            model_client=seats.designer.client,
        )


def next_speaker(messages: Sequence[Any]) -> str | None:
    """Order the three by what was said last."""
    said = messages[-1].content
    if isinstance(said, QuestionDraft) and said.stage in {"self_contained", "sound", "mended"}:
        return "Verifier"
    if isinstance(said, FinalVerdict) and said.passed:
        return "Solver"
    return "Designer"


def is_end(said: BaseModel) -> bool:
    """Whether nobody speaks after this."""
    match said:
        case GaveUp():
            return True
        case BlindAnswer():
            return said.reached or said.round >= MOST_RETRIES
        case FinalVerdict():
            return not said.passed and said.round >= MOST_RETRIES
        case _:
            return False
