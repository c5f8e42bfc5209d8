"""Verdicts of experts on candidates, blind to each other until all are in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from ..review.case import Reason, ThreadMessage, VerdictKind
from ..review.desk import Shelf
from ..review.rules import LONGEST_TEXT, NewVerdict, Person
from ..review.view import CaseView
from ..store.benchmarks import SLUG
from .auth import Caller
from .candidates import CandidateId
from .guarded_route import GuardedRoute, needs
from .pagination import Before, Limit, Page, page
from .review_cases import case_of
from .service import ServiceDep

router = APIRouter(prefix="/v1", tags=["reviews"], route_class=GuardedRoute)
_REFUSED: dict[int | str, dict[str, Any]] = {
    409: {"description": "the rules do not allow it, or what was judged has changed"}
}
_Seen = Annotated[
    str | None,
    Field(max_length=64, description="`seen` of the view that was judged; 409 if it has changed"),
]


class GivenVerdict(BaseModel):
    """A verdict."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: VerdictKind
    reasons: tuple[Reason, ...] = Field((), max_length=7, strict=False, description="of a reject")
    text: str = Field("", max_length=LONGEST_TEXT, description="what else there is to say")
    seen: _Seen = None


class Adjudication(BaseModel):
    """A decision where reviewers disagree."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: Literal["approve", "reject"]
    reasons: tuple[Reason, ...] = Field((), max_length=7, strict=False, description="of a reject")
    text: str = Field("", max_length=LONGEST_TEXT)
    seen: _Seen = None


class Question(BaseModel):
    """A question to the Validator."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)


class Asked(BaseModel):
    """A question that was put; its answer comes into the thread."""

    message: str = Field(description="id of the question in the thread")


class Thread(BaseModel):
    """What was said about a candidate after its fill, oldest first. Untrusted text."""

    candidate: str
    messages: list[ThreadMessage]


@router.get("/reviews", **needs("reader"))
async def list_reviews(  # noqa: PLR0913, PLR0917 - FastAPI names them
    caller: Caller,
    service: ServiceDep,
    before: Before,
    shelf: Annotated[Shelf, Query(description="which cases")] = "pending",
    limit: Limit = 50,
    benchmark: Annotated[str | None, Query(pattern=SLUG)] = None,
) -> Page[CaseView]:
    """List candidates under review as you may see them, newest first."""
    shown, following = await service.desk.shelf(
        Person.of(caller), shelf, limit=limit, before=before, benchmark=benchmark
    )
    return page(shown, following)


@router.post("/candidates/{candidate}/review", status_code=201, **needs("operator"))
async def put_up_for_review(
    candidate: CandidateId, caller: Caller, service: ServiceDep
) -> CaseView:
    """Put up a measured candidate that its fill did not choose; those it chose are up already."""
    await case_of(service, candidate)
    return await service.desk.look(candidate, Person.of(caller))


@router.get("/candidates/{candidate}/review", **needs("reader"))
async def get_review(candidate: CandidateId, caller: Caller, service: ServiceDep) -> CaseView:
    """Return what you may see of a candidate's review; it starts the clock of your work on it."""
    return await service.desk.look(candidate, Person.of(caller), begin=True)


@router.post(
    "/candidates/{candidate}/reviews", status_code=201, responses=_REFUSED, **needs("reviewer")
)
async def add_review(
    candidate: CandidateId, given: GivenVerdict, caller: Caller, service: ServiceDep
) -> CaseView:
    """Give a verdict on the latest revision of a candidate."""
    said = NewVerdict(given.verdict, given.reasons, given.text)
    return await service.desk.decide(candidate, Person.of(caller), said, seen=given.seen)


@router.delete("/candidates/{candidate}/reviews/mine", responses=_REFUSED, **needs("reviewer"))
async def undo_review(candidate: CandidateId, caller: Caller, service: ServiceDep) -> CaseView:
    """Take your verdict back while another one is missing."""
    return await service.desk.undo(candidate, Person.of(caller))


@router.post(
    "/candidates/{candidate}/adjudication", status_code=201, responses=_REFUSED, **needs("operator")
)
async def adjudicate(
    candidate: CandidateId, given: Adjudication, caller: Caller, service: ServiceDep
) -> CaseView:
    """Decide where reviewers disagree; not by one of them."""
    said = NewVerdict(given.verdict, given.reasons, given.text)
    return await service.desk.adjudicate(candidate, Person.of(caller), said, seen=given.seen)


@router.get("/candidates/{candidate}/thread", **needs("reader"))
async def get_thread(candidate: CandidateId, caller: Caller, service: ServiceDep) -> Thread:
    """Return what you may see of what reviewers and agents said after the fill."""
    messages = await service.desk.thread(candidate, Person.of(caller))
    return Thread(candidate=candidate, messages=messages)


@router.post(
    "/candidates/{candidate}/questions", status_code=202, responses=_REFUSED, **needs("reviewer")
)
async def ask(
    candidate: CandidateId, question: Question, caller: Caller, service: ServiceDep
) -> Asked:
    """Ask the Validator about a candidate; the answer comes into the thread."""
    person = Person.of(caller)
    return Asked(message=await service.desk.question(candidate, person, question.text))
