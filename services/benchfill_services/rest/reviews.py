"""Verdicts of experts on candidates."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ..store.reviews import Reason, Review, Verdict
from .auth import Caller
from .candidates import CandidateId, candidate_of
from .guarded_route import GuardedRoute, needs
from .problem import ProblemError, wrong_field
from .service import ServiceDep

router = APIRouter(prefix="/v1/candidates", tags=["candidates"], route_class=GuardedRoute)


class NewReview(BaseModel):
    """A verdict."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: Verdict
    reason: Reason = Field("fine", description="what is wrong, in one word")
    text: str = Field("", max_length=4000, description="what else there is to say")


class ReviewList(BaseModel):
    """The reviews of a candidate, oldest first."""

    entries: list[Review]


@router.post(
    "/{candidate}/reviews",
    status_code=201,
    responses={409: {"description": "this reviewer has given one already"}},
    **needs("reviewer"),
)
async def add_review(
    candidate: CandidateId, review: NewReview, caller: Caller, service: ServiceDep
) -> Review:
    """Give a verdict on a candidate: one of each reviewer, and it stays."""
    found = await candidate_of(service, candidate)
    if review.verdict != "approve" and review.reason == "fine":
        raise wrong_field("body", "reason", f"say what is wrong; the verdict is {review.verdict}.")
    kept = Review(
        candidate=found.id,
        reviewer=caller.id,
        verdict=review.verdict,
        reason=review.reason,
        text=review.text,
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
    if not await service.reviews.add(kept):
        raise ProblemError(
            409, "reviewed", "this API key has reviewed the candidate already; reviews stay."
        )
    return kept


@router.get("/{candidate}/reviews", **needs("reader"))
async def list_reviews(candidate: CandidateId, service: ServiceDep) -> ReviewList:
    """Return the verdicts on a candidate."""
    found = await candidate_of(service, candidate)
    return ReviewList(entries=await service.reviews.of(found.id))
