"""Models that changed since the benchmark was measured are found; steady ones are left alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from benchfill import Draws
from benchfill.items import Item
from benchfill.measure import DifficultyScale
from benchfill_agents.anchors import ANCHORS, LOOKS, MOST_ROLLOUTS, check_anchors
from benchfill_agents.calibrator import Bench
from benchfill_agents.spending import Allowance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill_agents.anchors import AnchorReport
    from benchfill_agents.pool.rollouts import RolloutRequest

THETA, B = np.linspace(-1.5, 1.5, 12), np.linspace(-2.5, 2.5, 30)
NAMES = tuple(f"m{p}" for p in range(len(THETA)))
ITEMS = [Item(id=f"i{i}", question="?", answer="1") for i in range(len(B))]


def bench() -> Bench:
    draws = Draws(theta=THETA[None], b=B[None], mu_b=np.zeros(1), s_b=np.ones(1))
    return Bench(NAMES, NAMES, tuple(one.id for one in ITEMS), draws, DifficultyScale.of(B))


@dataclass(frozen=True)
class Answer:
    """What the anchors look at in a rollout."""

    correct: bool
    cost: float | None = None


@dataclass
class Today:
    """Answers of the models as they are today."""

    theta: np.ndarray
    rng: np.random.Generator
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    async def run(self, requests: Sequence[RolloutRequest]) -> list[Answer]:
        self.asked += [(one.model, one.item.id, one.sample) for one in requests]
        places = [(int(one.model[1:]), int(one.item.id[1:])) for one in requests]
        return [Answer(bool(self.rng.random() < expit(self.theta[p] - B[i]))) for p, i in places]


async def check(change: float, seed: int) -> tuple[AnchorReport, Today]:
    """Check a pool of which three models changed."""
    rng = np.random.default_rng(seed)
    theta = THETA.copy()
    theta[[2, 5, 8]] += rng.choice([-1, 1], 3) * change
    today = Today(theta, rng)
    return await check_anchors(bench(), ITEMS, today, Allowance(), 500), today  # type: ignore[arg-type]


async def test_a_change_of_a_logit_is_found_more_often_than_not() -> None:
    """Of the study's runs with such a change one in eight was flagged by the first look alone."""
    reports = [(await check(1.0, seed))[0] for seed in range(30)]
    found = np.mean([name in report.drifted for report in reports for name in ("m2", "m5", "m8")])
    assert found > 0.5
    assert np.mean([bool(report.drifted) for report in reports]) > 0.8


async def test_steady_models_are_hardly_ever_accused() -> None:
    reports = [(await check(0.0, seed))[0] for seed in range(60)]
    # one in a hundred runs is what the level allows; 4 of 60 has a chance of .003
    assert sum(bool(report.drifted) for report in reports) < 4


async def test_only_models_that_look_odd_are_asked_more() -> None:
    report, today = await check(1.0, 3)
    assert len(set(today.asked)) == len(today.asked) == report.rollouts
    assert min(sample for *_, sample in today.asked) == 500
    each = Counter(model for model, *_ in today.asked)
    assert set(each.values()) <= {ANCHORS * sum(LOOKS[: k + 1]) for k in range(len(LOOKS))}
    assert max(each.values()) == ANCHORS * MOST_ROLLOUTS
    assert min(each.values()) == ANCHORS * LOOKS[0]
    assert {one.model: sum(one.n) for one in report.models} == dict(each)
    drifted = [one for one in report.models if one.standing == "re-estimated"]
    assert all(sum(one.n) > ANCHORS * LOOKS[0] for one in drifted)
