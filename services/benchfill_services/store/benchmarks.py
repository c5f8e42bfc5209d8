"""Benchmarks and their versions in Redis: the records, and the files by what they hold.

A version never changes, and its number never means anything else: numbers go on where they were
when a deleted id is used again, so that a fill that is resumed meets its own version or none.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import secrets
import shutil
import tempfile
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from benchfill.errors import BenchFillError

from . import keys
from .benchmark_files import ITEMS, RESPONSES, CheckedFiles, VersionFiles

if TYPE_CHECKING:
    from redis.asyncio import Redis

FOLDER = "benchmarks"
SLUG = r"^[a-z0-9][a-z0-9._-]{0,63}$"

# KEYS: versions, last number, sequence, all, then content and users of each file.
# ARGV: `create`, `add` or `merge`, benchmark, record, parent ('' for the last version), contents.
# `merge` finds the version of the same items and responses if there is one, instead of a second.
_PUT = """
local exists = redis.call('EXISTS', KEYS[1]) == 1
local record = cjson.decode(ARGV[3])
if ARGV[1] == 'create' then
    if exists then return {'exists', ''} end
    redis.call('ZADD', KEYS[4], redis.call('INCR', KEYS[3]), ARGV[2])
else
    if not exists then return {'absent', ''} end
    if ARGV[1] == 'merge' then
        for _, other in ipairs(redis.call('HVALS', KEYS[1])) do
            local one = cjson.decode(other)
            if one.items_sha256 == record.items_sha256
                and one.responses_sha256 == record.responses_sha256 then return {'same', other} end
        end
    end
    local parent = ARGV[4] ~= '' and ARGV[4] or redis.call('GET', KEYS[2])
    local kept = redis.call('HGET', KEYS[1], parent)
    if not kept then return {'no parent', ''} end
    kept = cjson.decode(kept)
    record.name = kept.name
    if record.local_only == cjson.null then record.local_only = kept.local_only end
    record.parent_version = tonumber(parent)
end
record.version = redis.call('INCR', KEYS[2])
local user = ARGV[2] .. ':' .. record.version
for place = 5, #KEYS, 2 do
    redis.call('SET', KEYS[place], ARGV[5 + (place - 5) / 2], 'NX')
    redis.call('SADD', KEYS[place + 1], user)
