"""What an expansion keeps in its folder and reports: rounds, measures, and why it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchfill.diagnosis import Estimate, TopSum

if TYPE_CHECKING:
    from benchfill.diagnosis import Diagnosis
    from benchfill_agents.target import FillTarget

StopReason = Literal["size", "narrow", "no_gap", "unfillable", "budget", "review", "interrupted"]
Outcome = Literal[
    "entered", "rejected", "left_out", "not_found", "resolution_limited", "budget_exhausted"
]
UNREVIEWED = (
    "No expert has seen the new items (--auto-accept): this is a study, not for publication."
)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class GapTry(_Frozen):
    """A gap that a round tried to fill; z on the scale of the version it began with."""

    left_item: str | None
    right_item: str | None
    z_left: float
    z_right: float
    outcome: Outcome
    item: str | None = Field(description="id of the item that was chosen")

    @property
    def borders(self) -> tuple[str | None, str | None]:
        """The items on both sides."""
        return self.left_item, self.right_item


class Spent(_Frozen):
    """What was used."""

    rollouts: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        """Return both together."""
        return Spent(
            rollouts=self.rollouts + other.rollouts,
            tokens=self.tokens + other.tokens,
            usd=self.usd + other.usd,
        )


class Round(_Frozen):
    """A round that is over."""

    number: int = Field(ge=1)
    job: str = Field(description="id of the fill")
    gaps: tuple[GapTry, ...]
    entered: tuple[str, ...] = Field(description="ids of the items that are new")
    spent: Spent


class Standing(_Frozen):
    """The measures of a version."""

    after_round: int = Field(description="0: as it was given")
    items: int
    max_gap: Estimate = Field(description="G")
    ddm: Estimate
    top_k_sum: TopSum
    empty: int = Field(description="empty gaps among the widest")
    widest_empty: float | None = Field(description="width of the widest empty gap")
    spent: Spent = Field(description="by all rounds so far")


class ExpandReport(_Frozen):
    """What became of an expansion."""

    stopped: StopReason
    why: str
    unreviewed: bool = Field(description="taken without review: not for publication")
    wanted: int = Field(description="items that were asked for")
    max_gap: float = Field(description="empty gaps up to this width may stay")
    rounds: tuple[Round, ...]
    standings: tuple[Standing, ...]
    waiting: tuple[str, ...] = Field((), description="candidates whose verdicts are not all in")
    spent: Spent
    items_file: str | None = Field(description="of the last version, from the folder")
    responses_file: str | None


def standing_of(diagnosis: Diagnosis, after_round: int, spent: Spent) -> Standing:
    """Return the measures of a version."""
    empty = [gap.width for gap in diagnosis.gaps if gap.verdict == "empty"]
    return Standing(
        after_round=after_round,
        items=diagnosis.items,
        max_gap=diagnosis.max_gap,
        ddm=Estimate(**diagnosis.ddm.model_dump(include=set(Estimate.model_fields))),
        top_k_sum=diagnosis.top_k_sum,
        empty=len(empty),
        widest_empty=max(empty, default=None),
        spent=spent,
    )


def tried(target: FillTarget, outcome: Outcome, item: str | None) -> GapTry:
    """Return the record of a gap."""
    return GapTry(
        left_item=target.left_item,
        right_item=target.right_item,
        z_left=target.z_left,
        z_right=target.z_right,
        outcome=outcome,
        item=item,
    )
