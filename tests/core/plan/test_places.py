"""Where new items go: on simulated banks, with the truth known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import DifficultyScale, Fit1PL, PlanRequest, Uniform, diagnose, fit_1pl, make_plan
from benchfill.measure import max_gap
from benchfill.plan.coverage import coverage_draws, mean_reach, mean_widths
from benchfill.plan.known import plain_midpoints
from support.planned_banks import OBJECTIVES, difference, plan_on_bank
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from benchfill.plan.result import ItemPlan


@pytest.fixture(scope="module")
def fit() -> Fit1PL:
    """Items with one wide gap from -.4 to .8 logits."""
    rng = np.random.default_rng(11)
    b = np.concatenate([np.linspace(-2, -0.4, 20), np.linspace(0.8, 2, 16)])
    return fit_1pl(respond(rng, abilities(rng), b, 64), engine="map")


def new_items(fit: Fit1PL, seed: int = 0, **request: object) -> ItemPlan:
    plan = make_plan(fit, PlanRequest(**request), seed=seed).new_items  # type: ignore[arg-type]
    assert plan is not None
    return plan


def test_one_item_halves_the_one_gap(fit: Fit1PL) -> None:
    plan = new_items(fit, items=1)
    (item,) = plan.items
    scale = DifficultyScale.of(fit.b)
    assert item.b == pytest.approx(0.2, abs=0.15)
    assert item.z == pytest.approx(float(scale.to_z(item.b)))
    assert {item.left_item, item.right_item} <= {f"i{i}" for i in range(16, 24)}
    assert plan.after.max_gap.mean == pytest.approx(plan.before.max_gap.mean / 2, abs=0.02)
    assert not plan.plain.beaten  # the midpoint is what anybody would take


def test_three_items_go_into_the_one_gap_where_midpoints_waste_two(fit: Fit1PL) -> None:
    plan = new_items(fit, items=3)
    assert all(-0.4 < item.b < 0.8 for item in plan.items)
    assert plan.plain.beaten
    assert plan.plain.p_better > 0.9
    assert plan.plain.difference.mean < -0.05
    assert plan.after.max_gap.mean < 0.6 * plan.plain.coverage.max_gap.mean
    np.testing.assert_allclose(
        plan.plain.places, plain_midpoints(DifficultyScale.of(fit.b).to_z(fit.b), 3)
    )


def test_before_is_what_the_diagnosis_says(fit: Fit1PL) -> None:
    plan, found = new_items(fit, items=1), diagnose(fit)
    assert plan.before.max_gap.mean == pytest.approx(found.max_gap.value, abs=0.01)
    assert plan.before.ddm.mean == pytest.approx(found.ddm.value, abs=0.01)
    assert plan.before.top_k_sum.mean == pytest.approx(found.top_k_sum.value, abs=0.02)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_objective_is_worse_than_plain_midpoints(fit: Fit1PL, objective: str) -> None:
    plan = new_items(fit, items=4, objective=objective)
    assert plan.plain.beaten
    assert plan.plain.difference.mean < 0
    assert all(0 <= item.z <= 1 for item in plan.items)
    names = {"max-gap": "max_gap", "ddm": "ddm", "top-k": "top_k_sum"}
    name = names[objective]
    assert getattr(plan.after, name).mean < getattr(plan.before, name).mean


def test_the_same_seed_gives_the_same_plan(fit: Fit1PL) -> None:
    request = {"items": 2, "placement_sd": 0.03}
    assert new_items(fit, **request) == new_items(fit, **request)
    assert new_items(fit, **request) != new_items(fit, seed=1, **request)


def test_items_that_land_elsewhere_help_less(fit: Fit1PL) -> None:
    sure, unsure = (new_items(fit, items=3, placement_sd=sd) for sd in (0.0, 0.1))
    assert unsure.after.max_gap.mean > sure.after.max_gap.mean + 0.01
    assert unsure.before == sure.before


def test_measuring_takes_more_answers_the_narrower_the_room(fit: Fit1PL) -> None:
    wide, narrow = (new_items(fit, items=count).items[0] for count in (1, 5))
    assert wide.rollouts is not None
    assert narrow.rollouts is not None
    assert wide.half_width is not None
    # 1 / se^2 with se a quarter of half the room, at most 1/4 of information a rollout
    se = wide.half_width * DifficultyScale.of(fit.b).width / 4
    assert wide.rollouts >= 4 / se**2 - 1
    assert wide.rollouts < 1.5 * 4 / se**2
    assert narrow.rollouts > 2 * wide.rollouts
    assert wide.rollouts_in_gap is not None
    assert wide.rollouts_in_gap < wide.rollouts
    assert len(wide.models) == 6


def test_more_items_than_gaps_and_than_models() -> None:
    fit = fit_1pl(matrix_of([[3, 1], [4, 2]], 4), engine="map")
    plan = new_items(fit, items=7)
    assert len(plan.items) == 7
    assert plan.after.max_gap.mean < 0.35
    assert len(plan.items[0].models) == 2


def test_a_thousand_items_fit_in(fit: Fit1PL) -> None:
    plan = new_items(fit, items=1000, objective="ddm")
    assert plan.after.ddm.mean < 0.02
    assert len(plan.items) == 1000


def test_widths_and_reach_are_those_of_neighbours() -> None:
    z = np.array([[0.0, 0.4, 1.0], [0.0, 0.6, 1.0]])
    np.testing.assert_allclose(mean_widths(z, np.array([0.2, 0.5])), [0.5, 0.6])
    np.testing.assert_allclose(mean_reach(z, np.array([[0.2, 0.3]] * 2)), [0.3, 0.3])
    assert np.isnan(mean_widths(z, np.array([1.5]))).all()


def test_coverage_is_that_of_the_merged_items() -> None:
    z = np.random.default_rng(0).random((3, 6)) * 4 - 1
    landed = np.random.default_rng(1).random((3, 2))
    figures = coverage_draws(z, landed, Uniform())
    for draw, new, figure in zip(z, landed, figures, strict=True):
        whole = np.sort(np.concatenate([draw, new]))
        own = (whole - whole[0]) / (whole[-1] - whole[0])
        assert figure[0] == pytest.approx(float(max_gap(own)))
        assert figure[1] == pytest.approx(float(Uniform().wasserstein(own)))
        assert figure[2] == pytest.approx(np.sort(np.diff(own))[-5:].sum())


def test_plans_beat_plain_midpoints_on_simulated_banks() -> None:
    """The small version of tests/studies/plan.py; docs/studies.md has the whole table."""
    done = [one for bank in range(3) for one in plan_on_bank(bank, 64, (10,))]
    for objective in OBJECTIVES:
        some = [one for one in done if one.objective == objective]
        mean, half = difference(some)
        assert mean + half < 0
        assert all(one.plan < one.before for one in some)
