"""Border items of a gap, asked again where they are too vague for a child to be placed.

A child is accepted where it surely lies between two items of the benchmark. Where those were
measured with few rollouts there is no such place, however often a child is asked about; then
rollouts on the border items narrow the doubt. The pool answers them again, the responses with these
answers in them are fitted again (MAP), and the gap lies where its borders are found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from benchfill.onepl import fit_1pl

from .anchors import AnchorReport, adjusted
from .calibrator import Bench, Measurement, ModelCount
from .calibrator.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from benchfill.items import Item
    from benchfill.onepl import Fit1PL

    from .calibrator import Calibrator
    from .calibrator.telling import Telling
    from .pool.config import Pool
    from .steps import StepRecord
    from .target import FillTarget

STEP = 48  # rollouts between two fits
ROOM = 0.5
"""Of the gap: borders are certain enough when a child is accepted in so much of it."""
ENOUGH = 1 / 6.6
"""Of the gap's width, a border's sd: half-way to the middle both are then passed with 90%."""


class Border(BaseModel):
    """One border item that was asked again."""

    model_config = ConfigDict(frozen=True)

    item: str
    z_before: float = Field(description="posterior mean on the frozen scale, before")
    z: float = Field(description="posterior mean on the frozen scale")
    sd_before: float
    sd: float
    counts: tuple[ModelCount, ...] = Field(description="the new answers, by pool model")


class BorderReport(BaseModel):
    """What was asked about a gap's borders before anything was written for it."""

    model_config = ConfigDict(frozen=True)

    borders: tuple[Border, ...] = ()
    rollouts: int = Field(0, description="failed ones included")

    @property
    def answers(self) -> dict[str, tuple[ModelCount, ...]]:
        """The new answers, by item."""
        return {one.item: one.counts for one in self.borders}


@dataclass(frozen=True, eq=False)
class Ground:
    """The fitted benchmark with all answers so far, and how the pool sees it."""

    fit: Fit1PL
    bench: Bench
    rebuild: Callable[[Fit1PL], Bench]
    """Makes the pool's view of another fit of the same benchmark."""
    drifted: frozenset[str] = frozenset()
    """Pool models that are no longer those of the responses; their answers cannot be added."""

    @classmethod
    def of(cls, fit: Fit1PL, pool: Pool) -> Ground:
        """Return the ground of a fill before anything is asked."""

        def bench(of: Fit1PL) -> Bench:
            return Bench.of(of, pool)

        return cls(fit, bench(fit), bench)

    def checked(self, anchors: AnchorReport, seed: tuple[int, ...]) -> Ground:
        """Return the ground as the anchors found the pool, now and after any further fit.

        Raises
        ------
        FitError
            Fewer than half of the models still fit.
        """

        def rebuild(fit: Fit1PL) -> Bench:
            return adjusted(self.rebuild(fit), anchors, np.random.default_rng(seed))

        return replace(
            self,
            bench=adjusted(self.bench, anchors, np.random.default_rng(seed)),
            rebuild=rebuild,
            drifted=frozenset(anchors.drifted),
        )

    def with_answers(self, answers: Mapping[str, tuple[ModelCount, ...]]) -> Ground:
        """Return the ground with further answers to some of its items, fitted again by MAP."""
        if not answers:
            return self
        old = self.fit.responses
        correct, n = old.correct.astype(np.int64), old.n.astype(np.int64)
        rows = dict(zip(self.bench.models, self.bench.matrix_names, strict=True))
        for item, counts in answers.items():
            i = old.items.index(item)
            for one in counts:
                j = old.models.index(rows[one.model])
                correct[j, i] += one.correct
                n[j, i] += one.n
        fit = fit_1pl(
            replace(old, correct=correct, n=n), engine="map", guessing=self.fit.guessing, seed=0
        )
        # the z scale stays frozen; a scatter beyond 1PL is a matter of the whole benchmark
        bench = replace(self.rebuild(fit), scale=self.bench.scale, misfit=self.bench.misfit)
        return replace(self, fit=fit, bench=bench)

    def moved(self, target: FillTarget) -> FillTarget:
        """Return the target between where its borders lie now; as it is if they changed places."""
        left, right = (
            float(self.bench.scale.to_z(border.mean())) for border in self.bench.borders(target)
        )
        if right <= left:
            return target
        return target.model_copy(update={"z_left": left, "z_right": right, "z": (left + right) / 2})


