"""The desk where experts judge: the one way in for the page, the REST API and the command line."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from benchfill.errors import BenchFillError, InputError

from ..store.api_keys import RedisApiKeys
from ..store.reviews import RedisReviews
from .agents import AgentTask
from .case import Event, ThreadMessage
from .rules import (
    NEWER,
    NO_AGENTS,
    NewVerdict,
    Person,
    ReviewRefusedError,
    StaleViewError,
    check_adjudication,
    check_question,
    check_turn,
    check_undo,
)
from .state import CaseState
from .view import CaseView, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redis.asyncio import Redis

    from ..store.reviews import QueueName
    from .agents import Agents
    from .case import Revision

Shelf = Literal["pending", "waiting", "disagreements", "decided"]
SHELVES: tuple[Shelf, ...] = ("pending", "waiting", "disagreements", "decided")
_TRIES = 20  # of adding a line while others add theirs
_BUSY = "many are writing at this candidate at once; try again."


class ReviewDesk:
    """Cases as people may see them, and what people may do to them.

    Parameters
    ----------
    redis
        The store.
    needed
        Reviewers who must agree on an item.
    agents
        Who takes tasks for the agents; None where there is nobody to ask.
    """

    def __init__(
        self,
        redis: Redis,
        *,
        needed: int = 2,
        agents: Agents | None = None,
    ) -> None:
        self.reviews = RedisReviews(redis)
        self._keys = RedisApiKeys(redis)
        self.needed = needed
        self._agents = agents

    async def shelf(  # noqa: PLR0913 - a filter each
        self,
        person: Person,
        shelf: Shelf,
        *,
        limit: int = 50,
        before: int | None = None,
        benchmark: str | None = None,
        gap: tuple[str, str] | None = None,
    ) -> tuple[list[CaseView], int | None]:
        """Return cases of one shelf, newest first, and the cursor that goes into `before`."""
        queue: QueueName = "disagreement" if shelf == "disagreements" else "decided"
        done_by = not_done_by = None
        if shelf == "pending":
            queue, not_done_by = "open", person.id
        elif shelf == "waiting":
            queue, done_by = "open", person.id
        ids, following = await self.reviews.page(
            queue,
            limit=limit,
            before=before,
            done_by=done_by,
            not_done_by=not_done_by,
            benchmark=benchmark,
            gap=gap,
        )
        found = [CaseState(*one, self.needed) for one in await self.reviews.cases(ids)]
        names = await self._names(found)
        return [self._view(state, person, names) for state in found], following

    async def sizes(self, person: Person) -> dict[Shelf, int]:
        """Return how many cases each shelf holds."""
        opened = await self.reviews.size("open")
        done = await self.reviews.size("open", done_by=person.id)
        return {
            "pending": opened - done,
            "waiting": done,
            "disagreements": await self.reviews.size("disagreement"),
            "decided": await self.reviews.size("decided"),
        }

    async def look(self, candidate: str, person: Person, *, begin: bool = False) -> CaseView:
        """Return a case; `begin` starts the clock of a reviewer's work on it.

        Raises
        ------
        UnknownCaseError
            It is not under review.
        """
        state = await self.state(candidate)
        if begin:
            await self.reviews.looked(candidate, person.id, len(state.revisions), now())
        return self._view(state, person, await self._names([state]))

    async def state(self, candidate: str) -> CaseState:
        """Return all that is known of a case; nothing of it is for reviewers' eyes."""
        return CaseState(*await self.reviews.case(candidate), self.needed)

    async def thread(
        self, candidate: str, person: Person, *, after: str = "0-0", count: int = 10_000
    ) -> list[ThreadMessage]:
        """Return what a person may see of what was said after the fill, oldest first.

        Authors are names; one's own is `you`.
        """
        state = await self.state(candidate)
        said = await self.reviews.said(candidate, after=after, count=count)
        names = await self._names([state], said)
        # what agents say of a revision is for all once the revision is there
        landed = {event.job for event in state.events if event.kind == "revision"}
        return [
            one.model_copy(update={"author": _author(one, person, names), "private_to": None})
            for one in said
            if state.settled
            or one.private_to in {None, person.id}
            or (one.author_kind == "agent" and one.job in landed)
        ]

    async def decide(
        self, candidate: str, person: Person, said: NewVerdict, *, seen: str | None = None
    ) -> CaseView:
        """Give a verdict on the latest revision.

        `seen` is that of the view that was judged; None judges whatever stands there now. A
        requested change goes to the Rewriter where agents can be asked.

        Raises
        ------
        StaleViewError
            The view has changed since.
        ReviewRefusedError
            It is not this person's turn.
        """
        state = await self._turn(candidate, person, seen)
        revision = state.latest.revision
        key = uuid.uuid4().hex
        job = None
        if said.verdict == "request_change" and self._agents and state.case.writer is not None:
            # on record before the verdict names it; a worker does it once the verdict stands
            task = AgentTask("revise", state.case, revision, said.text, key)
            job = await self._agents.prepare(task, person)
        event = Event(
            kind="verdict",
            at=now(),
            by=person.id,
            revision=revision.number,
            verdict=said.verdict,
            reasons=said.reasons,
            text=said.text,
            seconds=await self._seconds(candidate, person, revision.number),
            job=job,
        )

        def still(current: CaseState) -> None:
            check_turn(current, person)
            if current.latest.revision.number != revision.number:
                raise StaleViewError(NEWER)

        try:
            await self._append(candidate, event, still)
        except BenchFillError:
            if job is not None and self._agents:
                await self._agents.drop(job)
            raise
        if job is not None and self._agents:
            await self._say(state, person, "request", said.text, key)
            await self._agents.start(job)
        return await self.look(candidate, person)

    async def undo(self, candidate: str, person: Person, *, seen: str | None = None) -> CaseView:
        """Take back one's verdict while another is missing. Raises ReviewRefusedError."""
        state = await self.state(candidate)
        self._fresh(state, person, seen, await self._names([state]))
        number = state.latest.revision.number

        event = Event(kind="undo", at=now(), by=person.id, revision=number)
        await self._append(candidate, event, lambda now: check_undo(now, person, number))
        return await self.look(candidate, person)

    async def adjudicate(
        self, candidate: str, person: Person, said: NewVerdict, *, seen: str | None = None
    ) -> CaseView:
        """Decide where reviewers disagree. Raises ReviewRefusedError."""
        state = await self.state(candidate)
        self._fresh(state, person, seen, await self._names([state]))
        if said.verdict == "request_change":
            raise InputError("an adjudicator approves or rejects.", field="verdict")

        event = Event(
            kind="adjudication",
            at=now(),
            by=person.id,
            revision=state.latest.revision.number,
            verdict=said.verdict,
            reasons=said.reasons,
            text=said.text,
        )
        await self._append(candidate, event, lambda now: check_adjudication(now, person))
        return await self.look(candidate, person)

    async def question(self, candidate: str, person: Person, text: str) -> str:
        """Ask the Validator about the latest revision; return the id of the message.

        Raises
        ------
        ReviewRefusedError
            No agent can be asked.
        """
        state = await self.state(candidate)
        check_question(person, text)
        if self._agents is None or state.case.writer is None:
            raise ReviewRefusedError(NO_AGENTS)
        key = uuid.uuid4().hex
        task = AgentTask("answer", state.case, state.latest.revision, text, key)
        job = await self._agents.prepare(task, person)
        message = await self._say(state, person, "question", text, key)
        await self._agents.start(job)
        return message

    async def revised(self, candidate: str, made: Revision, *, by: str, on: int, job: str) -> int:
        """Add a new revision that a job wrote; return its number. The same job adds one only.

        Raises
        ------
        UnknownCaseError
            It is not under review.
        """
        for _ in range(_TRIES):
            state = await self.state(candidate)
            before = [e for e in state.events if e.kind == "revision" and e.job == job]
            if before and before[0].made is not None:
                return before[0].made.number
            numbered = made.model_copy(
                update={"number": len(state.revisions) + 1, "requested_by": by}
            )
            event = Event(
                kind="revision", at=now(), by="BenchFill", revision=on, job=job, made=numbered
            )
            if await self._write(candidate, state, event):
                return numbered.number
        raise ReviewRefusedError(_BUSY)

    async def not_revised(self, candidate: str, *, on: int, job: str, why: str) -> None:
        """Note that a rewriting failed: the request stands as a verdict like any other."""
        for _ in range(_TRIES):
            state = await self.state(candidate)
            if job not in state.rewriting:
                return
            event = Event(
                kind="revision_failed", at=now(), by="BenchFill", revision=on, job=job, text=why
            )
            if await self._write(candidate, state, event):
                return
        raise ReviewRefusedError(_BUSY)

    async def _turn(self, candidate: str, person: Person, seen: str | None) -> CaseState:
        state = await self.state(candidate)
        self._fresh(state, person, seen, await self._names([state]))
        check_turn(state, person)
        return state

    def _fresh(
        self, state: CaseState, person: Person, seen: str | None, names: dict[str, str]
    ) -> None:
        shown = self._view(state, person, names)
        if seen is not None and seen != shown.seen:
            raise StaleViewError(
                NEWER
                if len(shown.revisions) > 1 and not shown.latest.verdicts
                else "this page is out of date: you or others have decided since. Look again."
            )

    def _view(self, state: CaseState, person: Person, names: dict[str, str]) -> CaseView:
        shown = view_of(
            state,
            person.id,
            may_review=person.may_review,
            may_adjudicate=person.may_adjudicate,
            names=names,
        )
        return shown if self._agents is not None else shown.model_copy(update={"agents": False})

    async def _say(
        self,
        state: CaseState,
        person: Person,
        kind: Literal["question", "request"],
        text: str,
        key: str,
    ) -> str:
        message = ThreadMessage(
            author=person.id,
            author_kind="reviewer",
            kind=kind,
            revision=state.latest.revision.number,
            text=text,
            at=now(),
            private_to=person.id,
        )
        return await self.reviews.say(state.case.id, message, key=key)

    async def _append(self, candidate: str, event: Event, may: Callable[[CaseState], None]) -> None:
        """Add a line to the trail if it still may be added, whoever else adds one meanwhile."""
        for _ in range(_TRIES):
            state = await self.state(candidate)
            may(state)
            if await self._write(candidate, state, event):
                return
        raise ReviewRefusedError(_BUSY)

    async def _write(self, candidate: str, state: CaseState, event: Event) -> bool:
        after = CaseState(state.case, [*state.events, event], self.needed)
        queues: dict[str, QueueName] = {"disagreement": "disagreement"}
        queues |= {"approved": "decided", "rejected": "decided"}
        people = {one.by for one in after.events if one.by != "BenchFill"}
        people |= {r.revision.requested_by for r in after.revisions if r.revision.requested_by}
        return await self.reviews.append(
            candidate,
            event,
            after=len(state.events),
            queue=queues.get(after.status, "open"),
            done={one: after.done_by(one) for one in sorted(people)},
        )

    async def _seconds(self, candidate: str, person: Person, revision: int) -> float | None:
        began = await self.reviews.first_look(candidate, person.id, revision)
        if began is None:
            return None
        return (datetime.now(UTC) - datetime.fromisoformat(began)).total_seconds()

    async def names(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the names of reviewers by id."""
        return await self._keys.names(ids)

    async def _names(
        self, states: Sequence[CaseState], said: Sequence[ThreadMessage] = ()
    ) -> dict[str, str]:
        """Return names of all whose names may be needed, by id."""
        ids = {event.by for state in states for event in state.events}
        ids |= {one.author for one in said if one.author_kind == "reviewer"}
        return await self._keys.names(ids) if ids else {}


def _author(message: ThreadMessage, person: Person, names: dict[str, str]) -> str:
    if message.author_kind == "agent":
        return message.author
    return "you" if message.author == person.id else names.get(message.author, message.author)


def now() -> str:
    """Return the time as it is kept: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
