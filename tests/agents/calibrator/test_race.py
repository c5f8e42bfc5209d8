"""Children of earlier rounds compete again, from where they stood."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import Draws
from benchfill.items import Item
from benchfill.measure import DifficultyScale
from benchfill_agents.calibrator import (
    Bench,
    Calibration,
    CalibrationPlan,
    Calibrator,
    Foretold,
    Measurement,
)
from benchfill_agents.calibrator.design import Design
from benchfill_agents.spending import Allowance
from benchfill_agents.target import FillTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill_agents.pool.rollouts import RolloutRequest

THETA = np.linspace(-1.5, 1.5, 6)
BORDERS = np.array([-2.0, -0.6, 0.6, 2.0])
TARGET = FillTarget(id="gap", z=0.5, z_left=0.35, z_right=0.65, left_item="i1", right_item="i2")
TRUE = {"near": 0.05, "off": 0.5, "far": 0.9} | {f"wide {k}": 0.45 + k / 40 for k in range(8)}


@dataclass
class Answering:
    """Simulated models; a share of their answers never comes."""

    rng: np.random.Generator
    failing: float = 0.0
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    async def run(self, requests: Sequence[RolloutRequest]) -> list[Scored]:
        self.asked += [(one.model, one.item.id, one.sample) for one in requests]
        return [self._score(one) for one in requests]

    def _score(self, one: RolloutRequest) -> Scored:
        if self.rng.random() < self.failing:
            return Scored(None)
        theta = THETA[int(one.model[1:])]
        return Scored(bool(self.rng.random() < 1 / (1 + np.exp(TRUE[one.item.id] - theta))))


@dataclass(frozen=True)
class Scored:
    """What the Calibrator looks at in a rollout."""

    correct: bool | None


def bench(borders_sd: float = 0.0) -> Bench:
    count = 400 if borders_sd else 1  # one draw says that they are known
    draws = Draws(
        theta=np.tile(THETA, (count, 1)),
        b=np.random.default_rng(5).normal(BORDERS, borders_sd, (count, len(BORDERS))),
        mu_b=np.zeros(count),
        s_b=np.full(count, 1.5),
    )
    names = tuple(f"m{p}" for p in range(len(THETA)))
    items = tuple(f"i{k}" for k in range(len(BORDERS)))
    return Bench(
        models=names,
        matrix_names=names,
        items=items,
        draws=draws,
        scale=DifficultyScale.of(BORDERS),
    )


def child(name: str) -> Item:
    return Item(id=name, question=name, answer="1")


def calibrator(
    answering: Answering, design: Design, *, borders_sd: float = 0.0, least: float = 0.9
) -> Calibrator:
    plan = CalibrationPlan(design=design, min_p_in_gap=least)
    return Calibrator(bench(borders_sd), answering, Allowance(), plan)  # type: ignore[arg-type]


async def first_round(answering: Answering) -> Calibration:
    """Measure a child a little: it stays undecided."""
    (one,) = await calibrator(answering, Design(first=12, most=12)).calibrate(
        [child("near")], TARGET
    )
    assert one.outcome == "undecided"
    return one


@pytest.mark.parametrize("failing", [0.0, 0.3])
async def test_an_earlier_child_goes_on_where_it_stood(failing: float) -> None:
    answering = Answering(np.random.default_rng(7), failing)
    before = await first_round(answering)
    later = calibrator(answering, Design(first=6))
    (again,) = later.open([before])
    results = await later.calibrate(
        [child("far"), child("near")], TARGET, Foretold(earlier=[again])
    )
    after = {one.item: one for one in results}["near"]
    assert after.outcome == "accepted"
    assert after.rollouts > before.rollouts
    # no answer is asked for twice, also not where some had failed
    assert len(set(answering.asked)) == len(answering.asked)
    assert after.asked == sum(item == "near" for _, item, _ in answering.asked)
    for then, now in zip(before.counts, after.counts, strict=True):
        assert now.n >= then.n
        assert now.correct >= then.correct


async def test_an_earlier_child_of_which_nothing_new_is_known_does_not_come_back() -> None:
    answering = Answering(np.random.default_rng(7))
    before = await first_round(answering)
    nothing_pays = calibrator(answering, Design(first=6, most=12))
    assert nothing_pays.open([before]) == []
    results = await nothing_pays.calibrate(
        [child("far"), child("near")], TARGET, Foretold(earlier=[before])
    )
    assert [one.item for one in results] == ["far"]


async def test_a_round_without_new_children_does_not_pursue_the_old_ones_to_the_end() -> None:
    """Before the last round, children yet to be written may promise more than those there are."""
    names = [f"wide {k}" for k in range(8)]
    parents = dict.fromkeys(names, 0.5)
    asked = {}
    for last in (False, True):
        answering = Answering(np.random.default_rng(3))
        way = calibrator(answering, Design(first=6), least=0.999)
        children = [child(name) for name in names]
        first = await way.calibrate(children, TARGET, Foretold(parents), last_round=False)
        before = len(answering.asked)
        known = Foretold(parents, earlier=way.open(first))
        assert known.earlier
        again = [child(one.item) for one in known.earlier]
        await way.calibrate(again, TARGET, known, last_round=last)
        asked[last] = len(answering.asked) - before
    assert asked[False] < asked[True] / 2


async def test_a_child_is_not_pursued_where_the_gap_is_not_worth_it() -> None:
    """Of a gap .2 logits wide a child takes .1 at most; it is decided by some 1,350 rollouts."""
    narrow = FillTarget(
        id="gap", z=0.5125, z_left=0.4875, z_right=0.5375, left_item="i1", right_item="i2"
    )
    asked = {}
    for worth, at_any_price in ((Design().worth, False), (1e-7, False), (Design().worth, True)):
        answering = Answering(np.random.default_rng(3))
        way = calibrator(answering, Design(worth=worth))
        way.plan = replace(way.plan, at_any_price=at_any_price)
        known = way.bench.draws
        b = np.array([[-2.0, -0.05, 0.15, 2.0]])
        way.bench = replace(way.bench, draws=Draws(known.theta, b, known.mu_b, known.s_b))
        await way.calibrate([child("near")], narrow, last_round=True)
        asked[worth, at_any_price] = len(answering.asked)
    assert asked.pop((Design().worth, False)) == Design().first
    assert min(asked.values()) > 200


async def test_what_is_settled_does_not_compete_again() -> None:
    answering = Answering(np.random.default_rng(7))
    before = await first_round(answering)
    way = calibrator(answering, Design())
    for outcome in ("accepted", "outside", "resolution_limited"):
        assert way.open([before.model_copy(update={"outcome": outcome})]) == []
    fixed = Calibrator(way.bench, answering, Allowance(), CalibrationPlan("fixed"))  # type: ignore[arg-type]
    assert fixed.open([before]) == []


def test_where_borders_are_known_a_child_is_accepted_anywhere_between_them() -> None:
    way = calibrator(Answering(np.random.default_rng(7)), Design())
    assert way.acceptable(TARGET) == pytest.approx((-0.6, 0.6))


async def test_a_child_that_vague_borders_keep_from_being_accepted_is_left() -> None:
    asked = []
    for seed in range(6):
        answering = Answering(np.random.default_rng(seed))
        way = calibrator(answering, Design(), borders_sd=0.25, least=0.97)
        # P(both borders beyond b) >= .97: .6 - b >= 1.88 sd
        assert way.acceptable(TARGET) == pytest.approx((-0.13, 0.13), abs=0.06)
        (one,) = await way.calibrate([child("off")], TARGET)
        assert one.outcome == "resolution_limited"
        assert one.p_in_gap > 0.2
        asked.append(one.asked)
    # until its own place is an eighth of the gap each would have been asked about 197 times
    assert np.mean(asked) < 120


def test_rollouts_without_a_score_are_kept_apart() -> None:
    asked = np.array([3, 0, 2, 5, 0, 1])
    measured = replace(
        Measurement.empty(child("near"), 6),
        n=np.array([2, 0, 2, 1, 0, 0]),
        correct=np.array([1, 0, 2, 0, 0, 0]),
        asked=asked,
    )
    told = measured.calibration(bench(), TARGET, "undecided")
    again = Measurement.of(Calibration.model_validate_json(told.model_dump_json()), bench())
    np.testing.assert_array_equal(again.asked, asked)
    np.testing.assert_array_equal(again.n, measured.n)
    assert (told.rollouts, told.asked) == (5, 11)
