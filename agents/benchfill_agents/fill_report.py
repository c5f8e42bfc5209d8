"""What a fill reports (the JSON of ``benchfill fill``, less its envelope)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .anchors import AnchorReport
from .borders import BorderReport
from .calibrator import Calibration, ModelCount
from .calibrator.learned import LearnedReport

Status = Literal["filled", "not_found", "resolution_limited", "budget_exhausted", "interrupted"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Chosen(_Frozen):
    """The item that fills a gap, on the frozen z scale."""

    item: str
    parent: str
    question: str
    answer: str
    z: float = Field(description="posterior median")
    q05: float
    q95: float
    p_in_gap: float
    b_hat: float | None = Field(description="maximum likelihood at fixed abilities, logits")
    se: float | None
    counts: tuple[ModelCount, ...]


class TopThree(_Frozen):
    """Sum of the three widest gaps, posterior means on the frozen scale.

    Children chosen earlier in the run are in all of them.
    """

    before: float
    after: float = Field(description="with the chosen item; equal to before without one")
    oracle: float = Field(description="with an item at exactly the midpoint")
    after_refit: float | None = Field(description="after, everything fitted again by MAP")


class RunAgain(_Frozen):
    """What is too uncertain for a child to be placed: measure these again."""

    items: tuple[str, ...]
    models: tuple[str, ...]


class FillResult(_Frozen):
    """One gap."""

    gap: str
    midpoint: float
    z_left: float
    z_right: float
    left_item: str | None
    right_item: str | None
    status: Status
    chosen: Chosen | None
    rounds: int
    children: int = Field(description="written, repairs included")
    valid: int
    rollouts: int = Field(description="on children, failed ones included")
    top_k_sum: TopThree
    run_again: RunAgain | None
    borders: BorderReport = Field(
        BorderReport(), description="border items that were asked again before the search"
    )
    calibrations: tuple[Calibration, ...] = Field(description="all children that were measured")


class CheckReport(_Frozen):
    """One check of the Validator, over all children of a run."""

    check: str
    made: bool
    why_not: str | None = Field(None, description="why nobody was checked, one sentence")
    passed: int = 0
    failed: int = 0
    calls: int = Field(0, description="replies of the judge that it took, from the record or new")


class FillReport(_Frozen):
    """All gaps of a run."""

    anchors: AnchorReport
    fills: tuple[FillResult, ...]
    judge: str | None = Field(None, description="model that solved and judged the children")
    checks: tuple[CheckReport, ...] = Field((), description="in the order they are made")
    learned: LearnedReport | None = Field(
        None, description="difficulty guessed from the text; null when no gap was worked on"
    )
    misfit: float = Field(
        0.0,
        description="scatter of the benchmark's cells beyond 1PL, logits, that children are taken "
        "to share; 0 where it is not clear, as with one rollout a cell",
    )
    rollouts_total: int = Field(
        description="anchors and borders included; from the ledger or bought now"
    )
    seconds: float = Field(description="wall time of this run")
