"""The Retriever: parents near the target, and references from both of its sides."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .messages import Retrieval

if TYPE_CHECKING:
    from .memory import Memory, MemoryEntry
    from .target import FillTarget

PARENTS = 4
REFERENCES_PER_SIDE = 8
MAX_PER_FAMILY = 2
_SEARCHED = 10  # times the number of parents


class Retriever:
    """Reads the memory; the memory owns what is known."""

    def __init__(self, memory: Memory, *, templates_only: bool = False) -> None:
        self._memory, self._templates_only = memory, templates_only

    async def retrieve(self, target: FillTarget, number: int) -> Retrieval:
        """Pick 4 parents nearest to z* and up to 8 references from each side."""
        near = await self._memory.nearest(target.z, PARENTS * _SEARCHED)
        usable = [e for e in near if e.item.template is not None or not self._templates_only]
        below, above = await self._memory.neighbours(target.z, REFERENCES_PER_SIDE)
        return Retrieval(
            round=number, parents=tuple(spread_out(usable, PARENTS)), below=below, above=above
        )


def spread_out(ranked: list[MemoryEntry], count: int) -> list[MemoryEntry]:
    """Take the first entries, at most 2 of a family while there are others.

    A family is a template, or an item with all that was rewritten from it.
    """
    taken: list[MemoryEntry] = []
    families: Counter[str] = Counter()
    for entry in ranked:
        name = _family(entry)
        if families[name] < MAX_PER_FAMILY and len(taken) < count:
            families[name] += 1
            taken.append(entry)
    rest = [entry for entry in ranked if entry not in taken]
    return taken + rest[: count - len(taken)]


def _family(entry: MemoryEntry) -> str:
    if entry.item.template is not None:
        return f"template {entry.item.template.name}"
    return f"item {entry.item.id.partition('~')[0]}"
