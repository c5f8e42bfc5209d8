"""What a generation ends with."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from benchfill.textbook.blueprint import BlueprintCell

from .aim import GapResult
from .calls import Spent
from .candidate import Candidate

Status = Literal[
    "complete", "short", "gaps_filled", "budget_exhausted", "interrupted", "provider_failed"
]


class CellResult(BaseModel):
    """What became of one cell."""

    model_config = ConfigDict(frozen=True)

    cell: BlueprintCell
    accepted: int
    dropped: int
    duplicates: int
    failed: int


class GenerationReport(BaseModel):
    """What a generation ends with."""

    model_config = ConfigDict(frozen=True)

    status: Status
    why: str = Field("", description="why it ended before it was complete")
    warnings: tuple[str, ...] = ()
    duplicates_by: str
    cells: tuple[CellResult, ...]
    candidates: tuple[Candidate, ...]
    knowledge: dict[str, tuple[str, ...]] = Field(description="node ids by chapter")
    chapters_failed: dict[str, str] = Field({}, description="why, by id of the chapter")
    gaps: tuple[GapResult, ...] = ()
    spent: tuple[Spent, ...]
    rollouts: int = 0
    seconds: float

    @property
    def accepted(self) -> tuple[Candidate, ...]:
        """The accepted candidates, in their order."""
        return tuple(one for one in self.candidates if one.outcome == "accepted")
