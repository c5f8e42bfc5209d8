"""The memory of items and their measured difficulties, and its in-memory implementation.

The memory owns items and difficulties (docs/method, section 6). Difficulties are on the frozen z
scale of the benchmark that is being filled; a child may lie outside [0, 1].
"""

from __future__ import annotations

from bisect import insort
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from benchfill.items import Item


class MemoryEntry(BaseModel):
    """An item with its measured difficulty."""

    model_config = ConfigDict(frozen=True)

    item: Item
    z: float = Field(allow_inf_nan=False, description="difficulty on the frozen z scale")
    sd: float = Field(ge=0, allow_inf_nan=False, description="posterior standard deviation of z")
    kind: Literal["original", "child"] = "original"
    parent: str | None = Field(None, description="id of the item a child was rewritten from")


class Memory(Protocol):
    """Items by difficulty. Ties in z are ordered by item id, so that every answer is repeatable."""

    async def add(self, *entries: MemoryEntry) -> None:
        """Store entries; one whose item id is known replaces the former entry."""
        ...

    async def get(self, item_id: str) -> MemoryEntry | None:
        """Return the entry of an item, or None."""
        ...

    async def nearest(self, z: float, count: int) -> tuple[MemoryEntry, ...]:
        """Return up to `count` entries, nearest to z first."""
        ...

    async def neighbours(
        self, z: float, per_side: int
    ) -> tuple[tuple[MemoryEntry, ...], tuple[MemoryEntry, ...]]:
        """Return up to `per_side` entries below z and as many at or above it, nearest first."""
        ...

    async def entries(self) -> tuple[MemoryEntry, ...]:
        """Return all entries in order of z."""
        ...


class InMemoryMemory:
    """A `Memory` that lives and ends with the process."""

    def __init__(self) -> None:
        self._entries: dict[str, MemoryEntry] = {}
        self._order: list[tuple[float, str]] = []

    async def add(self, *entries: MemoryEntry) -> None:
        """See `Memory.add`."""
        for entry in entries:
            known = self._entries.get(entry.item.id)
            if known is not None:
                self._order.remove((known.z, known.item.id))
            self._entries[entry.item.id] = entry
            insort(self._order, (entry.z, entry.item.id))

    async def get(self, item_id: str) -> MemoryEntry | None:
        """See `Memory.get`."""
        return self._entries.get(item_id)

    async def nearest(self, z: float, count: int) -> tuple[MemoryEntry, ...]:
        """See `Memory.nearest`."""
        ranked = sorted(self._order, key=lambda place: (abs(place[0] - z), place[1]))
        return tuple(self._entries[item_id] for _, item_id in ranked[:count])

    async def neighbours(
        self, z: float, per_side: int
    ) -> tuple[tuple[MemoryEntry, ...], tuple[MemoryEntry, ...]]:
        """See `Memory.neighbours`."""
        below = [place for place in self._order if place[0] < z][::-1][:per_side]
        above = [place for place in self._order if place[0] >= z][:per_side]
        return (
            tuple(self._entries[item_id] for _, item_id in below),
            tuple(self._entries[item_id] for _, item_id in above),
        )

    async def entries(self) -> tuple[MemoryEntry, ...]:
        """See `Memory.entries`."""
        return tuple(self._entries[item_id] for _, item_id in self._order)
