"""What is said about a suggested pool of models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..fitted import FittedResult

Over = Literal["range", "gaps"]


class PanelModel(BaseModel):
    """A model of the panel."""

    model_config = ConfigDict(frozen=True)

    model: str
    theta: float = Field(description="ability, logits")
    theta_sd: float
    rate: float = Field(description="share of its rollouts that were right")


class Spread(BaseModel):
    """A quantity over random panels of one size."""

    model_config = ConfigDict(frozen=True)

    median: float
    q05: float
    q95: float


class PanelPoint(BaseModel):
    """How well the difficulties from so many models agree with those from all."""

    model_config = ConfigDict(frozen=True)

    size: int
    spearman: float = Field(description="rank correlation, of the panel suggested at this size")
    pearson: float
    rest_spearman: float | None = Field(
        description="with the difficulties from the models left out alone, which share no answer; "
        "None with fewer than two of them"
    )
    random_spearman: Spread | None = Field(description="None where every random panel failed")
    random_pearson: Spread | None
    panels: int = Field(description="random panels that could be fitted")
    items: int = Field(description="items that the suggested panel answered")


class PanelSuggestion(FittedResult):
    """A panel of models, and how many models suffice."""

    chosen: tuple[PanelModel, ...] = Field(description="lowest ability first")
    over: Over
    intervals: tuple[tuple[float, float], ...] = Field(
        description="where difficulties are to be told apart, logits"
    )
    relative_information: float = Field(
        description="geometric mean over the places of the panel's share of the information that "
        "all models have together"
    )
    se_median: float = Field(
        description="standard error of the difficulty of a new item after 16 rollouts of each "
        "model of the panel, median over the places, logits"
    )
    se_worst: float = Field(description="the same at the worst place")
    random_se_worst: Spread = Field(description="the same of random panels of this size")
    enough: float = Field(description="rank correlation that counts as enough")
    suffice: int | None = Field(
        description="fewest suggested models from which on the rank correlation is enough; None "
        "where no size looked at reaches it"
    )
    random_suffice: int | None = Field(description="the same for 95% of random panels of that size")
    curve: tuple[PanelPoint, ...]
