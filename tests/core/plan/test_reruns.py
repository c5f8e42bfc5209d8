"""Items to run again: budgets are spent where they decide a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import Fit1PL, PlanRequest, find_gaps, fit_1pl, make_plan
from benchfill.plan.cells import Cells
from benchfill.plan.outlook import OpenGap, Outlook
from benchfill.plan.reruns import _best_split, is_undecided
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from benchfill.plan.result import RerunPlan


@pytest.fixture(scope="module")
def fit() -> Fit1PL:
    rng = np.random.default_rng(4)
    b = np.concatenate([np.linspace(-2, -0.3, 7), np.linspace(0.7, 2, 7)])
    return fit_1pl(respond(rng, abilities(rng), b, 8), engine="map")


def reruns(fit: Fit1PL, rollouts: int, seed: int = 0) -> RerunPlan:
    plan = make_plan(fit, PlanRequest(rollouts=rollouts), seed=seed).reruns
    assert plan is not None
    return plan


@pytest.mark.parametrize("budget", [1, 7, 50])
def test_the_whole_budget_goes_to_cells_that_are_there(fit: Fit1PL, budget: int) -> None:
    plan = reruns(fit, budget)
    assert sum(one.rollouts for one in plan.reruns) == budget
    assert sum(gap.rollouts for gap in plan.gaps) == budget
    assert {one.item for one in plan.reruns} <= set(fit.responses.items)
    assert {one.model for one in plan.reruns} <= set(fit.responses.models)
    assert len({(one.item, one.model) for one in plan.reruns}) == len(plan.reruns)
    assert all(one.rollouts > 0 for one in plan.reruns)


def test_more_rollouts_decide_more(fit: Fit1PL) -> None:
    few, many = reruns(fit, 20), reruns(fit, 20_000)
    assert 0 <= few.expected_decided < many.expected_decided <= len(many.gaps)
    assert many.expected_decided > 1
    for gap in many.gaps:
        assert gap.p_empty + gap.p_occupied <= 1
    assert many.expected_decided == pytest.approx(
        sum(gap.p_empty + gap.p_occupied for gap in many.gaps)
    )


def test_the_same_seed_gives_the_same_plan(fit: Fit1PL) -> None:
    assert reruns(fit, 5) == reruns(fit, 5)


def test_gaps_that_are_decided_are_counted_not_planned_for(fit: Fit1PL) -> None:
    plan, found = reruns(fit, 100), find_gaps(fit)
    undecided = [gap for gap in found if is_undecided(gap)]
    assert plan.undecided == len(undecided)
    assert plan.empty == sum(gap.verdict == "empty" for gap in found)
    assert plan.empty + plan.occupied + plan.undecided == len(found)
    planned = [(gap.left_item, gap.right_item) for gap in plan.gaps]
    assert planned == [(gap.left_item, gap.right_item) for gap in undecided[:5]]


def test_nothing_to_decide() -> None:
    fit = fit_1pl(matrix_of([[900, 100], [700, 50]], 1000), engine="map")
    plan = reruns(fit, 100)
    assert (plan.empty, plan.undecided) == (1, 0)
    assert (plan.gaps, plan.reruns, plan.expected_decided) == ((), (), 0)


def test_without_further_rollouts_a_gap_is_as_uncertain_as_it_is(fit: Fit1PL) -> None:
    gap = next(gap for gap in find_gaps(fit) if is_undecided(gap))
    of = OpenGap.of(fit, fit.draws, gap)
    (judged,) = Outlook(fit, fit.draws, 10, len(fit.draws.b), 0).judge([of], {})
    np.testing.assert_allclose(judged.p_hole, gap.p_hole, atol=1e-12)
    assert judged.chance == 0


def test_simulated_rollouts_leave_the_chance_of_a_hole_right_on_average(fit: Fit1PL) -> None:
    """The mean of a posterior probability is the prior one: what is simulated is coherent."""
    gap = max((g for g in find_gaps(fit) if is_undecided(g)), key=lambda g: -abs(g.p_hole - 0.5))
    of = OpenGap.of(fit, fit.draws, gap)
    cells = Cells.of(fit, fit.draws, of)
    (judged,) = Outlook(fit, fit.draws, 400, 200, 0).judge([of], cells.spend(2000))
    assert judged.p_hole.mean() == pytest.approx(gap.p_hole, abs=0.08)
    assert judged.p_hole.std() > 0.1


def test_rollouts_go_to_models_that_tell_most(fit: Fit1PL) -> None:
    gap = next(gap for gap in find_gaps(fit) if is_undecided(gap))
    cells = Cells.of(fit, fit.draws, OpenGap.of(fit, fit.draws, gap))
    assert (np.diff(cells.rate, axis=1) <= 0).all()
    for item, model in cells.spend(64):
        near = np.abs(fit.theta - fit.b[item])
        assert near[model] <= np.sort(near)[8]


def test_a_border_that_none_solved_must_be_seen_otherwise_first() -> None:
    rng = np.random.default_rng(4)
    b = np.concatenate([np.linspace(-2, 1, 30), [9.0]])
    fit = fit_1pl(respond(rng, abilities(rng), b, 60), engine="map")
    gap = find_gaps(fit)[0]
    assert gap.extreme_border
    of = OpenGap.of(fit, fit.draws, gap)
    (judged,) = Outlook(fit, fit.draws, 50, 100, 0).judge([of], {})
    assert judged.p_hole.mean() > 0.95
    assert not judged.empty.any()


def test_one_model_alone() -> None:
    rng = np.random.default_rng(1)
    fit = fit_1pl(respond(rng, np.zeros(1), np.linspace(-2, 2, 6), 6), engine="map")
    plan = reruns(fit, 20)
    assert {one.model for one in plan.reruns} <= {"m0"}


def test_the_best_split_is_best_of_all() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        value = np.sort(rng.random((3, 5)), axis=1)
        split = _best_split(value)
        assert sum(split) <= 4
        best = max(
            value[0, a] + value[1, b] + value[2, c]
            for a in range(5)
            for b in range(5 - a)
            for c in range(5 - a - b)
        )
        assert sum(value[g, n] for g, n in enumerate(split)) == pytest.approx(best)
