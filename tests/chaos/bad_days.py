"""A provider with bad days: right answers, and the troubles that users meet, by a fixed script."""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from support.arithmetic_world import answer
from support.openai_api import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.openai_api import Request
    from support.scripted_server import Record

TROUBLE = 0.06
"""Share of the calls that go wrong."""
_KINDS = (
    Reply(status=429, retry_after=0.2),
    Reply(status=500),
    Reply(status=503),
    Reply("4", reset=True),
    Reply("4", malformed=True),
    Reply(""),
    Reply("The answer is 1", finish_reason="length"),
    Reply(status=503, delay=14.0),  # beyond the pool's timeout
)


class BadDays:
    """A script for the provider, which remembers of which calls it gave a good answer."""

    def __init__(self, seed: int, delay: float) -> None:
        self._random = random.Random(seed)
        self._delay = delay
        self._lock = threading.Lock()
        self._good: dict[str, list[bool]] = defaultdict(list)
        self.troubles: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        """Answer, or play a trouble."""
        with self._lock:
            trouble = self._random.random() < TROUBLE
            reply = self._random.choice(_KINDS) if trouble else answer(request)
            self._good[request.key].append(not trouble)
            if trouble:
                self.troubles[_named(reply)] += 1
        if trouble:
            return reply
        return Reply(text=reply.text, delay=self._delay)

    def answered(self, records: Iterable[Record]) -> Counter[tuple[str, int, str]]:
        """Count good answers that were sent whole, by (model, seed, key of the request)."""
        seen: Counter[str] = Counter()
        found: Counter[tuple[str, int, str]] = Counter()
        for record in sorted(records, key=lambda one: one.received_at):
            number = seen[record.key]
            seen[record.key] += 1
            # calls of one request come one after the other, so the n-th record is the n-th reply
            if record.sent and record.status == 200 and self._good[record.key][number]:
                found[record.model, int(record.body.get("seed") or 0), record.key] += 1
        return found


def _named(reply: Reply) -> str:
    if reply.delay:
        return "timeout"
    if reply.status != 200:
        return str(reply.status)
    if reply.reset:
        return "reset"
    if reply.malformed:
        return "malformed"
    return "cut" if reply.text else "empty"


def seed_of(digest: str, replies: int = 0) -> int:
    """Return the seed that is sent with a rollout, from the digest of its key."""
    return (int(digest[:8], 16) + replies) % 2**31
