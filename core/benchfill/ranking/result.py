"""What `rank_models` returns."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..fitted import FittedResult

Order = Literal["same", "opposite", "open"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Interval(_Frozen):
    """A figure as observed, with the 5% and 95% quantiles of its bootstrap replicates."""

    value: float
    q05: float
    q95: float


class Standing(_Frozen):
    """A model's score, the mean rate of the items it answered, and its rank (1 is best)."""

    score: Interval
    rank: int = Field(description="1 + the number of models with a higher score")
    rank_q05: int
    rank_q95: int


class RankedModel(_Frozen):
    """A model on the benchmark and under the target."""

    model: str
    items: int = Field(description="items that it answered")
    benchmark: Standing
    target: Standing


class Bound(_Frozen):
    """The most by which |D_B| may overstate the difference under the target: mismatch + noise."""

    limit: float = Field(description="lipschitz * w1 + noise")
    lipschitz: float = Field(description="L of the fitted difference, score per unit of z")
    w1: float = Field(description="W1 between the pair's common items and the target")
    noise: float = Field(description="Hoeffding's limit for the rollouts, delta / number of pairs")


class Pair(_Frozen):
    """Two models on the items that both answered."""

    ahead: str = Field(description="the one that is ahead on the benchmark's common items")
    behind: str
    common_items: int
    d_benchmark: Interval = Field(description="D_B, difference of scores on the benchmark")
    d_target: Interval = Field(description="D_mu, difference of scores under the target")
    p_flip: float = Field(
        description="share of replicates in which D_B and D_mu have opposite signs; 0 is no sign"
    )
    order: Order = Field(
        description="same or opposite when both 90% intervals leave out 0, else open"
    )
    bound: Bound
    stable_by_bound: bool = Field(description="|D_B| is above the bound's limit")


class Shares(_Frozen):
    """Shares of the compared pairs."""

    stable_by_bootstrap: float = Field(description="order is same")
    flipped_by_bootstrap: float = Field(description="order is opposite")
    stable_by_bound: float
    flipped_as_observed: float = Field(description="D_B and D_mu as observed have opposite signs")


class HeavyItem(_Frozen):
    """An item and the share of the target that it stands for."""

    item: str
    z: float
    weight: float


class Ranking(FittedResult):
    """The leaderboard on the benchmark and under a target (docs/method, section 4)."""

    replicates: int
    delta: float = Field(description="probability that any of the bounds fails")
    mean_rollouts: float = Field(description="rollouts of an answered cell, on average")
    w1: float = Field(description="W1 between all items and the target, plug-in")
    effective_items: float = Field(description="1 / sum of squared target weights (Kish)")
    extreme_weight: float = Field(
        description="target weight on items solved by all or by none, where no two models differ"
    )
    heaviest: tuple[HeavyItem, ...] = Field(description="items with the largest target weights")
    scores: tuple[RankedModel, ...] = Field(description="best on the benchmark first")
    unscored: tuple[str, ...] = Field(description="models whose answers carry no weight")
    pairs: int
    pairs_without_common_items: int
    pairs_compared: int
    places_apart: int | None = Field(
        description="only pairs at most so many places apart were compared; None: all pairs"
    )
    shares: Shares | None = Field(description="None when no pair was compared")
    likeliest_flips: tuple[Pair, ...] = Field(
        description="the compared pairs with the largest p_flip, at most 1,000"
    )
