"""What becomes of a request to the agents that failed, and how its reviewer hears of it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..jobs.record import CaseSpec
from ..store.reviews import UnknownCaseError
from .case import ThreadMessage
from .desk import ReviewDesk, now

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from ..jobs.record import Job

_CANCELLED = "it was cancelled."


async def tell_failure(redis: Redis, needed: int, job: Job, why: str) -> None:
    """End a rewriting that failed, and say why in the thread; again for the same job, nothing.

    Of jobs that are no reviewer's request, and of requests that never came about (see
    `was_asked`), nothing is told. `why` is for reviewers; a cancel when it is empty.
    """
    spec = job.spec
    if not isinstance(spec, CaseSpec):
        return
    desk = ReviewDesk(redis, needed=needed)
    revising = job.kind == "revision"
    with contextlib.suppress(UnknownCaseError):  # then nobody waits
        if not await was_asked(desk, job, spec):
            return
        said = why or _CANCELLED
        if revising:
            await desk.not_revised(spec.candidate, on=spec.revision, job=job.id, why=said)
        what = "There is no revision" if revising else "There is no answer"
        message = ThreadMessage(
            author="Rewriter" if revising else "Validator",
            author_kind="agent",
            kind="failure",
            revision=spec.revision,
            text=f"{what}: {said}",
            at=now(),
            job=job.id,
            private_to=spec.requested_by,
        )
        await desk.reviews.say(spec.candidate, message, key=f"{job.id}/failure")


async def was_asked(desk: ReviewDesk, job: Job, spec: CaseSpec) -> bool:
    """Whether the verdict or the question that a job belongs to stands on record.

    A job is put on record before it, and whoever put it there may have died in between.
    """
    if job.kind == "revision":
        return any(event.job == job.id for event in (await desk.state(spec.candidate)).events)
    return await desk.reviews.message_id(spec.candidate, spec.message) is not None
