"""Scoring replies in the domain of their item; what starts processes waits in its own threads."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..domains import domain_of
from ..domains.multiple_choice import reordered

if TYPE_CHECKING:
    from benchfill.items import Item

    from ..domains import Domain, Extracted
    from .config import Scoring, Style
    from .rollout import Rollout

RUNNER = "runner"
"""`scored_by` of what an external runner scored itself."""
# not asyncio's own threads: the ledger writes to the disk through those
_THREADS = ThreadPoolExecutor(max(1, os.cpu_count() or 1), thread_name_prefix="scoring")


@dataclass(frozen=True)
class Marker:
    """Scores replies to items as a pool does, or as an item itself says."""

    scoring: Scoring

    def domain(self, item: Item) -> Domain:
        """Return the domain of an item."""
        return domain_of(item, self.scoring)

    def find(self, text: str, *, item: Item, style: Style) -> Extracted | None:
        """Find the answer in a reply."""
        return self.domain(item).extract(text, style=style, item=item)

    async def score(self, found: Extracted | None, item: Item) -> dict[str, object]:
        """Score what was found in a reply: the fields of a rollout that say so."""
        domain = self.domain(item)
        answer = found.answer if found is not None else None
        if answer is None:
            correct = False
        elif domain.slow:
            loop = asyncio.get_running_loop()
            correct = await loop.run_in_executor(_THREADS, domain.is_correct, answer, item)
        else:
            correct = domain.is_correct(answer, item)
        return {"extracted": answer, "correct": correct, "scored_by": domain.scored_by(item)}

    async def again(self, rollout: Rollout, item: Item, style: Style) -> dict[str, object]:
        """Return what changes in a kept rollout when it is scored as things are now."""
        if rollout.outcome != "answered" or rollout.text is None or rollout.scored_by == RUNNER:
            return {}
        scored_by = self.domain(item).scored_by(item)
        if rollout.scored_by == scored_by:
            return {}
        asked = item if rollout.choice_order is None else reordered(item, rollout.choice_order)
        found = self.find(rollout.text, item=asked, style=style)
        return await self.score(found, asked) | {"scored_by": scored_by}
