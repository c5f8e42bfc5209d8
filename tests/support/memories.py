"""Memory entries for tests, and what the memory's answers must be, worked out the slow way."""

from __future__ import annotations

from hypothesis import strategies as st

from benchfill.items import Item
from benchfill_agents.memory import MemoryEntry

# Few values, so that ties happen; neighbouring floats and huge ones, so that rounding shows.
Z_VALUES = (0.0, -0.0, 0.1, 0.3, 0.1 + 0.2, 0.5, 0.7, 1.0, -0.4, 1.6, 5e-324, 1e300, 1 / 3)

zs = st.sampled_from(Z_VALUES) | st.floats(-2, 3)
item_ids = st.sampled_from(["a", "b", "B", "ä", "z:1", "%3A", "文", "🙂", "\n"]) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4
)


def entry(item_id: str, z: float, question: str = "1 + 1 = ?") -> MemoryEntry:
    """Return an entry of a small item."""
    item = Item(id=item_id, question=question, answer="2", metadata={"source": ["tëst", 1]})
    return MemoryEntry(item=item, z=z, sd=0.1, kind="child", parent="p")


entries = st.builds(
    entry, item_ids, zs, st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
)


class Model:
    """A dictionary that sorts itself anew for every question."""

    def __init__(self) -> None:
        self.known: dict[str, MemoryEntry] = {}

    def add(self, *added: MemoryEntry) -> None:
        for one in added:
            self.known[one.item.id] = one

    def entries(self) -> tuple[MemoryEntry, ...]:
        return tuple(sorted(self.known.values(), key=lambda one: (one.z, one.item.id)))

    def nearest(self, z: float, count: int) -> tuple[MemoryEntry, ...]:
        ranked = sorted(self.known.values(), key=lambda one: (abs(one.z - z), one.item.id))
        return tuple(ranked[:count])

    def neighbours(
        self, z: float, per_side: int
    ) -> tuple[tuple[MemoryEntry, ...], tuple[MemoryEntry, ...]]:
        below = tuple(one for one in reversed(self.entries()) if one.z < z)
        above = tuple(one for one in self.entries() if one.z >= z)
        return below[:per_side], above[:per_side]
