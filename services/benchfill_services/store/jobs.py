"""Jobs in Redis: records, their order, and who may work on them.

A worker holds a lease on the job that it works on, with a token that only grows. Whoever takes the
job over gets a higher one, and from then on every write under the lower token is refused: a worker
that was paused or cut off cannot spoil what its successor does.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from benchfill.errors import BenchFillError

from ..jobs.record import RESTING, Job, JobStatus
from ..observability.traces import inject
from . import keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

_CREATE = """
if ARGV[1] ~= '' then
    local known = redis.call('HGET', KEYS[5], ARGV[1])
    if known then return {known, 0} end
    redis.call('HSET', KEYS[5], ARGV[1], ARGV[2])
end
local seq = redis.call('INCR', KEYS[1])
redis.call('HSET', KEYS[2], 'seq', seq, unpack(ARGV, 3))
redis.call('ZADD', KEYS[3], seq, ARGV[2])
redis.call('ZADD', KEYS[4], seq, ARGV[2])
redis.call('ZADD', KEYS[6], seq, ARGV[2])
return {ARGV[2], 1}
"""
# KEYS: job, fence, index of the old status is found by name; ARGV: token, id, prefix of the status
# indices, statuses to come from (comma on both sides), new status ('' to keep), then fields.
_UPDATE = """
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return 'absent' end
if ARGV[1] ~= '' and redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'fenced' end
if ARGV[4] ~= '' and not string.find(ARGV[4], ',' .. status .. ',', 1, true) then return status end
if ARGV[5] ~= '' and ARGV[5] ~= status then
    local seq = redis.call('HGET', KEYS[1], 'seq')
    redis.call('ZREM', ARGV[3] .. status, ARGV[2])
    redis.call('ZADD', ARGV[3] .. ARGV[5], seq, ARGV[2])
    redis.call('HSET', KEYS[1], 'status', ARGV[5])
