"""Events of a fill: none lost, none twice, and one poller for all listeners."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchfill_services.jobs.record import FillSpec, Job
from benchfill_services.rest import event_hub
from benchfill_services.rest.event_hub import EventHub, Told, running
from benchfill_services.store.events import RedisEvents
from benchfill_services.store.jobs import RedisJobs
from support.rest_service import FILL, rest_at

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

    from support.rest_service import RestService


async def read(client: httpx.AsyncClient, path: str, **options: Any) -> list[dict[str, Any]]:
    """Read a stream to its end."""
    return [one async for one in told(client, path, **options)]


async def told(client: httpx.AsyncClient, path: str, **options: Any) -> AsyncIterator[dict]:
    async with client.stream("GET", path, **options) as reply:
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        event: dict[str, Any] = {}
        async for line in reply.aiter_lines():
            if not line:
                if event:
                    yield event
                event = {}
                continue
            name, _, value = line.partition(": ")
            event[name or "comment"] = json.loads(value) if name == "data" else value


@pytest.fixture
def listener(rest: RestService) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {rest.keys['reader']}"}
    limits = httpx.Limits(max_connections=200)
    return httpx.AsyncClient(base_url=rest.base, headers=headers, timeout=30, limits=limits)


async def test_a_stream_tells_all_and_ends_with_the_fill(operator, arith, valkey, listener) -> None:
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    events = RedisEvents(valkey, fill)
    for number in range(3):
        await events.append("message", {"n": number, "text": "a\nb\u2028"})
    async with listener:
        reading = asyncio.create_task(read(listener, f"/v1/fills/{fill}/events"))
        await asyncio.sleep(0.5)
        for number in range(3, 600):  # more than the hub keeps and than one page
            await events.append("message", {"n": number, "text": ""})
        await rest_at(valkey, fill, "completed")
        await events.append("status", {"status": "completed"})
        found = await asyncio.wait_for(reading, 20)
        assert [one["event"] for one in found[:2]] == ["status", "message"]
        assert found[0]["data"] == {"status": "queued"}
        assert found[1]["data"]["text"] == "a\nb\u2028"
        assert [one["data"]["n"] for one in found if one["event"] == "message"] == [*range(600)]
        assert found[-2]["data"] == {"status": "completed"}
        assert (found[-1]["event"], found[-1]["data"]) == ("end", {"status": "completed"})
        assert "id" not in found[-1]

        # whoever lost the connection goes on after the last event that came
        for how in (
            {"headers": {"Last-Event-ID": found[300]["id"]}},
            {"params": {"after": found[300]["id"]}},
        ):
            assert await read(listener, f"/v1/fills/{fill}/events", **how) == found[301:]
        late = {"Last-Event-ID": found[-2]["id"]}
        rest = await read(listener, f"/v1/fills/{fill}/events", headers=late)
        assert [one["event"] for one in rest] == ["end"]


async def test_a_cancelled_queue_entry_ends_its_stream(operator, arith, listener) -> None:
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    operator.post(f"/v1/fills/{fill}/cancel")
    async with listener:
        found = await asyncio.wait_for(read(listener, f"/v1/fills/{fill}/events"), 20)
    assert [one["data"]["status"] for one in found] == ["queued", "cancelled", "cancelled"]


async def test_a_silent_stream_is_kept_alive(operator, arith, listener, monkeypatch) -> None:
    assert event_hub.SILENT_SECONDS == 15
    monkeypatch.setattr(event_hub, "SILENT_SECONDS", 0.1)
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    async with listener, listener.stream("GET", f"/v1/fills/{fill}/events") as reply:
        async for line in reply.aiter_lines():
            if line.startswith(":"):
                break


async def test_places_that_are_none_are_refused(operator, arith) -> None:
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    path = f"/v1/fills/{fill}/events"
    for wrong in ("x", "1-", "-1", "$", "9" * 20, "9" * 19 + "-" + "9" * 30):
        assert operator.get(path, headers={"Last-Event-ID": wrong}).status_code == 422
        assert operator.get(path, params={"after": wrong}).status_code == 422
    assert operator.get(f"/v1/fills/{'0' * 32}/events").status_code == 404


async def test_a_hundred_listeners_take_one_more_connection(
    operator, arith, valkey: Redis, listener
) -> None:
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    events = RedisEvents(valkey, fill)
    async with listener:
        alone = len(await valkey.client_list())
        path = f"/v1/fills/{fill}/events"
        tasks = [asyncio.create_task(read(listener, path)) for _ in range(100)]
        await asyncio.sleep(2)
        await events.append("message", {"n": 1})
        busy: list[dict[str, str]] = []
        async with asyncio.timeout(20):
            while not busy:  # between two of its reads there is a moment without one
                await asyncio.sleep(0.2)
                busy = [one for one in await valkey.client_list() if one["cmd"] == "xread"]
        assert len(busy) == 1
        assert len(await valkey.client_list()) - alone <= 50  # the pool's size
        await rest_at(valkey, fill, "completed")
        found = await asyncio.wait_for(asyncio.gather(*tasks), 30)
    assert all(one == found[0] for one in found)
    assert [one["event"] for one in found[0]] == ["status", "message", "end"]


def data_of(event: Told) -> dict[str, Any]:
    return json.loads(re.search(rb"^data: (.*)$", event.text, re.MULTILINE)[1])


def numbers(batch: list[Told]) -> list[int]:
    return [data_of(one)["n"] for one in batch]


async def new_job(valkey: Redis) -> str:
    job = Job(
        id=uuid.uuid4().hex,
        kind="fill",
        spec=FillSpec(**FILL),
        created_at="2026-01-01",
        updated_at="2026-01-01",
        created_by="k",
    )
    await RedisJobs(valkey).create(job)
    return job.id


async def test_a_listener_that_dawdles_loses_nothing(valkey: Redis, monkeypatch) -> None:
    monkeypatch.setattr(event_hub, "_KEPT", 3)
    monkeypatch.setattr(event_hub, "_PAGE", 2)
    job = await new_job(valkey)
    events = RedisEvents(valkey, job)
    hub = EventHub(valkey)
    async with running(hub):
        seen = []

        async def dawdle() -> None:
            async for batch in hub.follow(job, "0-0"):
                seen.extend(numbers(batch))
                await asyncio.sleep(0.05)

        task = asyncio.create_task(dawdle())
        for number in range(60):
            await events.append("message", {"n": number})
            await asyncio.sleep(0.01)
        await rest_at(valkey, job, "failed")
        await asyncio.wait_for(task, 20)
        assert seen == [*range(60)]
        assert hub.watched == 0


async def test_listeners_who_leave_are_forgotten_and_jobs_go_on(valkey: Redis) -> None:
    job = await new_job(valkey)
    events = RedisEvents(valkey, job)
    await events.append("message", {"n": 0})
    hub = EventHub(valkey)
    async with running(hub):
        reached = asyncio.Barrier(4)

        async def first() -> None:
            async for _ in hub.follow(job, "0-0"):
                await reached.wait()
                await asyncio.sleep(60)

        tasks = [asyncio.create_task(first()) for _ in range(3)]
        await asyncio.wait_for(reached.wait(), 20)
        assert hub.watched == 1
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert hub.watched == 0


async def test_a_job_that_is_resumed_is_followed_on(valkey: Redis) -> None:
    job = await new_job(valkey)
    events = RedisEvents(valkey, job)
    await rest_at(valkey, job, "budget_exhausted")
    await events.append("status", {"status": "budget_exhausted"})
    await RedisJobs(valkey).resume(job)
    await events.append("status", {"status": "queued"})
    hub = EventHub(valkey)
    async with running(hub):

        async def all_of() -> list[str]:
            found = [one async for batch in hub.follow(job, "0-0") for one in batch]
            return [data_of(one)["status"] for one in found]

        task = asyncio.create_task(all_of())
        await asyncio.sleep(3)
        assert not task.done()
        await rest_at(valkey, job, "completed")
        await events.append("status", {"status": "completed"})
        assert await asyncio.wait_for(task, 10) == ["budget_exhausted", "queued", "completed"]


async def test_lost_connections_lose_no_event(valkey: Redis) -> None:
    job = await new_job(valkey)
    events = RedisEvents(valkey, job)
    hub = EventHub(valkey)
    async with running(hub):

        async def all_of() -> list[int]:
            return [n async for batch in hub.follow(job, "0-0") for n in numbers(batch)]

        task = asyncio.create_task(all_of())
        for number in range(6):
            await asyncio.sleep(0.3)
            await valkey.client_kill_filter(_type="normal", skipme=True)
            await events.append("message", {"n": number})
        await rest_at(valkey, job, "completed")
        assert await asyncio.wait_for(task, 20) == [*range(6)]
