"""What a check of the model says."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..fitted import FittedResult

Verdict = Literal["2pl", "1pl", "unclear"]
Kind = Literal[
    "inverted_item",
    "misfit_item",
    "all_wrong_items",
    "odd_model",
    "identical_models",
    "near_duplicate_models",
    "alike_models",
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class InformationCriterion(_Frozen):
    """BIC of 1PL and 2PL by marginal likelihood, for one choice of what it counts as n."""

    counted: Literal["models", "cells", "rollouts"]
    n: int
    bic_1pl: float
    bic_2pl: float


class Comparison(_Frozen):
    """1PL against the hierarchical 2PL, by held-out cells."""

    verdict: Verdict = Field(description="unclear unless the difference is beyond its error")
    difference: float = Field(description="log predictive 2PL - 1PL, nats per 1,000 cells")
    se: float = Field(description="standard error of the difference, clustered by item and model")
    critical: float = Field(description="size of difference / se from which on it is clear")
    folds: int
    cells: int
    items: int
    tau: float = Field(description="sd of the log slopes, fitted to all cells; the 1PL has 0")
    b_pearson: float | None = Field(description="difficulties of the 2PL with those of the 1PL")
    b_spearman: float | None
    bic: tuple[InformationCriterion, ...] = Field(
        description="empty when no item tells models apart; never evidence that the 1PL fits"
    )
    bic_items: int
    slopes_at_bound: int | None = Field(
        description="items whose 2PL likelihood has no maximum, so that BIC is moot"
    )


class LeftOutModel(_Frozen):
    """Difficulties without a model, compared with those of all models."""

    model: str
    pearson: float | None
    spearman: float | None
    shift: float = Field(description="root mean square change of b in logits, less a common shift")


class LeaveOneOut(_Frozen):
    """How much the difficulties hang on single models."""

    mean_pearson: float | None
    min_pearson: float | None
    mean_spearman: float | None
    min_spearman: float | None
    models: tuple[LeftOutModel, ...] = Field(description="the one that moves b most first")


class Range(_Frozen):
    """Where 95% of the figures lie that the fitted 1PL itself gives."""

    low: float
    high: float


class ItemFit(_Frozen):
    """How an item's responses fit the 1PL; mean squares are 1 where they fit as expected."""

    item: str
    solved: float | None = Field(description="share of its rollouts that were right")
    b: float
    moved_low: float = Field(description="lowest change of b when one model is left out, logits")
    moved_high: float
    infit: float | None
    outfit: float | None
    infit_range: Range | None
    outfit_range: Range | None
    p_misfit: float | None = Field(description="how often chance makes infit or outfit so large")
    item_rest: float | None = Field(
        description="correlation with the models' success on all other items; None if constant"
    )
    p_inverted: float | None = Field(description="how often chance makes item_rest so low")


class ModelFit(_Frozen):
    """How a model's responses fit the 1PL."""

    model: str
    infit: float | None
    outfit: float | None
    infit_range: Range | None
    outfit_range: Range | None
    p_misfit: float | None = Field(description="how often chance makes any model's fit so bad")


class PairFit(_Frozen):
    """How much two models agree beyond what their abilities explain."""

    first: str
    second: str
    items: int = Field(description="items that both answered")
    agreement: float = Field(description="chance that a rollout of each gives the same result")
    expected: float = Field(description="the same, of two models that share nothing but ability")
    correlation: float = Field(description="of their residuals; 1 for a model and its copy")
    stands_out: bool = Field(description="correlation four robust sd above that of all pairs")
    z: float = Field(description="distance from the 1PL's expectation, simulated sd")
    p: float = Field(description="how often chance takes any pair so far")
    named_alike: bool = Field(description="one name holds the other")
    p_named_alike: float | None = Field(description="the same among pairs with such names only")


class Finding(_Frozen):
    """Something to look at, and why."""

    kind: Kind
    names: tuple[str, ...]
    reason: str
    surprise: str | None = Field(
        default=None, description="the least expected answer to an item or of a model"
    )
    value: float = Field(description="the number behind it: what it is, the reason says")
    p: float | None = Field(description="how likely chance does as much; None where it is a count")


class FitCheck(FittedResult):
    """Whether the 1PL describes the responses, and which of them to look at."""

    sample: str | None = Field(description="what the figures rest on, if not on everything")
    replicates: int = Field(description="matrices simulated from the fitted 1PL")
    comparison: Comparison
    leave_one_out: LeaveOneOut
    findings: tuple[Finding, ...] = Field(description="look at these, most serious first")
    false_alarms: str = Field(description="how many findings chance alone would make")
    negative_item_rest: int = Field(description="items with a negative item-rest correlation")
    negative_item_rest_expected: float = Field(description="as many the fitted 1PL gives itself")
    all_right: int
    all_wrong: int
    typical_item_fit: float = Field(description="median of the items' outfit")
    misfit_items: int = Field(description="items that misfit beyond chance, however little")
    item_fits: tuple[ItemFit, ...] = Field(description="worst first")
    model_fits: tuple[ModelFit, ...] = Field(description="worst first")
    pairs: tuple[PairFit, ...] = Field(
        description="the 50 pairs furthest beyond chance, and those that are named alike"
    )

    @property
    def duplicated(self) -> bool:
        """Whether a model stands twice in the matrix, exactly or nearly."""
        return any(
            one.kind in {"identical_models", "near_duplicate_models"} for one in self.findings
        )
