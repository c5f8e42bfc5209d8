"""How far the jobs of a batch are, as something that can be shown: kept up by whoever works."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..store.keys import usage_job
from ..store.transcript import RedisTranscript
from ..store.usage import read_usage

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from .outcome import JobOutcome

Phase = Literal["waiting", "fitting", "working", "ended"]
_CHUNK = 200  # messages


@dataclass
class GapView:
    """How far the search for one gap is."""

    gap: str
    rounds_at_most: int
    round: int = 0
    best: float | None = None
    """Highest p_in_gap so far."""
    rollouts: int = 0
    chosen: str | None = None
    ended: bool = False
    since: float = field(default_factory=time.monotonic)
    _last: str | None = None
    _found_at: int | None = None
    """The round in which it was first looked at: an earlier run may have done others."""
    _found_ended: bool = False

    def hear(self, message: dict[str, Any]) -> None:
        """Note a message of its transcript."""
        self.round = max(self.round, message["round"])
        if message["kind"] != "calibrationround":
            return
        content = message["content"]
        self.rollouts += content["rollouts"]
        found = [one["p_in_gap"] for one in content["calibrations"]]
        self.best = max([*found, *([] if self.best is None else [self.best])], default=None)
        self.chosen, self.ended = content["chosen"], content["done"]

    async def look(self, redis: Redis, job: str) -> bool:
        """Read what was said since; return whether there was anything."""
        transcript, heard = RedisTranscript(redis, job, self.gap), False
        while said := await transcript.window(after=self._last or "0-0", count=_CHUNK):
            for self._last, message in said:
                self.hear(message)
            heard = True
        if heard and self._found_at is None:
            self._found_at, self._found_ended = self.round, self.ended
        return heard

    @property
    def ended_here(self) -> bool:
        """Whether it was ended by this run, and not by an earlier one."""
        return self.ended and not self._found_ended

    def seconds_left_at_most(self) -> float | None:
        """Return how long the search takes at its pace, if it goes through all its rounds."""
        done = self.round - (self._found_at or self.round)
        if self.ended or done < 1:  # the pace is known after a whole round
            return None
        pace = (time.monotonic() - self.since) / done
        return pace * (self.rounds_at_most - self.round + 1)


@dataclass
class JobView:
    """How far one job is."""

    name: str
    gaps_at_most: int
    rounds_at_most: int
    id: str | None = None
    phase: Phase = "waiting"
    usd: float = 0.0
    bought: int = 0
    gaps: list[GapView] = field(default_factory=list)
    outcome: JobOutcome | None = None

    @property
    def now(self) -> GapView | None:
        """The gap that is worked on."""
        return self.gaps[-1] if self.gaps else None

    @property
    def gaps_left(self) -> int:
        """How many gaps are to be worked on at most."""
        if self.outcome is not None:
            return 0
        return max(self.gaps_at_most - sum(gap.ended for gap in self.gaps), 0)

    async def look(self, redis: Redis) -> None:
        """Read from its records how far it is."""
        if self.id is None or self.phase == "ended":
            return
        used = await read_usage(redis, usage_job(self.id))
        self.usd = sum(one.cost for one in used)
        self.bought = sum(one.rollouts for one in used)
        if self.now is not None:
            await self.now.look(redis, self.id)
        # gaps that a child of an earlier one fills have no transcript, so the next may be skipped
        for number in range(self._next_number(), self.gaps_at_most + 1):
            view = GapView(f"gap-{number}", self.rounds_at_most)
            if await view.look(redis, self.id):
                self.gaps.append(view)

    def _next_number(self) -> int:
        return int(self.now.gap.rpartition("-")[2]) + 1 if self.now else 1


@dataclass
class BatchView:
    """How far all jobs are."""

    jobs: list[JobView]
    began: float = field(default_factory=time.monotonic)

    async def look(self, redis: Redis) -> None:
        """Read from the records how far they are."""
        for job in self.jobs:
            if job.phase == "working":
                await job.look(redis)

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.monotonic() - self.began

    def seconds_left(self) -> float | None:
        """Return an estimate from the gaps that ended in this run; None before the first one."""
        ended = sum(gap.ended_here for job in self.jobs for gap in job.gaps)
        left = sum(job.gaps_left for job in self.jobs)
        if not left:
            return 0.0
        return self.seconds / ended * left if ended else None
