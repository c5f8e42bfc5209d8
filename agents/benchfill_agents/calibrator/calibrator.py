"""Measuring the children of a round: sequentially, or with the same rollouts on every model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..memory import MemoryEntry
from ..pool.rollouts import RolloutRequest
from .calibration import Calibration, Measurement
from .design import Design
from .habits import RewriterHabits
from .race import Foretold, Race

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item

    from ..pool.rollouts import RolloutRunner
    from ..rewriter import Child
    from ..spending import Allowance
    from ..target import FillTarget
    from .bench import Bench

Mode = Literal["sequential", "fixed"]
FIXED_ROLLOUTS = 8


@dataclass(frozen=True)
class CalibrationPlan:
    """How children are measured."""

    mode: Mode = "sequential"
    min_p_in_gap: float = 0.9
    design: Design = field(default_factory=Design)
    learn_habits: bool = True
    fixed_rollouts: int = FIXED_ROLLOUTS
    """Rollouts of each model on each child in mode `fixed`."""
    at_any_price: bool = False
    """Whether a child that may lie inside is asked about until that is known, and not only while
    what it takes off the gap is worth the rollouts: for items that were dear to write."""


class Calibrator:
    """Turns children into measured items."""

    def __init__(
        self,
        bench: Bench,
        runner: RolloutRunner,
        allowance: Allowance,
        plan: CalibrationPlan,
        habits: RewriterHabits | None = None,
    ) -> None:
        self.bench, self.plan, self.allowance = bench, plan, allowance
        self.habits = habits or RewriterHabits()
        self._runner = runner

    async def calibrate(
        self,
        children: Sequence[Item],
        target: FillTarget,
        foretold: Foretold | None = None,
        *,
        last_round: bool = True,
    ) -> tuple[Calibration, ...]:
        """Measure the children of one round, in their order.

        Children are expected where `foretold` lets them be. Those among them that earlier rounds
        measured compete again from where they stood, and come back only if something came of it.
        Before the last round, asking ends also where children yet to be written promise more.

        Raises
        ------
        BudgetExhaustedError
            The next rollouts would exceed the allowance.
        ProviderError
            A model could not be reached.
        """
        if not children:
            return ()
        race = Race(self, children, target, foretold or Foretold(), last_round=last_round)
        if self.plan.mode == "fixed":
            return await race.fixed()
        return await race.sequential()

    def open(self, calibrations: Iterable[Calibration]) -> list[Calibration]:
        """Return those whose children can compete again with the next round's."""
        return [
            one
            for one in calibrations
            if self.plan.mode == "sequential"
            and one.outcome == "undecided"
            and one.asked < self.plan.design.most
        ]

    def remember(
        self,
        calibrations: Sequence[Calibration],
        target: FillTarget,
        parents: Mapping[str, float],
    ) -> None:
        """Learn from children that an earlier run of the job measured."""
        to_b = self.bench.scale.to_b
        known = [one for one in calibrations if one.item in parents]
        self.habits.note(
            self.bench,
            float(to_b(target.z)),
            ((Measurement.of(one, self.bench), float(to_b(parents[one.item]))) for one in known),
        )

    def choose(
        self, calibrations: Sequence[Calibration], target: FillTarget, *, last_round: bool
    ) -> str | None:
        """Return the child that fills the gap, of all measured for it so far, or None.

        Sequential: the accepted one that is expected to narrow the gap most. Fixed, as in the
        paper: the one whose estimate is nearest to z*, within the tolerance, or after the last
        round in the gap at all.
        """
        accepted = [one for one in calibrations if one.outcome == "accepted"]
        if self.plan.mode == "sequential":
            # a record of before there was gap_reduction has none
            best = max(accepted, key=lambda one: (one.gap_reduction, one.p_in_gap), default=None)
            return best.item if best else None
        inside = [
            (abs(one.z_hat - target.z), one.item)
            for one in (calibrations if last_round else accepted)
            if one.z_hat is not None and target.z_left < one.z_hat < target.z_right
        ]
        return min(inside)[1] if inside else None

    def best_p_in_gap(self, target: FillTarget) -> float:
        """Return the p_in_gap of a perfectly measured child at the best place of the gap.

        Below the demanded one, no rollout on children can help: the borders are too uncertain.
        """
        return float(self._certainty(target)[1].max())

    def acceptable(self, target: FillTarget) -> tuple[float, float]:
        """Return between which difficulties a perfectly measured child is accepted, logits."""
        b, certainty = self._certainty(target)
        enough = b[certainty >= min(self.plan.min_p_in_gap, certainty.max())]
        step = b[1] - b[0]
        return float(enough[0] - step), float(enough[-1] + step)

    def room(self, target: FillTarget) -> float:
        """Return in how much of the gap a perfectly measured child is accepted, logits."""
        b, certainty = self._certainty(target)
        return float((certainty >= self.plan.min_p_in_gap).mean() * (b[-1] - b[0]))

    def _certainty(self, target: FillTarget) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return places in the gap, logits, and P(between the borders) at each.

        A child that is solved as often as one at such a place is as hard as a draw's abilities say.
        """
        left, right = self.bench.borders(target)
        b = self.bench.scale.to_b(np.linspace(target.z_left, target.z_right, 41))
        places = b + self.bench.shift(b)
        return b, ((left[:, None] < places) & (places < right[:, None])).mean(0)

    @staticmethod
    def entry(child: Child, calibration: Calibration) -> MemoryEntry:
        """Return what the memory keeps of a measured child."""
        return MemoryEntry(
            item=child.item,
            z=calibration.z_mean,
            sd=calibration.sd,
            kind="child",
            parent=child.parent_id,
        )

    async def ask(
        self,
        batches: Sequence[tuple[Item, Measurement, NDArray[np.int64]]],
        first_sample: int = 0,
    ) -> None:
        """Get the next rollouts of some items, together, and count them in.

        `first_sample` is the index of an item's first rollout.
        """
        requests = [
            RolloutRequest(model, item, first_sample + int(measurement.asked[p]) + extra)
            for item, measurement, size in batches
            for p, model in enumerate(self.bench.models)
            for extra in range(int(size[p]))
        ]
        self.allowance.take(len(requests))
        rollouts = iter(await self._runner.run(requests))
        for _, measurement, size in batches:
            for p in range(len(self.bench.models)):
                for _ in range(int(size[p])):
                    scored = next(rollouts).correct
                    measurement.asked[p] += 1
                    # a rollout that failed for good has no score: it is no wrong answer
                    if scored is not None:
                        measurement.n[p] += 1
                        measurement.correct[p] += scored