end
if #ARGV > 5 then redis.call('HSET', KEYS[1], unpack(ARGV, 6)) end
return 'ok'
"""
_ACQUIRE = """
if redis.call('EXISTS', KEYS[1]) == 1 then return false end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return tostring(token)
"""
_RENEW = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'fenced' end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if redis.call('HGET', KEYS[3], 'cancel_requested') == '1' then return 'cancel' end
return 'ok'
"""
_KEEP_RESULT = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'fenced' end
redis.call('SET', KEYS[1], ARGV[2])
return 'ok'
"""
_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

_INTEGERS = ("attempts", "round", "in_flight_lost")


class LeaseLostError(BenchFillError):
    """Somebody else works on the job now; nothing more may be written for it."""


class UnknownJobError(BenchFillError):
    """There is no job with this id."""


class JobStateError(BenchFillError):
    """The job is in a status that does not allow what was asked for."""


class RedisJobs:
    """All jobs of a server."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._create = redis.register_script(_CREATE)
        self._update = redis.register_script(_UPDATE)

    async def create(self, job: Job, *, idempotency_key: str | None = None) -> tuple[str, bool]:
        """Keep a new job; return its id and whether it is new.

        With an idempotency key (already bound to its API key) that was used before, the id of the
        job that was made then, and nothing is kept.
        """
        record = _fields(
            {
                "id": job.id,
                "kind": job.kind,
                "spec": job.spec.model_dump_json(),
                "status": job.status,
                "created_at": job.created_at,
                "created_by": job.created_by,
                "updated_at": job.updated_at,
            }
            | inject()
        )
        found = await self._create(
            keys=[
                keys.JOB_SEQUENCE,
                keys.job(job.id),
                keys.JOBS,
                keys.jobs_by_benchmark(job.spec.benchmark),
                keys.IDEMPOTENCY,
                keys.jobs_by_status(job.status),
            ],
            args=[idempotency_key or "", job.id, *record],
        )
        return str(found[0]), bool(int(found[1]))

    async def get(self, job_id: str) -> Job | None:
        """Return a job, or None."""
        kept: Any = await self._redis.hgetall(keys.job(job_id))
        return _job(kept) if kept else None

    async def made_with(self, idempotency_key: str) -> Job | None:
        """Return the job that was made with an idempotency key, or None."""
        job_id = await self._redis.hget(keys.IDEMPOTENCY, idempotency_key)
        return None if job_id is None else await self.get(str(job_id))

    async def carrier(self, job_id: str) -> dict[str, str]:
        """Return the trace of the request that made a job, for its span; empty without one."""
        kept: Any = await self._redis.hget(keys.job(job_id), "traceparent")
        return {} if kept is None else {"traceparent": str(kept)}

    async def list(
        self,
        *,
        limit: int,
        before: int | None = None,
        benchmark: str | None = None,
        status: JobStatus | None = None,
        kind: str = "fill",
    ) -> tuple[list[Job], int | None]:
        """Return up to `limit` jobs of one kind, newest first, and the cursor of the next page.

        The cursor goes into `before`; None says that there are no more.
        """
        if benchmark is not None:
            index = keys.jobs_by_benchmark(benchmark)
        else:
            index = keys.JOBS if status is None else keys.jobs_by_status(status)
        found: list[Job] = []
        upper = "+inf" if before is None else f"({before}"
        while True:
            page: Any = await self._redis.zrevrangebyscore(
                index, upper, "-inf", start=0, num=limit + 1, withscores=True
            )
            async with self._redis.pipeline(transaction=False) as pipe:
                for job_id, _ in page:
                    pipe.hgetall(keys.job(job_id))
                records = await pipe.execute()
            last = None
            for (_, score), kept in zip(page, records, strict=True):
                if len(found) == limit:
                    return found, last
                last = int(score)
                if kept and kept["kind"] == kind and status in {None, kept["status"]}:
                    found.append(_job(kept))
            if len(page) <= limit or last is None:
                return found, None
            upper = f"({last}"
            if len(found) == limit:
                return found, last

    async def count(self, status: JobStatus) -> int:
        """Return how many jobs are in a status."""
        return int(await self._redis.zcard(keys.jobs_by_status(status)))

    async def request_cancel(self, job_id: str) -> Job:
        """Cancel a job: at once while it waits, within seconds while somebody works on it.

        Raises
        ------
        UnknownJobError
            There is no such job.
        JobStateError
            It has ended already.
        """
        done = {"finished_at": _now(), "cancel_requested": "1"}
        said = await self._move(job_id, ("queued",), "cancelled", done)
        if said != "ok":
            said = await self._move(job_id, ("running",), None, {"cancel_requested": "1"})
        return await self._after(job_id, said, "cancelled")

    async def resume(self, job_id: str, spec: str | None = None) -> Job:
        """Put a job that rests back into the queue; `spec` (JSON) when its budget was raised.

        Raises
        ------
        UnknownJobError
            There is no such job.
        JobStateError
            It is queued or running, or completed.
        """
        changes = {"cancel_requested": "0", "finished_at": "", "error": "", "attempts": "0"}
        if spec is not None:
            changes["spec"] = spec
        rests: tuple[JobStatus, ...] = ("budget_exhausted", "cancelled", "failed")
        return await self._after(
            job_id, await self._move(job_id, rests, "queued", changes), "resumed"
        )

    async def result(self, job_id: str) -> dict[str, Any] | None:
        """Return what came of a job (the JSON of its report), or None while there is nothing."""
        kept = await self._redis.get(keys.job_result(job_id))
        return None if kept is None else dict(json.loads(kept))

    async def _after(self, job_id: str, said: str, what: str) -> Job:
        job = await self.get(job_id)
        if said == "absent" or job is None:
            raise UnknownJobError(f"there is no job {job_id}.")
        if said != "ok":
            raise JobStateError(f"job {job_id} is {said} and cannot be {what}.")
        return job

    async def _move(
        self,
        job_id: str,
        expected: tuple[JobStatus, ...],
        status: JobStatus | None,
        changes: Mapping[str, str],
    ) -> str:
        return await update(self._update, job_id, "", expected, status, changes)


