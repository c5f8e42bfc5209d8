"""What the check of a fill needs to know of a version's files: read once, and remembered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..store.benchmark_files import ITEMS, RESPONSES
from ..store.benchmarks import materialise

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

    from ..store.benchmarks import BenchmarkVersion

_REMEMBERED = 256  # versions


@dataclass(frozen=True)
class Contents:
    """Which models stand in the responses, and whether an item has a template."""

    models: frozenset[str]
    templates: bool


class VersionContents:
    """Contents of versions, by what their files hold."""

    def __init__(self, redis: Redis, data_dir: Path) -> None:
        self._redis, self._data_dir = redis, data_dir
        self._known: OrderedDict[str, Contents] = OrderedDict()

    async def of(self, version: BenchmarkVersion) -> Contents:
        """Return what a version holds. Raises UnknownBenchmarkError when it was deleted."""
        found = self._known.get(version.content_hash)
        if found is None:
            folder = await materialise(self._redis, self._data_dir, version)
            found = await asyncio.to_thread(_read, folder)
        self._known[version.content_hash] = found
        self._known.move_to_end(version.content_hash)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return found


def _read(folder: Path) -> Contents:
    models = frozenset(bf.read_responses(folder / RESPONSES).models)
    return Contents(models, any(item.template for item in bf.read_items(folder / ITEMS)))
