"""Events of a job, on both servers: in order, none twice, to be taken up after any of them."""

from __future__ import annotations

import asyncio

from benchfill_services.store.events import RedisEvents
from benchfill_services.store.keys import job_events

MANY = """
for n = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'type', 'say', 'data', '{}') end
"""


async def test_events_come_back_in_order(each_server) -> None:
    events = RedisEvents(each_server, "job")
    ids = [await events.append("round", {"round": number, "ä": [None]}) for number in range(5)]
    kept = await events.read()
    assert [event.id for event in kept] == ids
    assert [event.type for event in kept] == ["round"] * 5
    assert [event.data for event in kept] == [{"round": number, "ä": [None]} for number in range(5)]


async def test_a_listener_goes_on_after_any_event(each_server) -> None:
    events = RedisEvents(each_server, "job")
    ids = [await events.append("round", {"round": number}) for number in range(5)]
    for place, event_id in enumerate(ids):
        assert [event.id for event in await events.read(event_id)] == ids[place + 1 :]


async def test_pages_hold_every_event_once(each_server) -> None:
    events = RedisEvents(each_server, "job")
    ids = [await events.append("round", {}) for _ in range(7)]
    seen, last = [], "0-0"
    while page := await events.read(last, count=3):
        seen += [event.id for event in page]
        last = page[-1].id
    assert seen == ids


async def test_events_of_many_writers_all_stay(each_server) -> None:
    await asyncio.gather(
        *(
            RedisEvents(each_server, f"job {number % 2}").append("say", {"n": number})
            for number in range(60)
        )
    )
    for job in range(2):
        kept = await RedisEvents(each_server, f"job {job}").read()
        assert sorted(event.data["n"] for event in kept) == list(range(job, 60, 2))


async def test_jobs_have_events_of_their_own(each_server) -> None:
    await RedisEvents(each_server, "a").append("say", {})
    assert await RedisEvents(each_server, "events:a").read() == []


async def test_a_job_that_says_very_much_keeps_its_last_events(each_server) -> None:
    events = RedisEvents(each_server, "job")
    await each_server.eval(MANY, 1, job_events("job"), 25_000)
    last = await events.append("say", {"n": 25_000})
    length = await each_server.xlen(job_events("job"))
    assert 20_000 <= length < 21_000
    (oldest,) = await events.read(count=1)
    newest = await each_server.xrevrange(job_events("job"), count=1)
    assert oldest.id < last == newest[0][0]
