"""The page of a candidate, its transcript, and its texts in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from ...rest.problem import ProblemError
from ...rest.service import Service, ServiceDep
from ..case import CANDIDATE
from .case_page import Against, case_context, item_text, revision_of
from .csp import TEXT_HEADERS
from .guard import PageRoute, lets_in
from .invisible import encodable, visible
from .messages import Place, entries_html, full_text
from .queue_filter import FilterDep, QueueFilter
from .routes_queue import STATUSES
from .templates import fragment, render
from .timeline import ENTRY_ID, WINDOW, Timeline, Window
from .visit import PersonDep, VisitDep

if TYPE_CHECKING:
    from ..rules import Person
    from ..view import CaseView
    from .visit import Visit

router = APIRouter(prefix="/review/c", include_in_schema=False, route_class=PageRoute)
CandidateId = Annotated[str, Path(pattern=CANDIDATE)]
EntryId = Annotated[str, Query(pattern=ENTRY_ID)]
_Number = Annotated[int, Path(ge=1, le=10_000)]
DONE = {
    "approve": "Approved.",
    "reject": "Rejected.",
    "request_change": "Your change is requested.",
    "undo": "Your verdict is taken back.",
    "question": "Asked. The answer comes into the transcript.",
}
NOTHING_TYPED = {"form": "", "text": "", "reasons": ()}


async def desk_context(  # noqa: PLR0913, PLR0917 - what a page is made of
    service: Service,
    visit: Visit,
    person: Person,
    view: CaseView,
    chosen: QueueFilter,
    shown: int | None = None,
    typed: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what the templates of the desk need; `shown` is the revision on the page."""
    previous, following = await service.desk.reviews.beside(
        view.id, person.id, benchmark=chosen.benchmark, gap=chosen.gap
    )
    return {
        "visit": visit,
        "view": view,
        "revision": revision_of(view, shown) or view.latest,
        "beside": {"previous": previous, "next": following},
        "query": chosen.query(),
        "statuses": STATUSES,
        "typed": typed or NOTHING_TYPED,
        "landed": False,
    }


async def case_page(  # noqa: PLR0913 - what a page is made of
    service: Service,
    context: dict[str, Any],
    person: Person,
    *,
    against: Against = "parent",
    at: str | None = None,
    status: int = 200,
) -> HTMLResponse:
    """Render the page of a case."""
    view: CaseView = context["view"]
    timeline = await Timeline.of(service.redis, service.desk, view, person)
    drawn = await _around(timeline, at, view) if at else None
    said = [one.id for one in timeline.said if one.id[0] == "t"]
    after = f"{await timeline.last_of_fill()}_{said[-1][1:] if said else '0-0'}"
    page = render(
        "case",
        **context | await case_context(view, context["revision"], against),
        window=drawn or _drawn(await timeline.newest(), view),
        stream=f"/review/c/{view.id}/stream?after={after}&seen={view.seen}",
    )
    return HTMLResponse(page, status)


async def _around(timeline: Timeline, at: str, view: CaseView) -> dict[str, Any] | None:
    """Draw what stands around a message: less of it where all is too large for a page."""
    for count in (WINDOW, 9):
        window = await timeline.around(at, count)
        drawn = None if window is None else _drawn(window, view)
        if window is None or drawn is None or len(drawn["entries"]) == len(window.entries):
            break
    return drawn


def _drawn(window: Window, view: CaseView, *, newest: bool = True) -> dict[str, Any]:
    """Return a window as HTML: the newest or the oldest of it that a page has room for."""
    made = entries_html(window.entries, Place.of(view), newest=newest)
    shown = window.entries[-len(made) :] if newest else window.entries[: len(made)]
    cut = len(made) < len(window.entries)
    return {
        "entries": made,
        "earlier": window.earlier or (cut and newest),
        "later": window.later or (cut and not newest),
        "first": shown[0].id if shown else "",
        "last": shown[-1].id if shown else "",
    }


