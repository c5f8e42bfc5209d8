"""The children of one round against one another: who is asked about next, and when it ends.

All get a few rollouts. Then those are asked about whose gap is expected to be narrowed most for a
rollout (`design.gain_rates`), until a child is accepted and a rollout is not worth its price any
more, or children yet to be written promise more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from benchfill.child import ChildPosterior

from .calibration import Calibration, Measurement, Outcome
from .design import (
    DROP_BELOW,
    RESOLVED,
    Standing,
    expected_reduction,
    gain_rates,
)
from .learned import narrower
from .telling import telling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item

    from ..target import FillTarget
    from .calibrator import Calibrator
    from .learned import Guess

FIXED_TOLERANCE = 0.01
ROUND_COSTS = 1.5  # another round must promise so many times more
LEARN_AGAIN = 1.1  # when there are so many times the rollouts


@dataclass(frozen=True)
class Foretold:
    """What is known of children before the round measures them."""

    parents: Mapping[str, float] = field(default_factory=dict)
    """z of each child's parent, by the child's id; with it children are expected where this
    rewriter's children came to lie before in this run."""
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    """What their text lets expect, by id; of the two the narrower one counts."""
    earlier: Sequence[Calibration] = ()
    """Of those that earlier rounds measured and left open (`Calibrator.open`)."""


