"""Benchmarks in Redis: versions that never change, and files kept once by what they hold."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.errors import InputError
from benchfill_services.store import keys
from benchfill_services.store.benchmark_files import CheckedFiles, checked_files
from benchfill_services.store.benchmarks import (
    BenchmarkExistsError,
    RedisBenchmarks,
    UnknownBenchmarkError,
    materialise,
)

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

ITEMS = b'{"id": "a", "question": "1 + 1?", "answer": "2"}\n'
RESPONSES = b"model,item,correct\nm1,a,1\nm2,a,0\n"
WHO: dict[str, Any] = {"created_by": "k1"}


def files(items: bytes = ITEMS, responses: bytes = RESPONSES) -> CheckedFiles:
    return checked_files(items, responses)


async def test_a_version_is_read_as_it_was_kept(valkey: Redis) -> None:
    benchmarks = RedisBenchmarks(valkey)
    made = await benchmarks.create(
        files(), name="Näme/7", benchmark="arith", local_only=True, **WHO
    )
    assert (made.benchmark, made.version, made.name) == ("arith", 1, "Näme/7")
    assert (made.n_items, made.n_models, made.local_only, made.parent_version) == (1, 2, True, None)
    assert await benchmarks.get("arith") == made == await benchmarks.get("arith", 1)
    kept = await benchmarks.files("arith", 1)
    assert (kept.items, kept.responses) == (ITEMS, RESPONSES)


async def test_a_further_version_takes_after_its_parent(valkey: Redis) -> None:
    benchmarks = RedisBenchmarks(valkey)
    await benchmarks.create(files(), name="A", benchmark="a", local_only=True, **WHO)
    second = await benchmarks.add_version("a", files(ITEMS + b"\n"), **WHO)
    third = await benchmarks.add_version("a", files(), parent_version=1, local_only=False, **WHO)
    assert (second.version, second.parent_version, second.local_only) == (2, 1, True)
    assert (third.version, third.parent_version, third.local_only) == (3, 1, False)
    assert {one.name for one in await benchmarks.versions("a")} == {"A"}
    assert (await benchmarks.get("a")).version == 3
    with pytest.raises(UnknownBenchmarkError, match="no version 9 of benchmark a"):
        await benchmarks.add_version("a", files(), parent_version=9, **WHO)
    with pytest.raises(UnknownBenchmarkError):
        await benchmarks.add_version("b", files(), **WHO)


async def test_equal_files_are_kept_once_and_as_long_as_somebody_uses_them(valkey: Redis) -> None:
    benchmarks = RedisBenchmarks(valkey)
    for name in ("a", "b"):
        await benchmarks.create(files(), name=name, benchmark=name, **WHO)
    assert len(await valkey.keys(keys.content("") + "[0-9a-f]*")) == 2
    await benchmarks.delete("a")
    assert (await benchmarks.files("b")).items == ITEMS
    await benchmarks.delete("b")
    assert await valkey.keys("benchfill:content*") == []
    with pytest.raises(UnknownBenchmarkError):
        await benchmarks.delete("b")


async def test_a_version_number_is_never_given_out_twice(valkey: Redis) -> None:
    benchmarks = RedisBenchmarks(valkey)
    await benchmarks.create(files(), name="a", benchmark="a", **WHO)
    with pytest.raises(BenchmarkExistsError, match="choose another id"):
        await benchmarks.create(files(), name="a", benchmark="a", **WHO)
    await benchmarks.delete("a")
    again = await benchmarks.create(files(ITEMS + b"\n"), name="a", benchmark="a", **WHO)
    assert again.version == 2
    with pytest.raises(UnknownBenchmarkError):
        await benchmarks.files("a", 1)


async def test_many_at_once_get_numbers_of_their_own(valkey: Redis) -> None:
    benchmarks = RedisBenchmarks(valkey)
    await benchmarks.create(files(), name="a", benchmark="a", **WHO)
    made = await asyncio.gather(*(benchmarks.add_version("a", files(), **WHO) for _ in range(20)))
    assert sorted(one.version for one in made) == list(range(2, 22))


async def test_pages_hold_every_benchmark_once_newest_first(valkey: Redis) -> None:
    benchmarks = RedisBenchmarks(valkey)
    made = [(await benchmarks.create(files(), name="x", **WHO)).benchmark for _ in range(7)]
    assert len(set(made)) == 7
    seen: list[str] = []
    cursor = None
    while True:
        page, cursor = await benchmarks.list(limit=3, before=cursor)
        seen += [one.benchmark for one in page]
        if cursor is None:
            break
    assert seen == made[::-1]


async def test_a_version_becomes_files_once(valkey: Redis, tmp_path: Path) -> None:
    benchmarks = RedisBenchmarks(valkey)
    version = await benchmarks.create(files(), name="a", **WHO)
    folders = await asyncio.gather(*(materialise(valkey, tmp_path, version) for _ in range(5)))
    assert len(set(folders)) == 1
    assert (folders[0] / "items.jsonl").read_bytes() == ITEMS
    assert (folders[0] / "responses.csv").read_bytes() == RESPONSES
    assert [one.name for one in folders[0].parent.iterdir()] == [version.content_hash]
    await benchmarks.delete(version.benchmark)
    with pytest.raises(UnknownBenchmarkError):
        await materialise(valkey, tmp_path / "elsewhere", version)


@pytest.mark.parametrize(
    ("items", "responses", "said"),
    [
        (b"", RESPONSES, "items: holds no item"),
        (ITEMS.replace(b'"2"', b"2"), RESPONSES, "items, line 1, answer: must be a text"),
        (ITEMS, b"model,item,correct\nm1,a,7\n", "responses, line 2, correct: 7 is neither"),
        (ITEMS, b"model,item,correct\nm1,b,1\n", "items: none of its items stands in the resp"),
        (ITEMS.replace(b'"a"', b'"' + b"a" * 100_000 + b'"'), RESPONSES, "items: the id 'aaaa"),
        (ITEMS, b"\xff\xfe\x00", "responses: is UTF-16 text"),
    ],
)
def test_files_that_cannot_be_used_are_refused_by_name(items, responses, said) -> None:
    with pytest.raises(InputError) as caught:
        checked_files(items, responses)
    assert str(caught.value).startswith(said)
    assert "/" not in str(caught.value)
    assert len(str(caught.value)) < 300
