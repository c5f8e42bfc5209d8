"""One suite for every `Memory`: in memory, in Valkey and in Redis they must answer alike."""

from __future__ import annotations

import asyncio
import itertools
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from benchfill_agents.memory import InMemoryMemory
from benchfill_services.store.memory import RedisMemory
from support.memories import Model, entries, entry, zs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from benchfill_agents.memory import Memory

    NewMemory = Callable[[], Memory]

by_hypothesis = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=["in memory", "Valkey", "redis-server"])
async def new_memory(request: pytest.FixtureRequest, open_empty) -> AsyncIterator[NewMemory]:
    if request.param == "in memory":
        yield InMemoryMemory
        return
    numbers = itertools.count()
    async with open_empty(request.param) as redis:
        yield lambda: RedisMemory(redis, f"benchmark {next(numbers)}")


@by_hypothesis
@given(
    batches=st.lists(st.lists(entries, max_size=8), max_size=6),
    z=zs,
    count=st.integers(0, 6),
)
async def test_every_answer_is_the_models(new_memory, batches, z, count) -> None:
    memory, model = new_memory(), Model()
    for batch in batches:
        await memory.add(*batch)
        model.add(*batch)
    assert await memory.entries() == model.entries()
    assert await memory.nearest(z, count) == model.nearest(z, count)
    assert await memory.neighbours(z, count) == model.neighbours(z, count)
    for item_id, known in model.known.items():
        assert await memory.get(item_id) == known


async def test_nothing_is_found_in_an_empty_memory(new_memory) -> None:
    memory = new_memory()
    await memory.add()
    assert await memory.entries() == ()
    assert await memory.nearest(0.5, 3) == ()
    assert await memory.neighbours(0.5, 3) == ((), ())
    assert await memory.get("a") is None


async def test_ties_are_decided_by_id_however_many_there_are(new_memory) -> None:
    memory = new_memory()
    low = [entry(f"a{number:02}", 0.25) for number in range(20)]
    high = [entry(f"b{number:02}", 0.75) for number in range(20)]
    await memory.add(*reversed(low + high))
    assert await memory.nearest(0.5, 3) == tuple(low[:3])
    assert await memory.nearest(0.5, 21) == (*low, high[0])
    assert await memory.neighbours(0.5, 2) == ((low[19], low[18]), (high[0], high[1]))


async def test_an_entry_at_z_counts_as_above(new_memory) -> None:
    memory = new_memory()
    await memory.add(entry("a", 0.5))
    below, above = await memory.neighbours(0.5, 1)
    assert below == ()
    assert [one.item.id for one in above] == ["a"]


async def test_replacing_an_entry_moves_it(new_memory) -> None:
    memory = new_memory()
    await memory.add(entry("a", 0.1), entry("b", 0.5))
    await memory.add(entry("a", 0.9, "changed"))
    assert await memory.entries() == (entry("b", 0.5), entry("a", 0.9, "changed"))
    assert [one.item.id for one in await memory.nearest(0.1, 1)] == ["b"]


async def test_the_last_of_several_entries_of_one_item_stays(new_memory) -> None:
    memory = new_memory()
    await memory.add(entry("a", 0.1), entry("a", 0.2))
    assert await memory.entries() == (entry("a", 0.2),)


@by_hypothesis
@given(z=st.floats(allow_nan=False, allow_infinity=False))
async def test_z_comes_back_to_the_last_bit(new_memory, z) -> None:
    memory = new_memory()
    await memory.add(entry("a", z))
    (found,) = await memory.nearest(z, 1)
    assert found.z.hex() == z.hex()
    below, above = await memory.neighbours(z, 1)
    assert (len(below), len(above)) == (0, 1)


@pytest.mark.parametrize("z", [math.nan, math.inf, -math.inf])
def test_a_difficulty_that_is_no_number_has_no_place(z) -> None:
    with pytest.raises(ValidationError, match="finite"):
        entry("a", z)


NAMES = ["a", "a:b", "a%3Ab", "entries:a", "ä"]  # such as could share a key, were they not escaped


@by_hypothesis
@given(
    batches=st.lists(st.tuples(st.sampled_from(NAMES), st.lists(entries, max_size=4)), max_size=12),
    z=zs,
)
async def test_benchmarks_live_side_by_side(each_server, batches, z) -> None:
    await each_server.flushall()
    memories = {name: RedisMemory(each_server, name) for name in NAMES}
    models = {name: Model() for name in NAMES}
    for name, batch in batches:
        await memories[name].add(*batch)
        models[name].add(*batch)
    for name, memory in memories.items():
        assert await memory.entries() == models[name].entries()
        assert await memory.nearest(z, 3) == models[name].nearest(z, 3)


async def test_benchmarks_that_are_filled_at_once_do_not_meet(each_server) -> None:
    async def fill(name: str) -> None:
        memory = RedisMemory(each_server, name)
        for number in range(30):
            await memory.add(entry(f"{number:02}", number / 30, name))

    await asyncio.gather(*(fill(name) for name in NAMES))
    for name in NAMES:
        kept = await RedisMemory(each_server, name).entries()
        assert kept == tuple(entry(f"{number:02}", number / 30, name) for number in range(30))


async def test_nearest_reads_a_few_entries_of_many(each_server) -> None:
    memory = RedisMemory(each_server, "large")
    many = [entry(f"{number:05}", number / 5000) for number in range(5000)]
    await memory.add(*many)
    before = (await each_server.info("stats"))["total_net_output_bytes"]
    assert len(await memory.nearest(0.5, 4)) == 4
    read = (await each_server.info("stats"))["total_net_output_bytes"] - before
    assert read < sum(len(one.model_dump_json()) for one in many) / 50