@router.get("/{candidate}", **lets_in("signed-in"))
async def show_case(  # noqa: PLR0913, PLR0917 - FastAPI names them
    candidate: CandidateId,
    visit: VisitDep,
    person: PersonDep,
    service: ServiceDep,
    chosen: FilterDep,
    at: Annotated[str | None, Query(pattern=ENTRY_ID)] = None,
    against: Against = "parent",
    done: Annotated[str, Query(max_length=20)] = "",
) -> HTMLResponse:
    """Show the newest wording of a candidate; the reviewer's clock starts."""
    view = await service.desk.look(candidate, person, begin=True)
    context = await desk_context(service, visit, person, view, chosen)
    context |= {"notice": DONE.get(done, ""), "failed": False}
    return await case_page(service, context, person, against=against, at=at)


@router.get("/{candidate}/r/{number:int}", **lets_in("signed-in"))
async def show_revision(  # noqa: PLR0913, PLR0917 - FastAPI names them
    candidate: CandidateId,
    number: _Number,
    visit: VisitDep,
    person: PersonDep,
    service: ServiceDep,
    chosen: FilterDep,
    against: Against = "parent",
) -> HTMLResponse:
    """Show one wording of a candidate."""
    view = await service.desk.look(candidate, person)
    if revision_of(view, number) is None:
        raise ProblemError(404, "not-found", f"this candidate has no revision {number}.")
    if number == view.latest.number:
        await service.desk.look(candidate, person, begin=True)
    context = await desk_context(service, visit, person, view, chosen, number)
    return await case_page(service, context, person, against=against)


@router.get("/{candidate}/r/{number:int}.txt", **lets_in("signed-in"))
async def revision_text(
    candidate: CandidateId, number: _Number, person: PersonDep, service: ServiceDep
) -> Response:
    """Return a wording in full."""
    found = revision_of(await service.desk.look(candidate, person), number)
    if found is None:
        raise ProblemError(404, "not-found", f"this candidate has no revision {number}.")
    more = (("What was changed", found.what_changed), ("Why", found.rationale))
    return _plain(item_text(found.item, *more))


@router.get("/{candidate}/parent.txt", **lets_in("signed-in"))
async def parent_text(candidate: CandidateId, person: PersonDep, service: ServiceDep) -> Response:
    """Return the parent in full."""
    parent = (await service.desk.look(candidate, person)).parent
    if parent is None:
        raise ProblemError(404, "not-found", "the parent's text is gone.")
    return _plain(item_text(parent))


@router.get("/{candidate}/message/{entry}.txt", **lets_in("signed-in"))
async def message_text(
    candidate: CandidateId,
    entry: Annotated[str, Path(pattern=ENTRY_ID)],
    person: PersonDep,
    service: ServiceDep,
) -> Response:
    """Return a message in full."""
    view = await service.desk.look(candidate, person)
    found = await (await Timeline.of(service.redis, service.desk, view, person)).find(entry)
    if found is None:
        raise ProblemError(404, "not-found", "there is no such message.")
    return _plain(full_text(found))


@router.get("/{candidate}/earlier", **lets_in("signed-in"))
async def earlier_messages(
    candidate: CandidateId, before: EntryId, person: PersonDep, service: ServiceDep
) -> Response:
    """Return what comes before a message, for the page that asks for it."""
    view = await service.desk.look(candidate, person)
    timeline = await Timeline.of(service.redis, service.desk, view, person)
    return _messages(_drawn(await timeline.before(before), view) | {"later": False}, candidate)


@router.get("/{candidate}/later", **lets_in("signed-in"))
async def later_messages(
    candidate: CandidateId, after: EntryId, person: PersonDep, service: ServiceDep
) -> Response:
    """Return what comes after a message, for the page that asks for it."""
    view = await service.desk.look(candidate, person)
    timeline = await Timeline.of(service.redis, service.desk, view, person)
    drawn = _drawn(await timeline.after(after), view, newest=False)
    return _messages(drawn | {"earlier": False}, candidate)


def _messages(drawn: dict[str, Any], candidate: str) -> Response:
    return HTMLResponse(fragment("transcript", "entries", drawn, candidate))


def _plain(text: str) -> Response:
    return PlainTextResponse(visible(encodable(text)), headers=TEXT_HEADERS)