class Race:
    """The children of one round against one another."""

    def __init__(
        self,
        calibrator: Calibrator,
        children: Sequence[Item],
        target: FillTarget,
        foretold: Foretold,
        *,
        last_round: bool,
    ) -> None:
        self._calibrator, self._target, self._guesses = calibrator, target, foretold.guesses
        self._last_round = last_round
        to_b = calibrator.bench.scale.to_b
        self._aim = float(to_b(target.z))
        self._acceptable = calibrator.acceptable(target)
        self._middle = float(to_b(np.array([target.z_left, target.z_right])).mean())
        self._parents = {item: float(to_b(z)) for item, z in foretold.parents.items()}
        self._bench, self._plan = calibrator.bench, calibrator.plan
        self._children = {child.id: child for child in children}
        models = len(self._bench.models)
        self._measured = {child.id: Measurement.empty(child, models) for child in children}
        self._before = {one.item: one for one in foretold.earlier if one.item in self._measured}
        for item, one in self._before.items():
            self._measured[item] = Measurement.of(one, self._bench)
        self._outcomes: dict[str, Outcome] = {}
        self._standing: dict[str, Standing] = {}
        self._sizes: dict[str, NDArray[np.int64]] = {}
        self._hope: dict[str, float] = {}

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
                item: telling(self._bench, aimed, np.ones(1), measured.guessing).allocate(
                    measured.asked, self._plan.design.first
                )
                for item, measured in self._measured.items()
                if item not in self._before
            }
        )
        while True:
            self._expect()
            learned = self._asked()
            for item in self._children:
                self._judge(item)
            while (best := self._worth_asking()) is not None:
                await self._ask({best: self._sizes[best]})
                if self._asked() > LEARN_AGAIN * learned:
                    break
                self._judge(best)
            if best is None:
                break
        self._learn()  # as a resumed run will, from what is on record
        return tuple(
            self._measured[item].calibration(
                self._bench, self._target, self._outcomes.get(item, "undecided")
            )
            for item in self._children
            if self._is_news(item)
        )

    def _is_news(self, item: str) -> bool:
        """Tell whether the race found out something about a child."""
        before = self._before.get(item)
        return (
            before is None
            or self._outcomes.get(item) == "accepted"
            or int(self._measured[item].asked.sum()) > before.asked
        )

    def _expect(self) -> None:
        """Learn from the first answers where this rewriter's children lie, each by its parent."""
        scale, habits = self._bench.scale, self._calibrator.habits
        by_text = {item: guess.on(scale) for item, guess in self._guesses.items()}
        for item, expected in by_text.items():
            self._measured[item].expected = expected
        if self._plan.learn_habits:
            for item in self._learn():
                by_habit = habits.expected(self._aim, self._parents[item])
                self._measured[item].expected = narrower(by_habit, by_text.get(item))

    def _asked(self) -> int:
        return int(sum(one.asked.sum() for one in self._measured.values()))

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
        tells = telling(self._bench, posterior.grid, posterior.density, measurement.guessing)
        more = self._plan.design.next(int(measurement.asked.sum()))
        self._sizes[item] = size = tells.allocate(measurement.asked, more)
        one = Standing.of(
            posterior, self._bench.borders(self._target), tells.rate(measurement.asked, size)
        )
        self._standing[item] = one
        self._hope[item] = self._may_take_off(posterior)
        width = self._target.width * self._bench.scale.width
        self._outcomes.pop(item, None)
        # it can be accepted only where the borders are certain enough
        if one.p_in_gap >= self._plan.min_p_in_gap:
            self._outcomes[item] = "accepted"
        elif one.p_in_gap < DROP_BELOW:
            self._outcomes[item] = "outside"
        elif self._may_be_accepted(posterior) < DROP_BELOW or one.own_sd < RESOLVED * width:
            self._outcomes[item] = "resolution_limited"
        elif measurement.asked.sum() >= self._plan.design.most:
            self._outcomes[item] = "undecided"

    def _may_be_accepted(self, posterior: ChildPosterior) -> float:
        left, right = (np.array([edge]) for edge in self._acceptable)
        return ChildPosterior(posterior.grid, posterior.density[None]).p_between(left, right)

    def _may_take_off(self, posterior: ChildPosterior) -> float:
        """Return by how much a child narrows the gap if it lies where it is accepted, expected."""
        (left, right), middle = self._acceptable, self._middle
        half = self._target.width * self._bench.scale.width / 2
        inside = (posterior.grid > left) & (posterior.grid < right)
        taken = np.clip(half - np.abs(posterior.grid[inside] - middle), 0, None)
        return float(posterior.density[inside] @ taken)

    def _worth_asking(self) -> str | None:
        """Return the child to ask about next, None when that is not worth its rollouts."""
        items = list(self._children)
        half = self._target.width * self._bench.scale.width / 2
        rates = gain_rates([self._standing[item] for item in items], half)
        fresh = self._unwritten(half)
        design = self._plan.design
        open_ = [
            (float(rate), item)
            for rate, item in zip(rates, items, strict=True)
            if self._outcomes.get(item, "accepted") == "accepted"
            and self._measured[item].asked.sum() < design.most
            and (item in self._outcomes or self._is_worth_deciding(item))
        ]
        if "accepted" in self._outcomes.values():
            least = design.worth * self._bench.scale.width
            open_ = [one for one in open_ if one[0] >= least]
        elif fresh > 0:
            open_ = [one for one in open_ if one[0] > fresh / ROUND_COSTS]
        # where nothing more is to come, who may still lie inside is asked about until that is known
        best = max(
            open_, key=lambda one: (round(one[0], 9), self._standing[one[1]].p_in_gap), default=None
        )
        return best[1] if best else None

    def _is_worth_deciding(self, item: str) -> bool:
        """Tell whether what a child may take off the gap is worth the rollouts that decide it.

        Rollouts are counted to where the child could be accepted in the middle of the gap. Where
        models scatter beyond 1PL they tell little before most models were asked and much after,
        so that the next ones do not say what deciding takes.
        """
        if self._plan.at_any_price or self._bench.misfit > 0:
            return True
        one, half = self._standing[item], self._target.width * self._bench.scale.width / 2
        wanted = (half / norm.isf((1 - self._plan.min_p_in_gap) / 2)) ** 2 - one.other_sd**2
        if wanted <= 0:
            return False
        rollouts = max(1 / wanted - one.own_sd**-2, 0.0) / one.information
        price = self._plan.design.worth * self._bench.scale.width
        return bool(self._hope[item] >= price * rollouts)

    def _unwritten(self, half: float) -> float:
        """Return the gain rate of a child that another round may bring."""
        known = {i: one.expected for i, one in self._measured.items() if one.expected is not None}
        # the next are like the newest; a round may have brought none that are valid
        like = [one for i, one in known.items() if i not in self._before] or list(known.values())
        if self._last_round or not like:
            return 0.0
        aim, sd = np.array([self._aim]), float(np.mean([one.sd for one in like]))
        off = float(np.mean([one.mean for one in like])) - self._aim
        tells, none = telling(self._bench, aim, np.ones(1), 0.0), np.zeros(len(self._bench.models))
        size = tells.allocate(none.astype(np.int64), self._plan.design.batch)
        information = tells.rate(none.astype(np.int64), size)
        one = Standing(0.0, float(expected_reduction(off, sd, half)), off, sd, 0.0, information)
        return float(gain_rates([*self._standing.values(), one], half)[-1])

    async def _ask(self, sizes: dict[str, NDArray[np.int64]]) -> None:
        await self._calibrator.ask(
            [(self._children[item], self._measured[item], size) for item, size in sizes.items()]
        )
