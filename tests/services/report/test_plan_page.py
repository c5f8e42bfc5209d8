"""What the page of a plan says, and when."""

from __future__ import annotations

import pytest

import benchfill as bf
from benchfill_services.report import plan_new_items, plan_reruns
from benchfill_services.report.plan_page import plan_methods, plan_page
from support.fills import ENVELOPE, gapped_fit

REQUEST = bf.PlanRequest(items=3, rollouts=20)


@pytest.fixture(scope="module")
def plan() -> bf.Plan:
    return bf.make_plan(gapped_fit(), REQUEST)


def test_what_weakens_a_plan_is_said_where_it_does(plan: bf.Plan) -> None:
    new = plan.new_items
    assert new is not None
    assert new.plain.beaten
    told = " ".join(plan_new_items.caveats(new))
    assert "to land where it was planned" in told
    assert "answered" not in told
    assert "hardly change" not in told
    idle = new.model_copy(update={"after": new.before})
    assert "hardly change the widest gap: by 0.0%" in plan_new_items.caveats(idle)[0]
    few = new.model_copy(update={"answers_per_item": 12, "placement_sd": 0.025})
    told = " ".join(plan_new_items.caveats(few))
    assert "An item was answered 12 times" in told
    assert "to land where it was planned" not in told


def test_a_plan_that_is_no_better_says_that_midpoints_do(plan: bf.Plan) -> None:
    new = plan.new_items
    assert new is not None
    assert "Midpoints of the widest gaps would leave" in " ".join(plan_new_items.lead(new, REQUEST))
    same = new.model_copy(update={"plain": new.plain.model_copy(update={"beaten": False})})
    assert "Plain midpoints of the widest gaps do as well" in " ".join(
        plan_new_items.lead(same, REQUEST)
    )


def test_a_budget_that_will_decide_nothing_says_what_would(plan: bf.Plan) -> None:
    again = plan.reruns
    assert again is not None
    poor = again.model_copy(update={"expected_decided": 0.1})
    assert "will probably decide nothing" in plan_reruns.caveats(poor)[0]
    rich = again.model_copy(update={"expected_decided": 2.0})
    assert plan_reruns.caveats(rich) == ()


def test_both_parts_stand_in_page_and_methods(plan: bf.Plan) -> None:
    page = plan_page(plan, REQUEST, [0.0, 0.5, 1.0])
    assert [section.title for section in page.sections] == ["New items", "Items to run again"]
    assert page.files["rerun.csv"].startswith(b"model,item,rollouts\n")
    methods = plan_methods(ENVELOPE, plan, REQUEST).paragraph
    assert "3 new items" in methods
    assert "20 further rollouts" in methods
