"""Candidates under review whose agents can be asked: a real fill, and a provider that plays them.

A call with a system message is the writing model's, as Rewriter or as Validator; all others are
answers of the pool.
"""

from __future__ import annotations

import json
import secrets
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchfill_services.jobs.run import work_on
from benchfill_services.review.agent_jobs import RedisAgentJobs
from benchfill_services.review.desk import ReviewDesk
from benchfill_services.review.rules import NewVerdict, Person
from benchfill_services.settings import Settings
from benchfill_services.store.jobs import RedisJobs
from support.arithmetic_world import answer
from support.job_world import ask
from support.openai_api import Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from redis.asyncio import Redis

    from benchfill_services.jobs.record import Job
    from benchfill_services.review.case import Case
    from support.job_world import JobWorld
    from support.openai_api import Request

    Said = Reply | str | Callable[[Request], Reply | str]

ADA = Person("a" * 12, "Ada", "reviewer")
BOB = Person("b" * 12, "Bob", "reviewer")
CYD = Person("c" * 12, "Cyd", "reviewer")
CHANGE = NewVerdict("request_change", (), "Use larger numbers.")
REFUSED = Reply(refusal="I will not write that.", finish_reason="content_filter")


def revised(a: int, b: int, **changes: Any) -> str:
    """Return a Rewriter's reply."""
    reply = {
        "question": f"{a} + {b} =",
        "answer": str(a + b),
        "choices": [],
        "what_changed": "The numbers.",
        "rationale": "They are of like size.",
    }
    return json.dumps(reply | changes)


def is_writing(request: Request) -> bool:
    """Whether a call is the writing model's."""
    return bool(request.body["messages"][0]["role"] == "system")


@dataclass
class Playing:
    """A script: the writing model says what is in line, the pool does sums."""

    line: list[Said]
    delay: float = 0.0
    asked: list[list[str]] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply | str:
        """Reply to a request."""
        if not is_writing(request):
            return Reply(answer(request).text, delay=self.delay)
        self.asked.append([message["content"] for message in request.body["messages"]])
        said = self.line.pop(0) if len(self.line) > 1 else self.line[0]
        return said(request) if callable(said) else said


@dataclass
class Office:
    """The store, the desk, and a worker of this process."""

    world: JobWorld
    redis: Redis
    settings: Settings
    agents: RedisAgentJobs
    desk: ReviewDesk
    made: Case

    def play(self, *line: Said, delay: float = 0.0) -> Playing:
        """Set what the provider says, and forget what it was asked."""
        playing = Playing(list(line), delay)
        self.world.provider.script(playing)
        self.world.provider.records.clear()
        return playing

    async def case(self, **changes: Any) -> str:
        """Put another candidate of the fill up for review, the same but for its id."""
        prefix, gap, _ = self.made.id.split(".")
        made = {"id": f"{prefix}.{gap}.{secrets.token_hex(8)}"} | changes
        case = self.made.model_copy(update=made)
        await self.desk.reviews.open(case)
        return case.id

    async def job_of(self, candidate: str) -> str:
        """Return the job of the last request to change a candidate."""
        events = (await self.desk.state(candidate)).events
        return next(event.job for event in reversed(events) if event.job is not None)

    async def work(self, job: str) -> Job:
        """Work on a job in this process, and return how it stands."""
        await work_on(self.redis, self.settings, job, threading.Event())
        done = await RedisJobs(self.redis).get(job)
        assert done is not None
        return done

    async def told(self, candidate: str, person: Person = ADA) -> list[tuple[str, str]]:
        """Return what a person sees of the thread: kinds and texts."""
        return [(one.kind, one.text) for one in await self.desk.thread(candidate, person)]


async def ask_for_a_change(office: Office, case: str, person: Person = ADA) -> str:
    await office.desk.decide(case, person, CHANGE)
    return await office.job_of(case)


async def filled(world: JobWorld) -> str:
    """Have a gap of the world filled; return the id of the fill."""
    async with world.store() as redis:
        settings = Settings(data_dir=world.data, redis_url=None, pools_dir=world.folder / "pools")
        fill = await ask(redis, queued=False, at=(0.6,))
        await work_on(redis, settings, fill, threading.Event())
        return fill


@asynccontextmanager
async def open_office(
    world: JobWorld, fill: str, *, rollouts: int = 20_000
) -> AsyncIterator[Office]:
    """Open the office of a fill that is done."""
    async with world.store() as redis:
        agents = RedisAgentJobs(redis, needed=2, rollouts=rollouts)
        desk = ReviewDesk(redis, agents=agents)
        (first, *_) = [one for one in await desk.reviews.ids() if one.startswith(fill)]
        made, _ = await desk.reviews.case(first)
        settings = Settings(data_dir=world.data, redis_url=None, pools_dir=world.folder / "pools")
        yield Office(world, redis, settings, agents, desk, made)