class JobLease:
    """The right to work on one job, as long as it is renewed."""

    def __init__(self, redis: Redis, job_id: str, token: str, milliseconds: int) -> None:
        self.job_id, self.token = job_id, token
        self._milliseconds = milliseconds
        self._renew = redis.register_script(_RENEW)
        self._keep_result = redis.register_script(_KEEP_RESULT)
        self._release = redis.register_script(_RELEASE)
        self._update = redis.register_script(_UPDATE)

    @classmethod
    async def acquire(cls, redis: Redis, job_id: str, milliseconds: int) -> JobLease | None:
        """Take a job's lease; None while somebody else holds it."""
        acquire = redis.register_script(_ACQUIRE)
        token = await acquire(
            keys=[keys.job_lease(job_id), keys.job_fence(job_id)], args=[milliseconds]
        )
        return None if token is None else cls(redis, job_id, str(token), milliseconds)

    async def renew(self) -> Literal["ok", "cancel"]:
        """Hold the lease on; say whether the job is to be cancelled. Raises LeaseLostError."""
        said = await self._renew(
            keys=[keys.job_lease(self.job_id), keys.job_fence(self.job_id), keys.job(self.job_id)],
            args=[self.token, self._milliseconds],
        )
        if said == "fenced":
            raise self._lost()
        return "cancel" if said == "cancel" else "ok"

    async def release(self) -> None:
        """Give the lease back; nothing happens if somebody else has it."""
        await self._release(keys=[keys.job_lease(self.job_id)], args=[self.token])

    async def update(
        self,
        changes: Mapping[str, str],
        *,
        status: JobStatus | None = None,
        expected: tuple[JobStatus, ...] = (),
    ) -> bool:
        """Change the job's record; False when it was in none of the expected statuses.

        Raises
        ------
        LeaseLostError
            Somebody else has the job now.
        """
        said = await update(self._update, self.job_id, self.token, expected, status, changes)
        if said == "fenced":
            raise self._lost()
        return said == "ok"

    async def finish(self, status: JobStatus, result: dict[str, Any] | None, error: str) -> None:
        """Record how the job ended. Raises LeaseLostError."""
        if status not in RESTING:
            raise ValueError(f"{status} is no end")
        if result is not None:
            # before the status: whoever sees the status finds the result
            said = await self._keep_result(
                keys=[keys.job_result(self.job_id), keys.job_fence(self.job_id)],
                args=[self.token, json.dumps(result)],
            )
            if said == "fenced":
                raise self._lost()
        await self.update({"finished_at": _now(), "error": error}, status=status)

    def _lost(self) -> LeaseLostError:
        return LeaseLostError(f"job {self.job_id} was taken over by another worker.")


async def update(  # noqa: PLR0913, PLR0917 - one script, two callers
    script: Any,
    job_id: str,
    token: str,
    expected: tuple[JobStatus, ...],
    status: JobStatus | None,
    changes: Mapping[str, str],
) -> str:
    """Run the script that changes a record; return `ok`, `absent`, `fenced` or the status."""
    came_from = f",{','.join(expected)}," if expected else ""
    said = await script(
        keys=[keys.job(job_id), keys.job_fence(job_id)],
        args=[
            token,
            job_id,
            keys.jobs_by_status(""),
            came_from,
            status or "",
            *_fields({**changes, "updated_at": _now()}),
        ],
    )
    return str(said)


def _fields(record: Mapping[str, str]) -> list[str]:
    return [word for pair in record.items() for word in pair]


def _job(kept: Mapping[str, str]) -> Job:
    record: dict[str, Any] = {name: value or None for name, value in kept.items() if name != "seq"}
    record["spec"] = json.loads(kept["spec"])
    record["cancel_requested"] = kept.get("cancel_requested") == "1"
    for name in _INTEGERS:
        if record.get(name) is not None:
            record[name] = int(record[name])
    return Job.model_validate(record)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
