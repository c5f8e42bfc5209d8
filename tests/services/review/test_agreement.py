"""Agreement of reviewers: what counts, and that nothing gets out before all verdicts are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import benchfill as bf
from benchfill_services.review.agreement import review_agreement
from benchfill_services.review.desk import ReviewDesk
from benchfill_services.review.rules import NewVerdict, Person
from support.review_cases import make_case, make_person

if TYPE_CHECKING:
    from redis.asyncio import Redis

YES, NO = NewVerdict("approve"), NewVerdict("reject", ("ambiguous",))
CHANGE = NewVerdict("request_change", (), "The answer must be an integer.")


@pytest.fixture
def desk(valkey: Redis) -> ReviewDesk:
    return ReviewDesk(valkey)


@pytest.fixture
async def people(valkey: Redis) -> list[Person]:
    return [(await make_person(valkey, name))[0] for name in ("Ada", "Bob", "Cyd")]


async def judge(desk: ReviewDesk, *said: tuple[Person, NewVerdict], benchmark: str = "a") -> str:
    case = make_case(benchmark=benchmark)
    await desk.reviews.open(case)
    for person, verdict in said:
        await desk.look(case.id, person, begin=True)
        await desk.decide(case.id, person, verdict)
    return case.id


async def test_an_empty_store_has_none(desk) -> None:
    found = await review_agreement(desk)
    assert (found.benchmarks, found.reviewers) == ((), ())


async def test_what_is_still_judged_changes_nothing(desk, people) -> None:
    ada, bob, _ = people
    await judge(desk, (ada, YES), (bob, YES))
    await judge(desk, (ada, NO), (bob, YES))
    before = await review_agreement(desk)
    case = await judge(desk, (ada, NO))
    await judge(desk)
    assert await review_agreement(desk) == before
    await desk.undo(case, ada)
    assert await review_agreement(desk) == before
    (one,) = before.benchmarks
    assert (one.benchmark, one.candidates, one.reviews) == ("a", 2, 4)
    assert (one.agreement.n, one.agreement.raw) == (2, 0.5)
    assert one.median_seconds >= 0


async def test_pairs_are_pooled_and_each_reviewer_stands_against_all(desk, people) -> None:
    ada, bob, cyd = people
    for mine, theirs in ((YES, YES), (NO, NO), (YES, NO)):
        await judge(desk, (ada, mine), (bob, theirs))
    for mine, theirs in ((YES, YES), (NO, CHANGE)):
        await judge(desk, (cyd, mine), (ada, theirs), benchmark="b")
    found = await review_agreement(desk)
    assert [(one.benchmark, one.agreement.n) for one in found.benchmarks] == [("a", 3), ("b", 2)]
    assert found.benchmarks[0].agreement.kappa == pytest.approx(
        bf.cohen_kappa([[1, 1], [0, 1]]).kappa
    )
    assert {one.reviewer: one.reviews for one in found.reviewers} == {"Ada": 5, "Bob": 3, "Cyd": 2}
    assert found.reviewers[0].reviewer == "Ada"
    assert found.reviewers[0].agreement.n == 5
    assert found.reviewers[0].agreement.raw == pytest.approx(3 / 5)
    only = await review_agreement(desk, benchmark="b")
    assert [one.benchmark for one in only.benchmarks] == ["b"]
    assert {one.reviewer for one in only.reviewers} == {"Ada", "Cyd"}


async def test_an_adjudicator_is_no_rater(desk, people) -> None:
    ada, bob, _ = people
    case = await judge(desk, (ada, YES), (bob, NO))
    before = await review_agreement(desk)
    await desk.adjudicate(case, Person("f" * 12, "Boss", "admin"), YES)
    assert await review_agreement(desk) == before
    assert "Boss" not in before.model_dump_json()


async def test_a_wording_that_was_replaced_before_all_had_judged_it_does_not_count(
    desk, people
) -> None:
    ada, bob, cyd = people
    case = await judge(desk, (ada, CHANGE))
    first = (await desk.state(case)).case.first
    await desk.revised(case, first, by=ada.id, on=1, job="1" * 32)
    await desk.decide(case, bob, YES)
    assert (await review_agreement(desk)).benchmarks == ()
    await desk.decide(case, cyd, YES)
    found = await review_agreement(desk)
    assert {one.reviewer for one in found.reviewers} == {"Bob", "Cyd"}
    assert found.benchmarks[0].agreement.kappa is None
    assert "one category" in found.benchmarks[0].agreement.why