end
local made = cjson.encode(record)
redis.call('HSET', KEYS[1], record.version, made)
return {'ok', made}
"""
# KEYS: versions, all. ARGV: benchmark, prefixes of contents' and of users' keys.
_DELETE = """
local kept = redis.call('HGETALL', KEYS[1])
if #kept == 0 then return 0 end
for place = 1, #kept, 2 do
    local record = cjson.decode(kept[place + 1])
    local held = {record.items_sha256, record.responses_sha256, record.provenance_sha256}
    for _, sha in ipairs(held) do
        redis.call('SREM', ARGV[3] .. sha, ARGV[1] .. ':' .. kept[place])
        if redis.call('SCARD', ARGV[3] .. sha) == 0 then redis.call('DEL', ARGV[2] .. sha) end
    end
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
"""


class UnknownBenchmarkError(BenchFillError):
    """There is no benchmark with this id, or it has no such version."""


class BenchmarkExistsError(BenchFillError):
    """A benchmark with this id exists already."""


class BenchmarkVersion(BaseModel):
    """One version of a benchmark. Times are ISO 8601, UTC."""

    model_config = ConfigDict(frozen=True)

    benchmark: str = Field(pattern=SLUG, description="id of the benchmark")
    version: int = Field(ge=1)
    name: str
    items_sha256: str
    responses_sha256: str
    n_items: int = Field(description="items in the items file")
    n_models: int = Field(description="models in the responses")
    local_only: bool = Field(description="no provider outside this machine may see its items")
    created_at: str
    created_by: str = Field(description="id of the API key, or `anonymous`")
    parent_version: int | None = Field(None, description="the version it was made from")
    provenance_sha256: str | None = Field(
        None, description="of where its merged items came from; null when none was merged"
    )

    @property
    def content_hash(self) -> str:
        """SHA-256 of both files, as one name."""
        return f"{self.items_sha256[:32]}{self.responses_sha256[:32]}"


class RedisBenchmarks:
    """All benchmarks of a server."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._put = redis.register_script(_PUT)
        self._delete = redis.register_script(_DELETE)

    async def create(
        self,
        checked: CheckedFiles,
        *,
        name: str,
        benchmark: str | None = None,
        local_only: bool = False,
        created_by: str,
    ) -> BenchmarkVersion:
        """Keep a new benchmark; without an id it gets one made of its name.

        Raises
        ------
        BenchmarkExistsError
            The id is taken.
        """
        record = {"name": name, "local_only": local_only, "created_by": created_by}
        return await self._keep("create", benchmark or _slug(name), checked, record)

    async def add_version(
        self,
        benchmark: str,
        checked: CheckedFiles,
        *,
        parent_version: int | None = None,
        local_only: bool | None = None,
        created_by: str,
    ) -> BenchmarkVersion:
        """Keep a further version; name and (unless given) `local_only` are those of its parent.

        Raises
        ------
        UnknownBenchmarkError
            There is no such benchmark or parent.
        """
        record = {"local_only": local_only, "created_by": created_by}
        return await self._keep("add", benchmark, checked, record, parent_version)

    async def merge_version(
        self, checked: CheckedFiles, parent: BenchmarkVersion, *, created_by: str
    ) -> tuple[BenchmarkVersion, bool]:
        """Keep a version that was made by merging, once by what it holds; say whether it is new.

        Raises
        ------
        UnknownBenchmarkError
            The benchmark was deleted.
        """
        record = {"local_only": parent.local_only, "created_by": created_by}
        said, made = await self._put_version(
            "merge", parent.benchmark, checked, record, parent.version
        )
        return made, said == "ok"

    async def get(self, benchmark: str, version: int | None = None) -> BenchmarkVersion:
        """Return a version, the last one when None. Raises UnknownBenchmarkError."""
        if version is None:
            versions = await self.versions(benchmark)
            return versions[-1]
        kept: Any = await self._redis.hget(keys.benchmark_versions(benchmark), str(version))
        if kept is None:
            raise UnknownBenchmarkError(f"there is no version {version} of benchmark {benchmark}.")
        return BenchmarkVersion.model_validate_json(kept)

    async def versions(self, benchmark: str) -> tuple[BenchmarkVersion, ...]:
        """Return all versions, oldest first. Raises UnknownBenchmarkError."""
        kept: Any = await self._redis.hvals(keys.benchmark_versions(benchmark))
        if not kept:
            raise UnknownBenchmarkError(f"there is no benchmark {benchmark}.")
        found = (BenchmarkVersion.model_validate_json(one) for one in kept)
        return tuple(sorted(found, key=lambda one: one.version))

    async def list(
        self, *, limit: int, before: int | None = None
    ) -> tuple[list[BenchmarkVersion], int | None]:
        """Return the last version of up to `limit` benchmarks, newest first, and a cursor.

        The cursor goes into `before`; None says that there are no more.
        """
        upper = "+inf" if before is None else f"({before}"
        page: Any = await self._redis.zrevrangebyscore(
            keys.BENCHMARKS, upper, "-inf", start=0, num=limit + 1, withscores=True
        )
        found = []
        for benchmark, _ in page[:limit]:
            try:
                found.append(await self.get(benchmark))
            except UnknownBenchmarkError:  # deleted a moment ago
                continue
        return found, int(page[limit - 1][1]) if len(page) > limit else None

    async def delete(self, benchmark: str) -> None:
        """Delete a benchmark with all versions. Raises UnknownBenchmarkError."""
        prefixes = (keys.content(""), keys.content_users(""))
        known = await self._delete(
            keys=[keys.benchmark_versions(benchmark), keys.BENCHMARKS], args=[benchmark, *prefixes]
        )
        if not known:
            raise UnknownBenchmarkError(f"there is no benchmark {benchmark}.")

    async def files(self, benchmark: str, version: int | None = None) -> VersionFiles:
        """Return the files of a version. Raises UnknownBenchmarkError."""
        return await _files(self._redis, await self.get(benchmark, version))

    async def _keep(
        self,
        how: str,
        benchmark: str,
        checked: CheckedFiles,
        record: dict[str, Any],
        parent: int | None = None,
    ) -> BenchmarkVersion:
        return (await self._put_version(how, benchmark, checked, record, parent))[1]

    async def _put_version(
        self,
        how: str,
        benchmark: str,
        checked: CheckedFiles,
        record: dict[str, Any],
        parent: int | None,
    ) -> tuple[str, BenchmarkVersion]:
        shas = [checked.items_sha256, checked.responses_sha256]
        contents = [checked.files.items, checked.files.responses]
        if checked.files.provenance is not None and checked.provenance_sha256 is not None:
            shas.append(checked.provenance_sha256)
            contents.append(checked.files.provenance)
        made = BenchmarkVersion(
            benchmark=benchmark,
            version=1,
            name=record.get("name", ""),
            items_sha256=shas[0],
            responses_sha256=shas[1],
            n_items=checked.n_items,
            n_models=checked.n_models,
            local_only=bool(record["local_only"]),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            created_by=record["created_by"],
            provenance_sha256=checked.provenance_sha256,
        ).model_dump(exclude_none=True)
        packed = await asyncio.gather(*(asyncio.to_thread(_pack, one) for one in contents))
        said, kept = await self._put(
            keys=[
                keys.benchmark_versions(benchmark),
                keys.benchmark_last(benchmark),
                keys.BENCHMARK_SEQUENCE,
                keys.BENCHMARKS,
                *(place(sha) for sha in shas for place in (keys.content, keys.content_users)),
            ],
            args=[
                how,
                benchmark,
                json.dumps(made | record),
                "" if parent is None else parent,
                *packed,
            ],
        )
        if said == "exists":
            raise BenchmarkExistsError(
                f"there is a benchmark {benchmark} already; add a version to it, or choose another "
                "id."
            )
        if said not in {"ok", "same"}:
            which = f"version {parent} of " if said == "no parent" else ""
            raise UnknownBenchmarkError(f"there is no {which}benchmark {benchmark}.")
        return said, BenchmarkVersion.model_validate_json(kept)


