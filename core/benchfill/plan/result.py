"""What a plan says."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..fitted import FittedResult

Objective = Literal["max-gap", "ddm", "top-k"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Expected(_Frozen):
    """A figure over posterior draws: its mean, 5% and 95% quantiles."""

    mean: float
    q05: float
    q95: float


class Coverage(_Frozen):
    """What the items cover; in each draw on the scale between its easiest and hardest item."""

    max_gap: Expected
    ddm: Expected
    top_k_sum: Expected


class AgainstPlain(_Frozen):
    """What was found best against the midpoints of the widest gaps, draw by draw.

    Judged on draws that it was not found on. If it does not beat them, they are the plan.
    """

    places: tuple[float, ...] = Field(description="the plain midpoints, z")
    coverage: Coverage
    difference: Expected = Field(
        description="objective of what was found best minus plain; below 0 is better"
    )
    standard_error: float = Field(description="Monte-Carlo error of the mean difference")
    p_better: float = Field(description="share of draws in which it is better")
    p_worse: float = Field(description="share of draws in which it is worse; in others they tie")
    beaten: bool = Field(
        description="the mean difference is below 0 by two standard errors, and by 2% of plain or "
        "by more than plain midpoints bring themselves"
    )


class NewItem(_Frozen):
    """Where a new item goes, and what it takes to measure that it lies there."""

    z: float = Field(description="on the frozen scale")
    b: float = Field(description="logits")
    left_item: str = Field(description="nearest easier item, by posterior mean")
    right_item: str = Field(description="nearest harder item")
    half_width: float | None = Field(
        description="half the expected distance between its neighbours after the plan, z"
    )
    models: tuple[str, ...] = Field(description="models that tell most about this difficulty")
    rollouts: int | None = Field(
        description="over these models, for a standard error of a quarter of half_width"
    )
    rollouts_in_gap: int | None = Field(
        description="for an expected P(between the two items) of .9; None where they are too "
        "uncertain themselves"
    )


class Profile(_Frozen):
    """Expected width of the spacing around each place, on the frozen scale."""

    z: tuple[float, ...]
    before: tuple[float | None, ...]
    after: tuple[float | None, ...]


class ItemPlan(_Frozen):
    """Where new items go, and what the benchmark is then expected to cover."""

    objective: Objective
    k: int
    placement_sd: float = Field(description="assumed error of placement, z")
    answers_per_item: int = Field(description="rollouts on an item so far, median")
    items: tuple[NewItem, ...] = Field(description="easiest first")
    before: Coverage
    after: Coverage
    plain: AgainstPlain
    profile: Profile
    rollouts: int = Field(description="to measure all new items, those without a figure left out")


class Rerun(_Frozen):
    """Run this item again on this model, so often."""

    model: str
    item: str
    rollouts: int


class GapOutlook(_Frozen):
    """An undecided gap, and what the further rollouts are expected to show of it."""

    left_item: str
    right_item: str
    z_left: float
    z_right: float
    width: float
    p_hole: float = Field(description="P(spacing over the midpoint >= half the width), now")
    extreme_border: bool
    rollouts: int = Field(description="planned for this gap")
    p_empty: float = Field(description="P(it will then be called empty)")
    p_occupied: float = Field(description="P(items will then be seen to lie in it)")
    rollouts_for_even_chance: int | None = Field(
        description="for P(decided) >= .5 if spent on this gap alone, to a factor of two; None "
        "where 64 times the budget are too few"
    )


class RerunPlan(_Frozen):
    """Which items to run again on which models, and how many gaps that is expected to decide."""

    budget: int
    empty: int = Field(description="of the 20 widest gaps: surely empty")
    occupied: int = Field(description="surely not: items lie in them, p_hole <= .05")
    undecided: int
    gaps: tuple[GapOutlook, ...] = Field(description="the widest undecided ones, at most five")
    reruns: tuple[Rerun, ...]
    expected_decided: float


class Plan(FittedResult):
    """Where new items go, and which items to run again; each None where no budget was given."""

    new_items: ItemPlan | None
    reruns: RerunPlan | None
