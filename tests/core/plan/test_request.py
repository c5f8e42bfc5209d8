"""What cannot be planned is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from benchfill import FitError, InputError, PlanRequest, fit_1pl, make_plan
from support.simulated import matrix_of


@pytest.mark.parametrize(
    ("request_", "field", "words"),
    [
        ({}, None, "nothing to plan"),
        ({"items": -1}, "--budget-items", "negative"),
        ({"rollouts": -1}, "--budget-rollouts", "negative"),
        ({"items": 1001}, "--budget-items", "1,001 new items are too many"),
        ({"rollouts": 10**8 + 1}, "--budget-rollouts", "too many"),
        ({"items": 1, "objective": "gap"}, "--objective", "max-gap, ddm, top-k"),
        ({"items": 1, "placement_sd": -0.1}, "--placement-sd", "standard deviation"),
        ({"items": 1, "placement_sd": float("nan")}, "--placement-sd", "standard deviation"),
    ],
)
def test_what_cannot_be_planned(request_: dict[str, Any], field: str | None, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        PlanRequest(**request_)
    assert caught.value.field == field


def test_each_part_is_there_only_for_its_budget() -> None:
    fit = fit_1pl(matrix_of([[3, 1, 2], [4, 2, 2]], 4), engine="map")
    only_items = make_plan(fit, PlanRequest(items=1))
    assert only_items.reruns is None
    only_reruns = make_plan(fit, PlanRequest(rollouts=10))
    assert only_reruns.new_items is None
    both = make_plan(fit, PlanRequest(items=1, rollouts=10))
    assert (both.new_items, both.reruns) == (only_items.new_items, only_reruns.reruns)


def test_without_a_scale_there_is_no_plan() -> None:
    one = fit_1pl(matrix_of([[1], [0]], 1), engine="map")
    with pytest.raises(FitError, match="only one item"):
        make_plan(one, PlanRequest(items=1))
    same = fit_1pl(matrix_of([[1, 1, 1], [0, 0, 0]], 1), engine="map")
    with pytest.raises(FitError, match="same difficulty"):
        make_plan(same, PlanRequest(rollouts=1))
