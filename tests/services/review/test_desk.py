"""The desk: verdicts, blindness, undo, adjudication, and many at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from benchfill.errors import InputError
from benchfill_services.review.case import ThreadMessage
from benchfill_services.review.desk import ReviewDesk
from benchfill_services.review.rules import (
    NewVerdict,
    Person,
    ReviewRefusedError,
    StaleViewError,
)
from benchfill_services.store.reviews import UnknownCaseError
from support.review_cases import make_case

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_services.review.agents import AgentTask

ADA = Person("a" * 12, "Ada", "reviewer")
BOB = Person("b" * 12, "Bob", "reviewer")
CYD = Person("c" * 12, "Cyd", "reviewer")
OPS = Person("d" * 12, "Ops", "operator")
READER = Person("e" * 12, "Rea", "reader")
YES = NewVerdict("approve")
NO = NewVerdict("reject", ("ambiguous",), "12 or 13?")
CHANGE = NewVerdict("request_change", (), "The answer must be an integer.")


class Listed:
    """Agents whose tasks are only put down; a worker's part is played by the test."""

    def __init__(self) -> None:
        self.tasks: dict[str, AgentTask] = {}
        self.started: list[str] = []
        self.dropped: list[str] = []

    async def prepare(self, task: AgentTask, person: Person) -> str:
        job = f"{len(self.tasks):032x}"
        self.tasks[job] = task
        return job

    async def start(self, job: str) -> None:
        self.started.append(job)

    async def drop(self, job: str) -> None:
        self.dropped.append(job)


@pytest.fixture
def agents() -> Listed:
    return Listed()


@pytest.fixture
def desk(valkey: Redis, agents: Listed) -> ReviewDesk:
    return ReviewDesk(valkey, agents=agents)


@pytest.fixture
async def case(desk: ReviewDesk) -> str:
    made = make_case()
    assert await desk.reviews.open(made)
    assert not await desk.reviews.open(made)
    return made.id


async def where(desk: ReviewDesk, person: Person) -> list[str]:
    shelves = ("pending", "waiting", "disagreements", "decided")
    return [shelf for shelf in shelves if (await desk.shelf(person, shelf))[0]]


async def test_two_approvals_decide(desk, case) -> None:
    assert await where(desk, ADA) == ["pending"]
    mine = await desk.decide(case, ADA, YES)
    assert (mine.status, mine.may_decide, mine.may_undo) == ("waiting", False, True)
    assert await where(desk, ADA) == ["waiting"]
    assert await where(desk, BOB) == ["pending"]
    theirs = await desk.decide(case, BOB, YES)
    assert theirs.status == "approved"
    assert {one.reviewer for one in theirs.latest.verdicts} == {ADA.id, "you"}
    for person in (ADA, BOB, CYD, READER):
        assert await where(desk, person) == ["decided"]
    assert await desk.sizes(ADA) == {
        "pending": 0, "waiting": 0, "disagreements": 0, "decided": 1,
    }  # fmt: skip


async def test_nothing_of_a_verdict_shows_before_both_are_in(desk, case) -> None:
    before = {person: await desk.look(case, person) for person in (BOB, CYD, OPS, READER)}
    listed = {person: await desk.shelf(person, "pending") for person in before}
    await desk.decide(case, ADA, NO)
    for person, view in before.items():
        assert await desk.look(case, person) == view
        assert await desk.shelf(person, "pending") == listed[person]
        assert await desk.sizes(person) == {
            "pending": 1, "waiting": 0, "disagreements": 0, "decided": 0,
        }  # fmt: skip
        assert await desk.thread(case, person) == []


async def test_a_requested_change_is_private_until_it_is_there(desk, case, agents) -> None:
    before = await desk.look(case, BOB)
    mine = await desk.decide(case, ADA, CHANGE)
    assert (mine.status, mine.rewriting, mine.may_undo) == ("waiting", True, False)
    (job,) = agents.started
    assert agents.tasks[job].kind == "revise"
    with pytest.raises(ReviewRefusedError, match="being written"):
        await desk.undo(case, ADA)
    said = ThreadMessage(
        author="Rewriter", author_kind="agent", kind="rewriting", revision=2, text="Now 12.",
        at=mine.opened_at, job=job, private_to=ADA.id,
    )  # fmt: skip
    await desk.reviews.say(case, said, key="1")
    assert [one.text for one in await desk.thread(case, ADA)] == [CHANGE.text, "Now 12."]
    assert (await desk.thread(case, ADA))[0].author == "you"
    assert await desk.thread(case, BOB) == []
    assert await desk.look(case, BOB) == before

    first = (await desk.state(case)).case.first
    for _ in range(2):  # a job that is done twice adds one revision
        assert await desk.revised(case, first, by=ADA.id, on=1, job=job) == 2
    theirs = await desk.look(case, BOB)
    assert [one.superseded for one in theirs.revisions] == [True, False]
    assert theirs.revisions[0].verdicts == ()
    assert [one.text for one in await desk.thread(case, BOB)] == ["Now 12."]
    assert await where(desk, ADA) == ["waiting"]
    with pytest.raises(ReviewRefusedError, match="others judge"):
        await desk.decide(case, ADA, YES)
    with pytest.raises(StaleViewError, match="newer revision"):
        await desk.decide(case, BOB, YES, seen=before.seen)
    await desk.decide(case, BOB, YES, seen=theirs.seen)
    done = await desk.decide(case, CYD, YES)
    assert done.status == "approved"
    assert [one.verdict for one in done.revisions[0].verdicts] == ["request_change"]


