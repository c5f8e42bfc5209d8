"""Verdicts of experts on candidates, in Redis: one of each reviewer on each candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .keys import candidate_reviews

if TYPE_CHECKING:
    from redis.asyncio import Redis

Verdict = Literal["approve", "reject", "request_change"]
Reason = Literal[
    "fine",
    "wrong_answer",
    "ambiguous",
    "off_topic",
    "too_similar",
    "leaks_answer",
    "style",
    "other",
]


class Review(BaseModel):
    """What one reviewer says of one candidate. Times are ISO 8601, UTC."""

    model_config = ConfigDict(frozen=True)

    candidate: str
    reviewer: str = Field(description="id of the API key, or `anonymous`")
    verdict: Verdict
    reason: Reason
    text: str
    at: str


class RedisReviews:
    """The reviews of all candidates."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def add(self, review: Review) -> bool:
        """Keep a review; False when this reviewer has given one of this candidate already."""
        name = candidate_reviews(review.candidate)
        return bool(await self._redis.hsetnx(name, review.reviewer, review.model_dump_json()))

    async def of(self, candidate: str) -> list[Review]:
        """Return the reviews of a candidate, oldest first."""
        kept: Any = await self._redis.hvals(candidate_reviews(candidate))
        reviews = (Review.model_validate_json(one) for one in kept)
        return sorted(reviews, key=lambda review: (review.at, review.reviewer))
