"""What the agents say to one another: one typed message for each agent's turn."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel, ConfigDict, Field

from .calibrator import Calibration
from .memory import MemoryEntry
from .rewriter import Child, Rejection, RevisionTask
from .target import FillTarget
from .validator import Verdict


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    round: int = Field(ge=1)


class Assignment(_Message):
    """The task of a team: one target. It opens round 1."""

    target: FillTarget

    def summary(self) -> str:
        """Say it in a sentence."""
        return (
            f"Find an item of difficulty {self.target.z:.3f}, between {self.target.z_left:.3f} "
            f"and {self.target.z_right:.3f}."
        )


class ChangeRequest(_Message):
    """What a reviewer wants changed. It opens the one round of a revision."""

    task: RevisionTask

    def summary(self) -> str:
        """Say it in a sentence."""
        return self.task.request


class Retrieval(_Message):
    """The Retriever's choice of parents and bilateral references."""

    parents: tuple[MemoryEntry, ...]
    below: tuple[MemoryEntry, ...]
    above: tuple[MemoryEntry, ...]

    def summary(self) -> str:
        """Say it in a sentence."""
        parents = ", ".join(f"{entry.item.id} ({entry.z:.3f})" for entry in self.parents)
        return (
            f"Parents: {parents or 'none'}; {len(self.below)} references below and "
            f"{len(self.above)} above."
        )


class Rewriting(_Message):
    """The Rewriter's children, in one attempt of a round."""

    attempt: int = Field(ge=0, description="0 for the first writing, then repairs")
    children: tuple[Child, ...]
    shortfalls: tuple[str, ...] = Field((), description="why there are fewer than asked for")

    def summary(self) -> str:
        """Say it in a sentence."""
        lines = [f"{child.item.id}: {child.item.question}" for child in self.children]
        return "\n".join([f"{len(lines)} children.", *lines, *self.shortfalls])


class Validation(_Message):
    """The Validator's verdicts on all children of an attempt."""

    attempt: int
    verdicts: tuple[Verdict, ...]
    valid: tuple[Child, ...] = Field(description="all valid children of the round so far")
    rejected: tuple[Rejection, ...] = Field(description="all rejected ones of the round so far")
    rejected_parents: tuple[str, ...] = Field(
        (), description="parents whose children were turned down in this attempt"
    )
    repair: bool = Field(description="the Rewriter shall try again with the reasons")

    def summary(self) -> str:
        """Say it in a sentence."""
        failed = [v for v in self.verdicts if not v.valid]
        lines = [f"{v.item}: {' '.join(v.reasons)}" for v in failed]
        noted = Counter(note for v in self.verdicts if v.valid for note in v.notes)
        lines += [f"{count} of the valid: {note}" for note, count in noted.items()]
        return "\n".join(
            [f"{len(self.verdicts) - len(failed)} of {len(self.verdicts)} valid.", *lines]
        )


class CalibrationRound(_Message):
    """The Calibrator's measurements, which close a round.

    They are of the round's children, and of those of earlier rounds that were asked about again.
    """

    calibrations: tuple[Calibration, ...]
    rollouts: int = Field(0, description="rollouts asked for in this round, failed ones included")
    chosen: str | None = Field(None, description="id of the child that fills the gap")
    done: bool = Field(description="the search ends here")

    def summary(self) -> str:
        """Say it in a sentence."""
        lines = [
            f"{one.item}: z {one.z:.3f} [{one.q05:.3f}, {one.q95:.3f}], "
            f"P(in gap) {one.p_in_gap:.2f}, {one.rollouts} rollouts, {one.outcome}"
            for one in self.calibrations
        ]
        verdict = f"{self.chosen} fills the gap." if self.chosen else "No child is accepted yet."
        return "\n".join([*lines, verdict])
