"""What an expansion does next, and why it stops."""

from __future__ import annotations

import pytest

from benchfill_services.expand.planning import Stop, Wanted, is_spent, left_of, next_targets
from benchfill_services.expand.record import Round, Spent, tried
from benchfill_services.jobs.record import FillBudget
from support.fills import make_fill

DIAGNOSIS = make_fill().diagnosis
EMPTY = [gap for gap in DIAGNOSIS.gaps if gap.verdict == "empty"]
WANTED = Wanted(items=60, max_gap=0.0, gaps_per_round=3)


def targets(wanted: Wanted = WANTED, *rounds: Round):
    found = next_targets(DIAGNOSIS, wanted, rounds)
    assert not isinstance(found, Stop), found
    return found


def stop(wanted: Wanted = WANTED, *rounds: Round) -> Stop:
    found = next_targets(DIAGNOSIS, wanted, rounds)
    assert isinstance(found, Stop)
    return found


def done(outcome, *gaps, number: int = 1) -> Round:
    records = tuple(tried(one, outcome, None) for one in gaps)
    return Round(number=number, job="a" * 32, gaps=records, entered=(), spent=Spent())


def test_the_widest_empty_gaps_come_first_and_no_more_than_items_are_wanted() -> None:
    assert len(EMPTY) >= 2, "the benchmark of this test has several empty gaps"
    found = targets()
    widths = [one.width for one in found]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(EMPTY[0].width)
    assert [one.id for one in found] == [f"gap-{k}" for k in range(1, len(found) + 1)]
    assert len(targets(Wanted(DIAGNOSIS.items + 1, 0.0, 3))) == 1


def test_it_stops_at_the_size_and_at_the_width() -> None:
    assert stop(Wanted(DIAGNOSIS.items, 0.0, 3)).reason == "size"
    assert stop(Wanted(99, EMPTY[0].width, 3)).reason == "narrow"
    narrow = targets(Wanted(99, EMPTY[1].width, 3))
    assert len(narrow) == 1


def test_what_could_not_be_filled_is_not_tried_again_and_the_reasons_are_told() -> None:
    everything = targets(Wanted(99, 0.0, 20))
    first, *others = everything
    rest = targets(WANTED, done("not_found", first))
    assert first.left_item not in {one.left_item for one in rest}
    end = stop(WANTED, done("not_found", first), done("resolution_limited", *others, number=2))
    assert end.reason == "unfillable"
    assert "too uncertain" in end.why
    assert "no item was found" in end.why
    # a spent budget is no verdict on a gap
    assert targets(WANTED, done("budget_exhausted", first))[0].left_item == first.left_item


def test_a_gap_whose_item_was_rejected_is_tried_three_times() -> None:
    first = targets()[0]
    rounds = [done("rejected", first, number=k) for k in (1, 2, 3)]
    assert targets(WANTED, *rounds[:2])[0].left_item == first.left_item
    left = next_targets(DIAGNOSIS, WANTED, rounds)
    assert isinstance(left, Stop) or left[0].left_item != first.left_item


def test_a_budget_is_for_all_rounds() -> None:
    budget = FillBudget(rollouts=100, usd=1.5)
    spent = Spent(rollouts=60, tokens=5, usd=0.5) + Spent(rollouts=30)
    assert left_of(budget, spent) == FillBudget(rollouts=10, usd=1.0)
    assert not is_spent(budget, spent)
    assert is_spent(budget, spent + Spent(rollouts=10))
    assert is_spent(budget, spent + Spent(usd=1.0))
    assert not is_spent(FillBudget(), Spent(rollouts=10**9))
