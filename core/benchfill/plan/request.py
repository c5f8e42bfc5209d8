"""What a plan is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from ..errors import InputError
from ..targets import Target, Uniform
from .result import Objective

MOST_ITEMS = 1000
MOST_ROLLOUTS = 10**8


@dataclass(frozen=True)
class PlanRequest:
    """Budgets, and what is to become small.

    Parameters
    ----------
    items
        New items that can be written, 0 to 1,000.
    rollouts
        Further rollouts of the pool's models on items that are there, 0 to 100 million. At least
        one of both budgets is above 0.
    objective
        ``max-gap`` (the widest gap G), ``ddm`` (W1 to the target) or ``top-k`` (sum of the five
        widest gaps).
    target
        Distribution that the difficulties should have.
    placement_sd
        Standard deviation of a new item's place around the planned one, on the z scale, normal. 0
        takes every new item to land where it was planned; the children that simulated fills accept
        lie .025 from their target on average (docs/method, section 6).

    Raises
    ------
    InputError
        A budget, objective or standard deviation that cannot be used.
    """

    items: int = 0
    rollouts: int = 0
    objective: Objective = "max-gap"
    target: Target = field(default_factory=Uniform)
    placement_sd: float = 0.0

    def __post_init__(self) -> None:
        if self.objective not in get_args(Objective):
            raise InputError(
                f"{str(self.objective)[:80]!r} is no objective; choose from "
                f"{', '.join(get_args(Objective))}.",
                field="--objective",
            )
        if self.items < 0 or self.rollouts < 0:
            raise InputError(
                "a budget cannot be negative.",
                field="--budget-items" if self.items < 0 else "--budget-rollouts",
            )
        if self.items > MOST_ITEMS:
            raise InputError(
                f"{self.items:,} new items are too many for one plan; plan at most {MOST_ITEMS:,}, "
                "and plan again from the answers to those.",
                field="--budget-items",
            )
        if self.rollouts > MOST_ROLLOUTS:
            raise InputError(
                f"{self.rollouts:,} rollouts are too many for one plan; at most "
                f"{MOST_ROLLOUTS:,} are possible.",
                field="--budget-rollouts",
            )
        if self.items == self.rollouts == 0:
            raise InputError(
                "without a budget there is nothing to plan; give --budget-items for new items, "
                "--budget-rollouts for further answers to the items that are there, or both."
            )
        if not 0 <= self.placement_sd <= 1:
            raise InputError(
                f"{self.placement_sd} is no standard deviation on the z scale, which runs from "
                "0 to 1.",
                field="--placement-sd",
            )