async def recorded_ground(
    ground: Ground, steps: StepRecord, seed: tuple[int, ...], *, until: str
) -> Ground:
    """Return the ground as a fill of record had it when it worked on a gap, gap-1 the first."""
    recorded = await steps.get("anchors")
    if recorded is not None:
        ground = ground.checked(AnchorReport.model_validate(recorded), seed)
    for number in range(1, int(until.partition("-")[2]) + 1):
        found = await steps.get(f"gap-{number}/borders")
        if found is not None:  # an older fill asked about none
            ground = ground.with_answers(BorderReport.model_validate(found).answers)
    return ground


class BorderSurvey:
    """Asks about the borders of one gap until a child can be placed between them, or it won't pay.

    Parameters
    ----------
    ground
        What is known before.
    target
        The gap.
    items
        The benchmark's items by id; a border whose text is not at hand is not asked about.
    calibrator
        Makes the Calibrator of a bench: it asks, and says where a child would be accepted.
    first_sample
        Index of the first rollout on an item, apart from those of the responses and the anchors.
    """

    def __init__(
        self,
        ground: Ground,
        target: FillTarget,
        items: Mapping[str, Item],
        calibrator: Callable[[Bench], Calibrator],
        first_sample: int,
    ) -> None:
        self._before, self._target, self._first_sample = ground, target, first_sample
        self._calibrator, self._items = calibrator, items
        models = len(ground.bench.models)
        self._measured = {
            name: Measurement.empty(items[name], models)
            for name in (target.left_item, target.right_item)
            if name is not None and name in items
        }

    async def run(self) -> BorderReport:
        """Ask where it pays, and return what came of it.

        Raises
        ------
        BudgetExhaustedError
            The next rollouts would exceed the allowance.
        ProviderError
            A model could not be reached.
        """
        ground, target = self._before, self._target
        while (wanted := self._next(ground, target)) is not None:
            name, size = wanted
            batch = (self._items[name], self._measured[name], size)
            await self._calibrator(ground.bench).ask([batch], self._first_sample)
            ground = self._before.with_answers(
                {one: counted.counts(ground.bench) for one, counted in self._measured.items()}
            )
            target = ground.moved(self._target)
        return self._report(ground)

    def _next(self, ground: Ground, target: FillTarget) -> tuple[str, NDArray[np.int64]] | None:
        """Return the border to ask about next and how often each model; None when that is all."""
        bench, calibrator = ground.bench, self._calibrator(ground.bench)
        design, width = calibrator.plan.design, target.width * bench.scale.width
        if calibrator.plan.mode == "fixed" or bench.misfit > 0:
            return None
        if calibrator.room(target) >= ROOM * width:
            return None
        needed = {}
        for name, measured in self._measured.items():
            sd, asked = bench.own_sd(name), int(measured.asked.sum())
            if sd > ENOUGH * width and asked < design.most:
                tells = self._telling(ground, name).information.mean()
                needed[name] = ((ENOUGH * width) ** -2 - sd**-2) / max(float(tells), 1e-9)
        # what a child may take off the gap has to be worth the rollouts
        if not needed or target.width / 2 < design.worth * sum(needed.values()):
            return None
        name = max(needed, key=lambda one: needed[one])
        before = self._measured[name].asked
        size = min(STEP, math.ceil(needed[name]), design.most - int(before.sum()))
        return name, self._telling(ground, name).allocate(before, size)

    def _telling(self, ground: Ground, name: str) -> Telling:
        place = ground.bench.items.index(name)
        b, guessing = ground.bench.draws.b[:, place], float(ground.fit.guessing[place])
        found = telling(ground.bench, b, np.full(len(b), 1 / len(b)), guessing)
        steady = np.array([name not in ground.drifted for name in ground.bench.models])
        return replace(found, information=found.information * steady)

    def _report(self, ground: Ground) -> BorderReport:
        asked = {name: one for name, one in self._measured.items() if one.asked.any()}
        return BorderReport(
            borders=tuple(
                Border(
                    item=name,
                    **_place(self._before.bench, name, "_before"),
                    **_place(ground.bench, name),
                    counts=one.counts(ground.bench),
                )
                for name, one in asked.items()
            ),
            rollouts=sum(int(one.asked.sum()) for one in asked.values()),
        )


def _place(bench: Bench, name: str, when: str = "") -> dict[str, float]:
    z = bench.scale.to_z(bench.draws.b[:, bench.items.index(name)])
    return {f"z{when}": float(z.mean()), f"sd{when}": float(z.std())}
