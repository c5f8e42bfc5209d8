"""What a test of progress says."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..fitted import FittedResult
from ..gaps import Verdict

ThirdName = Literal["easy", "middle", "hard"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Gain(_Frozen):
    """Mean success rate of a model on some items, before and after; every item counts the same."""

    items: int
    before: float
    after: float
    gain: float = Field(description="after less before, in success probability")
    low: float = Field(description="lower limit")
    high: float = Field(description="upper limit")


class Third(_Frozen):
    """A third of the difficulty scale, for orientation; not tested."""

    name: ThirdName
    z_left: float
    z_right: float
    gain: Gain | None = Field(description="None without an item there; limits at level alpha each")


class Band(_Frozen):
    """Items next to one another in difficulty, about as many in each band; not tested."""

    z_left: float = Field(description="difficulty of the easiest item inside")
    z_right: float = Field(description="difficulty of the hardest item inside")
    gain: Gain


class LocalGain(_Frozen):
    """The gain on the interval that was asked for, or that the scan found.

    The limits hold at level alpha each: for the one interval that was asked for, or (approximately)
    for all intervals of a scan at once, so that choosing the best one does not make them false.
    """

    z_left: float = Field(description="difficulty of the easiest item inside")
    z_right: float = Field(description="difficulty of the hardest item inside")
    item_ids: tuple[str, ...] = Field(description="easiest first")
    gain: Gain


class Scanned(_Frozen):
    """What a scan looked at."""

    intervals: int
    complete: bool = Field(description="every interval between two difficulties is among them")
    method: Literal["enumeration", "monte_carlo"]
    score: float = Field(description="standardised gain of the best interval")
    critical: float = Field(description="score exceeded by chance with probability <= alpha")


class ModelProgress(_Frozen):
    """The test of one model."""

    before: str = Field(description="its name in the file before")
    after: str = Field(description="its name in the file after")
    items: int = Field(description="items with a rollout before and after, and with a difficulty")
    unanswered: int = Field(description="items left out, since it has no rollout at one of both")
    unchanged: bool = Field(description="both files hold the very same responses")
    overall: Gain
    overall_p: float = Field(description="one-sided exact p-value of a gain over all items")
    thirds: tuple[Third, ...]
    bands: tuple[Band, ...] = Field(description="easiest first")
    local: LocalGain | None = Field(description="None when a scan found no interval with a gain")
    scanned: Scanned | None = Field(description="None when the interval was given")
    p: float = Field(description="one-sided; of the whole scan if there was one")
    p_holm: float = Field(description="p, corrected for the number of models (Holm)")
    detected: bool = Field(description="p_holm <= alpha")


class BlindZone(_Frozen):
    """A stretch of the difficulty scale without an item; None as border is the scale's end."""

    z_left: float
    z_right: float
    width: float
    left_item: str | None
    right_item: str | None
    p_hole: float = Field(description="P(spacing over the midpoint >= half the width)")
    verdict: Verdict


class LeftOut(_Frozen):
    """What could not take part, by name."""

    items_only_before: tuple[str, ...]
    items_only_after: tuple[str, ...]
    items_without_difficulty: tuple[str, ...]
    models_only_before: tuple[str, ...]
    models_only_after: tuple[str, ...]
    models_untested: tuple[str, ...] = Field(description="too few items answered both times")


class Progress(FittedResult):
    """Whether models have become better, and where (docs/method, section 5)."""

    mode: Literal["interval", "scan"]
    interval: tuple[float, float] | None = Field(description="as it was asked for")
    alpha: float
    permutations: int | None = Field(description="None when every p-value is exact")
    randomised_ties: bool
    common_items: int = Field(description="items in both files that have a difficulty")
    tests: tuple[ModelProgress, ...]
    max_gap: float = Field(description="widest stretch of the scale without a common item")
    blind: tuple[BlindZone, ...] = Field(description="the widest, widest first")
    left_out: LeftOut
