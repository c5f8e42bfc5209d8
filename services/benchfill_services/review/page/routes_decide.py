"""What reviewers do: verdicts, undo, adjudication, questions. As forms, with htmx or without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from benchfill.errors import BenchFillError, InputError

from ...rest.problem import ProblemError, translated
from ...rest.service import Service, ServiceDep
from ..case import Reason, VerdictKind
from ..rules import NewVerdict, Person
from .error_pages import wants_fragment
from .guard import PageRoute, lets_in
from .queue_filter import FilterDep, QueueFilter
from .routes_case import DONE, CandidateId, case_page, desk_context
from .templates import render
from .visit import PersonDep, Visit, VisitDep

if TYPE_CHECKING:
    from collections.abc import Awaitable

router = APIRouter(prefix="/review/c", include_in_schema=False, route_class=PageRoute)
_NAMES = {"text": "your words", "reasons": "the reasons", "verdict": "the verdict"}


@dataclass(frozen=True)
class Sent:
    """A form that was sent, and by whom."""

    candidate: str
    visit: Visit
    person: Person
    service: Service
    chosen: QueueFilter
    fragment: bool
    verdict: str
    to: str
    text: str
    reasons: tuple[str, ...]
    seen: str
    shown: int | None

    def said(self, verdict: str) -> NewVerdict:
        """Return the verdict that it gives. Raises InputError."""
        if verdict not in get_args(VerdictKind):
            raise InputError("choose a verdict.", field="verdict")
        known = get_args(Reason)
        reasons = tuple(cast("Reason", one) for one in self.reasons if one in known)
        return NewVerdict(
            cast("VerdictKind", verdict), () if verdict == "approve" else reasons, self.text
        )


async def _sent(  # noqa: PLR0913, PLR0917 - FastAPI names them
    request: Request,
    candidate: CandidateId,
    visit: VisitDep,
    person: PersonDep,
    service: ServiceDep,
    chosen: FilterDep,
) -> Sent:
    form = await request.form()

    def field(name: str) -> str:
        value = form.get(name)
        # browsers send line ends of their own, which would count twice
        return value.replace("\r\n", "\n") if isinstance(value, str) else ""

    shown = field("shown")
    return Sent(
        candidate=candidate,
        visit=visit,
        person=person,
        service=service,
        chosen=chosen,
        fragment=wants_fragment(request),
        verdict=field("verdict"),
        to=field("to"),
        text=field("text"),
        reasons=tuple(one for one in form.getlist("reasons") if isinstance(one, str)),
        seen=field("seen"),
        shown=int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 6 else None,
    )


SentDep = Annotated[Sent, Depends(_sent)]


@router.post("/{candidate}/verdict", **lets_in("signed-in"))
async def give_verdict(sent: SentDep) -> Response:
    """Give a verdict on the newest wording."""
    return await _do(sent, "reject", sent.verdict, _decide(sent, sent.verdict))


@router.post("/{candidate}/say", **lets_in("signed-in"))
async def say(sent: SentDep) -> Response:
    """Ask the Validator, or request a change, which is a verdict."""
    if sent.to == "change":
        return await _do(sent, "say", "request_change", _decide(sent, "request_change"))
    return await _do(sent, "say", "question", _ask(sent))


@router.post("/{candidate}/undo", **lets_in("signed-in"))
async def undo(sent: SentDep) -> Response:
    """Take a verdict back."""
    desk = sent.service.desk
    return await _do(sent, "", "undo", desk.undo(sent.candidate, sent.person, seen=sent.seen))


@router.post("/{candidate}/adjudicate", **lets_in("signed-in"))
async def adjudicate(sent: SentDep) -> Response:
    """Decide where reviewers disagree."""
    return await _do(sent, "adjudicate", sent.verdict, _adjudicate(sent))


async def _decide(sent: Sent, verdict: str) -> None:
    desk = sent.service.desk
    await desk.decide(sent.candidate, sent.person, sent.said(verdict), seen=sent.seen)


async def _adjudicate(sent: Sent) -> None:
    said = sent.said(sent.verdict)
    await sent.service.desk.adjudicate(sent.candidate, sent.person, said, seen=sent.seen)


async def _ask(sent: Sent) -> None:
    await sent.service.desk.question(sent.candidate, sent.person, sent.text)


async def _do(sent: Sent, form: str, what: str, deed: Awaitable[object]) -> Response:
    """Do it and show what stands then; where it cannot be done, say why beside what was typed."""
    try:
        await deed
    except BenchFillError as error:
        problem = translated(error)
        if problem.status_code not in {403, 409, 422}:
            raise
        sentence = _in_words(error)
        typed = {"form": form, "text": sent.text, "reasons": sent.reasons}
        return await _answer(sent, sentence, typed=typed, problem=problem)
    if not sent.fragment:
        return RedirectResponse(f"/review/c/{sent.candidate}{sent.chosen.query(done=what)}", 303)
    return await _answer(sent, DONE[what])


async def _answer(
    sent: Sent,
    sentence: str,
    *,
    typed: dict[str, Any] | None = None,
    problem: ProblemError | None = None,
) -> Response:
    view = await sent.service.desk.look(sent.candidate, sent.person)
    status = 200 if problem is None else problem.status_code
    context = await desk_context(
        sent.service, sent.visit, sent.person, view, sent.chosen, sent.shown, typed
    )
    said = {"notice": sentence, "failed": problem is not None}
    if sent.fragment:
        return HTMLResponse(render("state", **context | said), status)
    return await case_page(sent.service, context | said, sent.person, status=status)


def _in_words(error: BenchFillError) -> str:
    message = error.message
    if isinstance(error, InputError) and error.field:
        message = message.removeprefix(f"{error.field}: ")
        if not message.startswith(("say ", "write ", "choose ")):
            message = f"{_NAMES.get(error.field, error.field)}: {message}"
    return message[:1].upper() + message[1:]


@router.get("/{candidate}/state", **lets_in("signed-in"))
async def show_state(  # noqa: PLR0913, PLR0917 - FastAPI names them
    candidate: CandidateId,
    visit: VisitDep,
    person: PersonDep,
    service: ServiceDep,
    chosen: FilterDep,
    r: Annotated[int | None, Query(ge=1, le=10_000)] = None,
) -> Response:
    """Return what has changed on a page, after its stream has said that something did."""
    view = await service.desk.look(candidate, person)
    context = await desk_context(service, visit, person, view, chosen, r)
    return HTMLResponse(render("state_refresh", **context | {"landed": True}))
