"""A reviewer's question, answered by the Validator in the case's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill_agents.validator.answering import (
    MOST_EXCHANGES,
    Exchange,
    QuestionAnswerer,
    QuestionTask,
)

from ..review.case import ThreadMessage
from ..review.desk import ReviewDesk, now
from ..store.steps import RedisSteps
from .case_parts import asked_in_time, means_of, parts_of
from .end import End

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from ..settings import Settings
    from .case_parts import CaseParts
    from .leasing import Holding
    from .record import CaseSpec, Job

_STEP = "answer"


async def answer(
    job: Job, spec: CaseSpec, redis: Redis, settings: Settings, holding: Holding
) -> End:
    """Answer a question.

    Raises
    ------
    NoAnswerError
        The model gave nothing that can be shown.
    BudgetExhaustedError, ProviderError, InputError
        It cannot be done.
    """
    desk = ReviewDesk(redis, needed=settings.reviews_needed)
    if not await asked_in_time(desk, job, spec):
        return End("cancelled", error="the question never came into the thread.")
    steps = RedisSteps(redis, job.id, holding.lease.token)
    recorded = await steps.get(_STEP)
    if recorded is None:
        parts = await parts_of(job, spec, redis, settings, holding)
        task = _task(spec, parts, await _earlier(desk, spec))
        async with means_of(job, spec, parts, redis, settings, holding) as means:
            means.allowance.check()
            await holding.permit()
            recorded = {"text": await QuestionAnswerer(means.client).answer(task)}
        await steps.put(_STEP, recorded)
    message = ThreadMessage(
        author="Validator",
        author_kind="agent",
        kind="answer",
        revision=spec.revision,
        text=recorded["text"],
        at=now(),
        job=job.id,
        private_to=spec.requested_by,
    )
    await desk.reviews.say(spec.candidate, message, key=_answer_key(spec.message))
    return End("completed", {"answered": True})


def _task(spec: CaseSpec, parts: CaseParts, earlier: tuple[Exchange, ...]) -> QuestionTask:
    case, revision = parts.state.case, parts.revision
    return QuestionTask(
        question=spec.text,
        revision=revision.number,
        item=revision.item,
        what_changed=revision.what_changed,
        rationale=revision.rationale,
        parent=case.parent,
        parent_z=case.parent_z,
        target=case.target,
        calibration=revision.calibration,
        findings=revision.findings,
        earlier=earlier,
    )


async def _earlier(desk: ReviewDesk, spec: CaseSpec) -> tuple[Exchange, ...]:
    """Return the last questions of the same reviewer in this thread that were answered before."""
    ids = await desk.reviews.message_ids(spec.candidate)
    said = {one.id: one for one in await desk.reviews.said(spec.candidate)}
    asked = _place(ids[spec.message])
    found = []
    for key, question_id in ids.items():
        answer_id = ids.get(_answer_key(key))
        question, answered = said.get(question_id), said.get(answer_id or "")
        if question is None or answered is None or question.author != spec.requested_by:
            continue
        if _place(question_id) < asked:
            exchange = Exchange(question=question.text, answer=answered.text)
            found.append((_place(question_id), exchange))
    return tuple(exchange for _, exchange in sorted(found, key=lambda one: one[0]))[
        -MOST_EXCHANGES:
    ]


def _answer_key(question_key: str) -> str:
    return f"{question_key}/answer"


def _place(message_id: str) -> tuple[int, int]:
    """Return an id of the stream as numbers, which order as it does."""
    time, _, number = message_id.partition("-")
    return int(time), int(number or 0)