async def test_a_rewriting_that_fails_leaves_the_request_as_a_verdict(desk, case, agents) -> None:
    await desk.decide(case, ADA, CHANGE)
    await desk.decide(case, BOB, YES)
    assert (await desk.look(case, BOB)).status == "revising"
    assert (await desk.look(case, BOB)).latest.verdicts[1].mine
    await desk.not_revised(case, on=1, job=agents.started[0], why="the model refused.")
    await desk.not_revised(case, on=1, job=agents.started[0], why="again")
    assert (await desk.look(case, BOB)).status == "disagreement"
    assert [one.kind for one in (await desk.state(case)).events][-1] == "revision_failed"
    assert len((await desk.state(case)).events) == 3


async def test_undo_until_the_other_has_decided(desk, case) -> None:
    await desk.decide(case, ADA, NO)
    assert (await desk.undo(case, ADA)).status == "pending"
    with pytest.raises(ReviewRefusedError, match="no verdict of yours"):
        await desk.undo(case, ADA)
    await desk.decide(case, ADA, YES)
    await desk.decide(case, BOB, YES)
    with pytest.raises(ReviewRefusedError, match="are in"):
        await desk.undo(case, ADA)
    assert [one.kind for one in (await desk.state(case)).events] == [
        "verdict", "undo", "verdict", "verdict",
    ]  # fmt: skip


async def test_disagreement_goes_to_somebody_else(desk, case) -> None:
    await desk.decide(case, ADA, YES)
    await desk.decide(case, OPS, NO)
    assert await where(desk, CYD) == ["disagreements"]
    for person, why in ((ADA, "role"), (OPS, "took part"), (READER, "role")):
        with pytest.raises(ReviewRefusedError, match=why):
            await desk.adjudicate(case, person, YES)
    boss = Person("f" * 12, "Boss", "admin")
    assert (await desk.look(case, boss)).may_adjudicate
    with pytest.raises(InputError, match="approves or rejects"):
        await desk.adjudicate(case, boss, CHANGE)
    assert (await desk.adjudicate(case, boss, YES)).status == "approved"
    with pytest.raises(ReviewRefusedError, match="do not disagree"):
        await desk.adjudicate(case, Person("0" * 12, "", "admin"), NO)


async def test_the_second_tab_is_told(desk, case) -> None:
    one = await desk.look(case, ADA)
    await desk.decide(case, ADA, YES, seen=one.seen)
    with pytest.raises(StaleViewError, match="out of date"):
        await desk.decide(case, ADA, NO, seen=one.seen)
    with pytest.raises(StaleViewError):
        await desk.undo(case, ADA, seen=one.seen)
    with pytest.raises(ReviewRefusedError, match="undo it first"):
        await desk.decide(case, ADA, NO)


async def test_of_many_at_once_as_many_as_are_needed_count(desk, case) -> None:
    people = [Person(f"{k:012x}", "", "reviewer") for k in range(12)]
    done = await asyncio.gather(
        *(desk.decide(case, one, YES) for one in people), return_exceptions=True
    )
    assert sum(not isinstance(one, Exception) for one in done) == 2
    assert all(isinstance(one, ReviewRefusedError) for one in done if isinstance(one, Exception))
    assert len((await desk.state(case)).events) == 2


async def test_a_refused_request_leaves_no_job(desk, case, agents) -> None:
    await desk.decide(case, ADA, YES)
    await asyncio.gather(
        desk.decide(case, BOB, CHANGE), desk.decide(case, CYD, CHANGE), return_exceptions=True
    )
    assert sorted(agents.started + agents.dropped) == sorted(agents.tasks)
    assert len(agents.started) == 1


@pytest.mark.parametrize(
    ("verdict", "reasons", "text", "field"),
    [
        ("reject", (), "", "reasons"),
        ("reject", ("other",), " ", "text"),
        ("approve", ("formatting",), "", "reasons"),
        ("request_change", (), "", "text"),
        ("approve", (), "x" * 4001, "text"),
    ],
)
def test_what_cannot_be_said(verdict, reasons, text, field) -> None:
    with pytest.raises(InputError) as caught:
        NewVerdict(verdict, reasons, text)
    assert caught.value.field == field


async def test_questions_need_agents(valkey, desk, case, agents) -> None:
    await desk.question(case, ADA, "Why is C wrong?")
    assert agents.tasks[agents.started[0]].kind == "answer"
    assert [one.kind for one in await desk.thread(case, ADA)] == ["question"]
    assert await desk.thread(case, BOB) == []
    alone = ReviewDesk(valkey)
    assert not (await alone.look(case, ADA)).agents
    with pytest.raises(ReviewRefusedError, match="no agent"):
        await alone.question(case, ADA, "Why?")
    assert (await alone.decide(case, ADA, CHANGE)).may_undo  # a verdict like any other
    with pytest.raises(ReviewRefusedError, match="role"):
        await desk.question(case, READER, "Why?")


async def test_pages_of_a_long_queue(desk) -> None:
    cases = [make_case(benchmark="ab"[k % 2]) for k in range(700)]
    for one in cases:
        await desk.reviews.open(one)
    await desk.decide(cases[-2].id, ADA, YES)
    seen, before = [], None
    while True:
        shown, before = await desk.shelf(ADA, "pending", limit=60, before=before, benchmark="a")
        seen += [one.id for one in shown]
        if before is None:
            break
    assert seen == [one.id for one in cases[::2]][::-1][1:]
    one = cases[10]
    assert [v.id for v in (await desk.shelf(ADA, "pending", gap=(one.job, one.gap)))[0]] == [one.id]


async def test_an_unknown_candidate(desk) -> None:
    with pytest.raises(UnknownCaseError):
        await desk.look("nothing", ADA)