async def materialise(redis: Redis, data_dir: Path, version: BenchmarkVersion) -> Path:
    """Return a folder that holds the version's items.jsonl and responses.csv, written once.

    Raises
    ------
    UnknownBenchmarkError
        The version was deleted.
    """
    folder = data_dir / FOLDER / version.content_hash
    if not folder.is_dir():
        files = await _files(redis, version)
        await asyncio.to_thread(_write, folder, files)
    return folder


async def _files(redis: Redis, version: BenchmarkVersion) -> VersionFiles:
    shas = [version.items_sha256, version.responses_sha256]
    shas += [version.provenance_sha256] if version.provenance_sha256 is not None else []
    kept: Any = await redis.mget([keys.content(sha) for sha in shas])
    if None in kept:
        raise UnknownBenchmarkError(
            f"there is no version {version.version} of benchmark {version.benchmark}."
        )
    return VersionFiles(*[await asyncio.to_thread(_unpack, one) for one in kept])


def _write(folder: Path, files: VersionFiles) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        for name, content in ((ITEMS, files.items), (RESPONSES, files.responses)):
            with (temporary / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        temporary.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another worker was quicker
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _pack(content: bytes) -> str:
    # text, since the clients decode every reply as such
    return base64.b64encode(zlib.compress(content)).decode()


def _unpack(packed: str) -> bytes:
    return zlib.decompress(base64.b64decode(packed))


def _slug(name: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"{words or 'benchmark'}-{secrets.token_hex(3)}"
