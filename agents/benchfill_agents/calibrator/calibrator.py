"""Measuring the children of a round: sequentially, or with the same rollouts on every model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..memory import MemoryEntry
from ..pool.rollouts import RolloutRequest
from .calibration import Calibration, Measurement, Outcome
from .design import DROP_BELOW, RESOLVED, Design, allocate, expected_information, own_sd
from .habits import RewriterHabits
from .learned import narrower

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item

    from ..pool.rollouts import RolloutRunner
    from ..rewriter import Child
    from ..spending import Allowance
    from ..target import FillTarget
    from .bench import Bench
    from .learned import Guess

Mode = Literal["sequential", "fixed"]
FIXED_ROLLOUTS = 8
FIXED_TOLERANCE = 0.01
RACERS = 2


@dataclass(frozen=True)
class CalibrationPlan:
    """How children are measured."""

    mode: Mode = "sequential"
    min_p_in_gap: float = 0.9
    design: Design = field(default_factory=Design)
    learn_habits: bool = True
    fixed_rollouts: int = FIXED_ROLLOUTS
    """Rollouts of each model on each child in mode `fixed`."""


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
        parents: Mapping[str, float] | None = None,
        guesses: Mapping[str, Guess] | None = None,
    ) -> tuple[Calibration, ...]:
        """Measure the children of one round, in their order.

        `parents` gives the z of each child's parent by the child's id; with it children are
        expected where this rewriter's children came to lie before in this run. `guesses` are those
        that their text lets expect; of the two the narrower one counts.

        Raises
        ------
        BudgetExhaustedError
            The next rollouts would exceed the allowance.
        ProviderError
            A model could not be reached.
        """
        if not children:
            return ()
        race = _Race(self, children, target, parents or {}, guesses or {})
        if self.plan.mode == "fixed":
            return await race.fixed()
        return await race.sequential()

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

        Sequential: the accepted one that is likeliest inside. Fixed, as in the paper: the one whose
        estimate is nearest to z*, within the tolerance, or after the last round in the gap at all.
        """
        accepted = [one for one in calibrations if one.outcome == "accepted"]
        if self.plan.mode == "sequential":
            best = max(accepted, key=lambda one: one.p_in_gap, default=None)
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
        left, right = self.bench.borders(target)
        b = self.bench.scale.to_b(np.linspace(target.z_left, target.z_right, 41))
        return float(((left[:, None] < b) & (b < right[:, None])).mean(0).max())

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

    async def ask(self, batches: Sequence[tuple[Item, Measurement, NDArray[np.int64]]]) -> None:
        """Get the next rollouts of some children, together, and count them in."""
        requests = [
            RolloutRequest(model, item, int(measurement.asked[p]) + extra)
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


class _Race:
    """The children of one round against one another."""

    def __init__(
        self,
        calibrator: Calibrator,
        children: Sequence[Item],
        target: FillTarget,
        parents: Mapping[str, float],
        guesses: Mapping[str, Guess],
    ) -> None:
        self._calibrator, self._target, self._guesses = calibrator, target, guesses
        to_b = calibrator.bench.scale.to_b
        self._aim = float(to_b(target.z))
        self._parents = {item: float(to_b(z)) for item, z in parents.items()}
        self._bench, self._plan = calibrator.bench, calibrator.plan
        self._children = {child.id: child for child in children}
        models = len(self._bench.models)
        self._measured = {child.id: Measurement.empty(child, models) for child in children}
        self._outcomes: dict[str, Outcome] = {}
        self._p: dict[str, float] = {}

    async def fixed(self) -> tuple[Calibration, ...]:
        """Every model, the same number of rollouts; accepted within the tolerance of z*."""
        size = np.full(len(self._bench.models), self._plan.fixed_rollouts)
        await self._ask(dict.fromkeys(self._children, size))
        results = []
        for measurement in self._measured.values():
            result = measurement.calibration(self._bench, self._target, "undecided")
            near = (
                result.z_hat is not None and abs(result.z_hat - self._target.z) <= FIXED_TOLERANCE
            )
            results.append(result.model_copy(update={"outcome": "accepted"}) if near else result)
        return tuple(results)

    async def sequential(self) -> tuple[Calibration, ...]:
        """Ask on where it pays, until one is accepted or none can be any more."""
        aimed = np.array([float(self._bench.scale.to_b(self._target.z))])
        await self._ask(
            {
                item: self._allocate(
                    expected_information(self._bench, aimed, np.ones(1), measured.guessing),
                    measured.asked,
                    first=True,
                )
                for item, measured in self._measured.items()
            }
        )
        self._expect()
        running = list(self._children)
        while True:
            for item in running:
                self._judge(item)
            running = [item for item in self._children if item not in self._outcomes]
            if not running or "accepted" in self._outcomes.values():
                break
            running = sorted(running, key=lambda item: -self._p[item])[:RACERS]
            await self._ask({item: self._next(item) for item in running})
        self._learn()  # as a resumed run will, from what is on record
        return tuple(
            self._measured[item].calibration(
                self._bench, self._target, self._outcomes.get(item, "undecided")
            )
            for item in self._children
        )

    def _expect(self) -> None:
        """Learn from the first answers where this rewriter's children lie, each by its parent."""
        scale = self._bench.scale
        for item, guess in self._guesses.items():
            self._measured[item].expected = guess.on(scale)
        if not self._plan.learn_habits:
            return
        habits = self._calibrator.habits
        for item in self._learn():
            self._measured[item].expected = narrower(
                habits.expected(self._aim, self._parents[item]), self._measured[item].expected
            )

    def _learn(self) -> list[str]:
        known = [item for item in self._children if item in self._parents]
        self._calibrator.habits.note(
            self._bench, self._aim, ((self._measured[i], self._parents[i]) for i in known)
        )
        return known

    def _judge(self, item: str) -> None:
        """Settle what is known well enough about a child."""
        measurement = self._measured[item]
        posterior = measurement.posterior(self._bench)
        p = posterior.p_between(*self._bench.borders(self._target))
        self._p[item] = p
        width = self._target.width * self._bench.scale.width
        if p >= self._plan.min_p_in_gap:
            self._outcomes[item] = "accepted"
        elif p < DROP_BELOW:
            self._outcomes[item] = "outside"
        elif own_sd(posterior) < RESOLVED * width:
            self._outcomes[item] = "resolution_limited"
        elif measurement.asked.sum() >= self._plan.design.most:
            self._outcomes[item] = "undecided"

    def _next(self, item: str) -> NDArray[np.int64]:
        measurement = self._measured[item]
        posterior = measurement.posterior(self._bench)
        information = expected_information(
            self._bench, posterior.grid, posterior.density, measurement.guessing
        )
        return self._allocate(information, measurement.asked, first=False)

    def _allocate(
        self, information: NDArray[np.float64], asked: NDArray[np.int64], *, first: bool
    ) -> NDArray[np.int64]:
        size = self._plan.design.first if first else self._plan.design.batch
        return allocate(information, self._bench.theta_variance, asked, size)

    async def _ask(self, sizes: dict[str, NDArray[np.int64]]) -> None:
        await self._calibrator.ask(
            [(self._children[item], self._measured[item], size) for item, size in sizes.items()]
        )
