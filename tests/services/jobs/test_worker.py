"""Workers as users run them: processes that share one Valkey, cancelled, killed and ended."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING

import pytest

from benchfill_services.jobs.record import FillBudget
from benchfill_services.jobs.run import MOST_ATTEMPTS, work_on
from benchfill_services.settings import Settings
from benchfill_services.store import keys
from benchfill_services.store.events import RedisEvents
from benchfill_services.store.jobs import JobStateError, RedisJobs
from benchfill_services.store.usage import read_usage
from support.arithmetic_world import answer
from support.job_world import JobWorld, ask, job_world, until
from support.openai_api import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.openai_api import Request


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobWorld]:
    with job_world(tmp_path_factory.mktemp("jobs")) as made:
        yield made


@pytest.fixture
def world(shared_world: JobWorld) -> JobWorld:
    shared_world.provider.script(answer)
    shared_world.provider.records.clear()
    return shared_world


# Each test aims elsewhere: to the same aim belong the same children, whose answers are kept.


def slowly(seconds: float) -> Callable[[Request], Reply]:
    return lambda request: Reply(answer(request).text, delay=seconds)


async def calls(world: JobWorld, count: int) -> None:
    """Wait until the provider has answered so many calls."""
    deadline = time.monotonic() + 90
    while len(world.provider.records) < count:
        assert time.monotonic() < deadline, world.log()
        await asyncio.sleep(0.05)


async def test_a_fill_whose_message_was_lost_is_found_and_runs_to_its_end(world: JobWorld) -> None:
    async with world.store() as redis:
        with world.worker():
            fill = await ask(redis, queued=False, at=(0.6,))
            done = await until(redis, fill)
        assert (done.status, done.error, done.attempts) == ("completed", None, 1)
        report = await RedisJobs(redis).result(fill)
        assert report is not None
        assert report["fills"][0]["status"] == "filled"
        events = await RedisEvents(redis, fill).read()
        said = [event.data["status"] for event in events if event.type == "status"]
        assert said == ["running", "completed"]
        authors = [event.data["author"] for event in events if event.type == "message"]
        assert authors[:4] == ["BenchFill", "Retriever", "Rewriter", "Validator"]
        assert authors[-1] == "Calibrator"  # children that were turned down are mended in between
        used = await read_usage(redis, keys.usage_job(fill))
        assert sum(one.rollouts for one in used) == sum(world.provider.counts().values())
        assert max(world.provider.counts().values()) == 1


async def test_a_running_fill_is_cancelled_within_two_seconds(world: JobWorld) -> None:
    world.provider.script(slowly(0.5))
    async with world.store() as redis:
        with world.worker():
            fill = await ask(redis, at=(0.62,))
            await calls(world, 20)
            began = time.monotonic()
            await RedisJobs(redis).request_cancel(fill)
            done = await until(redis, fill, seconds=20)
            assert time.monotonic() - began < 2
        assert done.status == "cancelled"
        before = len(world.provider.records)
        await asyncio.sleep(1.0)
        # what was out may still come in, nothing new goes out
        assert len(world.provider.records) - before <= 48


async def test_a_killed_worker_loses_and_buys_nothing_twice(world: JobWorld) -> None:
    world.provider.script(slowly(0.1))
    async with world.store() as redis:
        with world.worker() as first:
            fill = await ask(redis, at=(0.58,))
            await calls(world, 60)
            first.kill()
            first.wait()
        with world.worker():
            done = await until(redis, fill)
        assert (done.status, done.attempts) == ("completed", 2)
        twice = [count for count in world.provider.counts().values() if count > 1]
        assert len(twice) <= done.in_flight_lost <= 48
        used = await read_usage(redis, keys.usage_job(fill))
        assert sum(one.rollouts for one in used) == len(world.provider.counts())


@pytest.mark.slow
async def test_sigterm_lets_calls_finish_and_hands_the_fill_back(world: JobWorld) -> None:
    world.provider.script(slowly(0.4))
    async with world.store() as redis:
        with world.worker() as first:
            fill = await ask(redis, at=(0.64,))
            await calls(world, 30)
            first.terminate()
            assert first.wait(30) == 0
        handed = await RedisJobs(redis).get(fill)
        assert handed is not None
        assert (handed.status, handed.in_flight_lost) == ("queued", 0)
        world.provider.script(answer)
        with world.worker():
            done = await until(redis, fill)
        assert (done.status, done.in_flight_lost) == ("completed", 0)
        assert max(world.provider.counts().values()) == 1


@pytest.mark.slow
async def test_a_small_fill_is_not_stuck_behind_large_ones(world: JobWorld) -> None:
    world.provider.script(slowly(0.5))
    async with world.store() as redis:
        with world.worker(threads=1):
            large = [await ask(redis, at=(0.59 + k / 50,)) for k in range(3)]
            await until(redis, large[0], lambda job: job.status == "running")
            small = await ask(redis, at=(0.65,), budget=FillBudget(rollouts=300))
            done = await until(redis, small)
            # which of two ends first hangs on the machine; which is taken up first does not
            for one in large[1:]:
                began = (await until(redis, one, lambda _: True)).started_at
                assert began is None or began > str(done.started_at)
            for one in large:
                with contextlib.suppress(JobStateError):  # it has ended meanwhile
                    await RedisJobs(redis).request_cancel(one)
            for one in large:
                await until(redis, one)


@pytest.mark.slow
@pytest.mark.parametrize("bound", [{"rollouts": 150}, {"tokens": 900}])
async def test_a_spent_budget_rests_and_can_be_raised(
    world: JobWorld, bound: dict[str, int]
) -> None:
    async with world.store() as redis:
        with world.worker():
            aim = 0.66 if "tokens" in bound else 0.67
            fill = await ask(redis, at=(aim,), budget=FillBudget(**bound))
            assert (await until(redis, fill)).status == "budget_exhausted"
            jobs = RedisJobs(redis)
            rests = await jobs.get(fill)
            assert rests is not None
            spec = rests.spec.model_copy(update={"budget": FillBudget()})
            await jobs.resume(fill, spec.model_dump_json())
            # no message was sent: a sweep finds it
            assert (await until(redis, fill)).status == "completed"
        assert max(world.provider.counts().values()) == 1


async def test_a_fill_that_cannot_be_done_says_why(world: JobWorld) -> None:
    async with world.store() as redis:
        with world.worker():
            fill = await ask(redis, writer="nobody")
            done = await until(redis, fill)
        assert done.status == "failed"
        assert done.error is not None
        assert "no model 'nobody'" in done.error


async def test_a_fill_that_takes_its_workers_down_is_given_up(world: JobWorld) -> None:
    async with world.store() as redis:
        fill = await ask(redis, queued=False)
        await redis.hset(keys.job(fill), "attempts", str(MOST_ATTEMPTS))
        settings = Settings(data_dir=world.data, redis_url=None)
        assert await work_on(redis, settings, fill, threading.Event()) == "ended"
        done = await RedisJobs(redis).get(fill)
        assert done is not None
        assert done.status == "failed"
        assert "resume it" in str(done.error)
        resumed = await RedisJobs(redis).resume(fill)
        assert (resumed.status, resumed.attempts) == ("queued", 0)
        await RedisJobs(redis).request_cancel(fill)
