"""What a rollout of each model costs, as the anchors found it, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import Draws
from benchfill.items import Item
from benchfill.measure import DifficultyScale
from benchfill_agents.anchors import (
    AnchorModel,
    AnchorReport,
    adjusted,
    check_anchors,
    relative_prices,
)
from benchfill_agents.calibrator import Bench
from benchfill_agents.spending import Allowance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill_agents.anchors import Standing
    from benchfill_agents.pool.rollouts import RolloutRequest

THETA, B = np.array([-1.0, 0.0, 1.0]), np.linspace(-2, 2, 8)
USD = {"cheap": 0.001, "dear": 0.03, "unknown": None}


def bench() -> Bench:
    draws = Draws(theta=THETA[None], b=B[None], mu_b=np.zeros(1), s_b=np.ones(1))
    names = tuple(USD)
    items = tuple(f"i{k}" for k in range(len(B)))
    return Bench(names, names, items, draws, DifficultyScale.of(B))


def model(name: str, usd: float | None, standing: Standing = "kept") -> AnchorModel:
    return AnchorModel(
        model=name, theta=0, theta_anchors=None, expected=1, correct=(1,), n=(3,), p_value=0.5,
        standing=standing, usd=usd,
    )  # fmt: skip


def report(*models: AnchorModel) -> AnchorReport:
    return AnchorReport(used=True, items=("i3",), models=models)


@dataclass(frozen=True)
class Paid:
    """What the anchors look at in a rollout."""

    correct: bool | None
    cost: float | None


class Priced:
    """Answers that cost what their model costs; a reply without a price is left out of the mean."""

    def __init__(self) -> None:
        self._asked = 0

    async def run(self, requests: Sequence[RolloutRequest]) -> list[Paid]:
        return [self._one(one) for one in requests]

    def _one(self, one: RolloutRequest) -> Paid:
        self._asked += 1
        usd = USD[one.model]
        return Paid(self._asked % 2 == 0, None if self._asked % 7 == 0 else usd)


async def test_the_anchors_tell_what_a_rollout_costs() -> None:
    items = [Item(id=f"i{k}", question="?", answer="1") for k in range(len(B))]
    found = await check_anchors(bench(), items, Priced(), Allowance(), 0)  # type: ignore[arg-type]
    assert {one.model: one.usd for one in found.models} == pytest.approx(USD)
    again = AnchorReport.model_validate_json(found.model_dump_json())
    np.testing.assert_array_equal(relative_prices(again), relative_prices(found))


def test_prices_are_multiples_of_the_mean_and_an_unknown_one_is_the_mean() -> None:
    found = relative_prices(report(*(model(name, usd) for name, usd in USD.items())))
    assert found == pytest.approx([0.1, 0.03 / 0.0155, 1])  # the first would be .065


@pytest.mark.parametrize("usd", [None, 0.0])
def test_where_no_price_is_known_or_nothing_costs_all_are_the_same(usd: float | None) -> None:
    known = report(*(model(name, usd) for name in USD))
    assert relative_prices(known) is None
    assert adjusted(bench(), known, np.random.default_rng(0)).prices.tolist() == [1, 1, 1]


def test_prices_stay_with_their_models_when_one_is_left_out() -> None:
    known = report(model("cheap", 1.0), model("dear", 2.0, "left_out"), model("unknown", 3.0))
    left = adjusted(bench(), known, np.random.default_rng(0))
    assert (left.models, left.prices.tolist()) == (("cheap", "unknown"), [0.5, 1.5])


def test_without_anchors_nothing_is_known_of_prices() -> None:
    assert relative_prices(AnchorReport(used=False)) is None
