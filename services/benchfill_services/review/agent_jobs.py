"""The agents of the review desk: each task is a job that any worker may take up."""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING

from ..jobs.broker import enqueue
from ..jobs.record import CaseSpec, FillBudget, Job
from ..store.api_keys import RedisApiKeys
from ..store.daily_budget import DailyBudgetError, promise, take_back
from ..store.events import RedisEvents
from ..store.jobs import JobStateError, RedisJobs
from .desk import now
from .failure import tell_failure
from .rules import NO_AGENTS, ReviewRefusedError

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from ..store.api_keys import ApiKey
    from .agents import AgentTask
    from .rules import Person

_TRIES = 4  # of promising what is left of a day while others promise, too
_SPENT = (
    "this API key's budget for today is spent; agents can be asked again after midnight UTC. "
    "Decide without them, or ask an operator."
)


class RedisAgentJobs:
    """`Agents` over the service's jobs.

    Parameters
    ----------
    redis
        The store.
    needed
        Reviewers who must agree, as the desk has it.
    rollouts
        Rollouts that one requested change may use.
    """

    def __init__(self, redis: Redis, *, needed: int, rollouts: int) -> None:
        self._redis, self._jobs = redis, RedisJobs(redis)
        self._needed, self._rollouts = needed, rollouts

    async def prepare(self, task: AgentTask, person: Person) -> str:
        """See `Agents.prepare`."""
        case, revising = task.case, task.kind == "revise"
        if case.version is None:
            raise ReviewRefusedError(NO_AGENTS)
        job_id, key = uuid.uuid4().hex, await self._key(person)
        budget = await self._promised(job_id, key, self._rollouts if revising else 0)
        at = now()
        job = Job(
            id=job_id,
            kind="revision" if revising else "answer",
            spec=CaseSpec(
                benchmark=case.benchmark,
                version=case.version,
                fill=case.job,
                candidate=case.id,
                revision=task.revision.number,
                text=task.text,
                message=task.message,
                requested_by=person.id,
                budget=budget,
            ),
            created_at=at,
            updated_at=at,
            created_by=person.id,
        )
        try:
            await self._jobs.create(job)
        except BaseException:
            if key is not None:
                await take_back(self._redis, key, job_id)
            raise
        return job_id

    async def start(self, job: str) -> None:
        """See `Agents.start`."""
        found = await self._jobs.get(job)
        if found is None:
            return
        if found.status == "cancelled":
            # a worker found it before the verdict stood on record, and gave up waiting
            found = await self._jobs.resume(job)
        await RedisEvents(self._redis, job).append("status", {"status": "queued"})
        await enqueue(self._redis, job, found.spec.lane)

    async def drop(self, job: str) -> None:
        """See `Agents.drop`."""
        with contextlib.suppress(JobStateError):  # a worker gave it up already
            await self._jobs.request_cancel(job)

    async def cancel(self, job: str) -> None:
        """Stop a task that was started: a rewriting that is cancelled has failed.

        Raises
        ------
        UnknownJobError
            There is no such job.
        JobStateError
            It has ended already.
        """
        stopped = await self._jobs.request_cancel(job)
        if stopped.status == "cancelled":  # nobody worked on it, so nobody else will tell
            await tell_failure(self._redis, self._needed, stopped, "")

    async def _key(self, person: Person) -> ApiKey | None:
        known = await RedisApiKeys(self._redis).list()
        return next((key for key in known if key.id == person.id), None)

    async def _promised(self, job: str, key: ApiKey | None, rollouts: int) -> FillBudget:
        """Take the task's budget out of the key's day, or what is left of the day."""
        if key is None:
            return FillBudget(rollouts=rollouts)
        budget = FillBudget(rollouts=rollouts, usd=key.daily_usd)
        for _ in range(_TRIES):
            try:
                await promise(self._redis, key, job, budget)
            except DailyBudgetError as error:
                if error.left <= 0:
                    break
                if error.of == "rollouts":
                    budget = budget.model_copy(update={"rollouts": int(error.left)})
                else:
                    budget = budget.model_copy(update={"usd": error.left})
            else:
                return budget
        raise DailyBudgetError(_SPENT)
