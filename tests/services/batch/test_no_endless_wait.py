"""Whatever is lost on the way, a batch ends: nothing here may wait for what never comes."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis
from redis.asyncio.connection import Connection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from benchfill.errors import InterruptedRunError
from benchfill_services.batch.grants import Grants
from benchfill_services.batch.job_files import JobReports, known_job
from benchfill_services.batch.jobs_file import read_jobs
from benchfill_services.batch.queued import _Batch, _Out, _watch, run_queued
from benchfill_services.batch.view import BatchView, JobView
from benchfill_services.jobs.leasing import Holding
from benchfill_services.jobs.record import FillBudget
from benchfill_services.settings import Settings
from benchfill_services.store import keys
from benchfill_services.store.connection import connect
from support.arithmetic_world import write_benchmark
from support.redis_server import RedisServer

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_services.batch.jobs_file import Jobs

JOB = "a" * 32
pytestmark = pytest.mark.timeout(120)  # a wait without end is what is looked for


async def waits_for_leave(holding: Holding) -> None:
    """Ask for leave again and again, as calls do."""
    while True:
        await holding.permit()
        await asyncio.sleep(0.05)


async def ended_by(holding: Holding, redis: Redis) -> float:
    """Work until the job is not ours any more; return the seconds that it took."""
    began = time.monotonic()
    work = asyncio.create_task(waits_for_leave(holding))
    keeping = asyncio.create_task(holding.keep(work))
    await asyncio.wait({work, keeping}, timeout=30)
    assert work.done(), "calls wait although Redis is gone for good"
    assert keeping.done()
    await redis.aclose()
    return time.monotonic() - began


async def test_calls_do_not_wait_for_ever_for_a_redis_that_is_gone(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis") as server:
        at_once = Retry(NoBackoff(), 0)
        redis = Redis.from_url(server.url, decode_responses=True, retry=at_once)
        holding = await Holding.take(redis, JOB, threading.Event(), patience=1.0)
        assert holding is not None
    assert await ended_by(holding, redis) < 10
    assert isinstance(holding.error, InterruptedRunError)
    with pytest.raises(InterruptedRunError, match="Redis has not answered for"):
        await holding.permit()


class Closing(Connection):
    """A connection as asyncio sometimes leaves it: writing raises an error that is not Redis's."""

    broken = False

    async def send_packed_command(self, *args: object, **more: object) -> None:
        if Closing.broken:
            raise RuntimeError("unable to perform operation on <TCPTransport closed=True>")
        await super().send_packed_command(*args, **more)  # type: ignore[arg-type]


async def test_an_odd_error_of_the_connection_does_not_end_the_renewing_in_silence(
    redis_server: RedisServer,
) -> None:
    pool = ConnectionPool(
        connection_class=Closing, host="127.0.0.1", port=redis_server.port, decode_responses=True
    )
    redis = Redis.from_pool(pool)
    holding = await Holding.take(redis, JOB, threading.Event(), patience=1.0)
    assert holding is not None
    Closing.broken = True
    try:
        assert await ended_by(holding, redis) < 10
    finally:
        Closing.broken = False
    assert isinstance(holding.error, InterruptedRunError)


def one_job(folder: Path) -> Jobs:
    write_benchmark(folder, "http://127.0.0.1:9/v1")
    path = folder / "jobs.yaml"
    path.write_text(
        "jobs: [{items: items.jsonl, responses: responses.csv, pool: pool.yaml, "
        "rewriter: template}]\n"
    )
    return read_jobs(path, folder / "out")


async def test_a_record_that_vanishes_from_redis_is_not_waited_for(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", redis_url=redis_server.url)
    jobs = one_job(tmp_path)
    job = known_job(jobs.jobs[0], settings).id
    view = BatchView([JobView("job-1", 3, 8)])

    async def lose() -> None:
        async with connect(redis_server.url, settings.data_dir) as redis:
            while await redis.hget(keys.job(job), "status") != "queued":  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            await redis.delete(keys.job(job))

    losing = asyncio.create_task(lose())
    async with connect(redis_server.url, settings.data_dir) as redis:
        # somewhere a worker is alive, and busy with other things
        await redis.zadd(keys.WORKERS, {"elsewhere": time.time() + 1000})
    async with asyncio.timeout(60):
        report = await run_queued(jobs, settings, view, {}, lambda: None, workers=0)
    await losing
    assert [one.end for one in report.jobs] == ["failed"]
    assert "is not in Redis any more" in (report.jobs[0].error or "")


async def test_a_report_that_nobody_could_write_ends_the_batch(
    valkey: Redis, tmp_path: Path
) -> None:
    """When Redis goes while the last report is drawn, not even the job's failure can be told."""
    settings = Settings(data_dir=tmp_path / "data")
    jobs = one_job(tmp_path)
    out = _Out(jobs.jobs[0], JobView("job-1", 3, 8))

    async def fail() -> None:
        raise RedisConnectionError("the server is gone")

    out.reporting = asyncio.create_task(fail())
    grants = Grants(FillBudget(), {"job-1": FillBudget()})
    batch = _Batch(valkey, settings, JobReports(valkey, settings, {}), [out], 8, grants)
    # a worker that lives: the batch has no other reason to end
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(30):
            with pytest.raises(RedisConnectionError):
                await _watch(batch, [worker])
    finally:
        worker.kill()
        await worker.wait()
