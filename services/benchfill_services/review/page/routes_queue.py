"""The queue: candidates by what they wait for."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from ...rest.service import ServiceDep
from ..desk import Shelf
from ..view import ShownStatus
from .guard import PageRoute, lets_in
from .queue_filter import FilterDep, QueueLinks
from .templates import render
from .visit import PersonDep, VisitDep

router = APIRouter(prefix="/review", include_in_schema=False, route_class=PageRoute)
_ROWS = 50
SHELF_WORDS: Final[dict[Shelf, dict[str, str]]] = {
    "pending": {
        "title": "Pending for me",
        "empty": "Nothing waits for you.",
        "advice": "New candidates come here as soon as a fill has found one "
        "(`benchfill fill`, or POST /v1/fills). Disagreements may need an adjudicator.",
    },
    "waiting": {
        "title": "Waiting for others",
        "empty": "None of your verdicts waits for another one.",
        "advice": "What you have judged rests here until the other reviewers have judged it too.",
    },
    "disagreements": {
        "title": "Disagreements",
        "empty": "Reviewers agree on everything that all have judged.",
        "advice": "Where they do not, an operator who took no part decides here.",
    },
    "decided": {
        "title": "Decided",
        "empty": "No candidate is decided yet.",
        "advice": "What is approved here goes into a new version of its benchmark with "
        "`benchfill merge`.",
    },
}
STATUSES: Final[dict[ShownStatus, str]] = {
    "pending": "needs your verdict",
    "waiting": "waits for others",
    "revising": "change being written",
    "disagreement": "disagreement",
    "approved": "approved",
    "rejected": "rejected",
    "superseded": "superseded",
}


@router.get("", **lets_in("signed-in"))
async def show_queue(  # noqa: PLR0913, PLR0917 - FastAPI names them
    visit: VisitDep,
    person: PersonDep,
    service: ServiceDep,
    chosen: FilterDep,
    shelf: Shelf = "pending",
    before: Annotated[int | None, Query(ge=0, le=10**15)] = None,
) -> HTMLResponse:
    """Show a page of a shelf."""
    cases, following = await service.desk.shelf(
        person, shelf, limit=_ROWS, before=before, benchmark=chosen.benchmark, gap=chosen.gap
    )
    known, _ = await service.benchmarks.list(limit=200)
    page = render(
        "queue",
        visit=visit,
        shelf=shelf,
        shelf_words=SHELF_WORDS,
        sizes=await service.desk.sizes(person),
        cases=cases,
        before=before,
        following=following,
        filter=chosen,
        links=QueueLinks(chosen, shelf, following),
        benchmarks=[one.benchmark for one in known],
        statuses=STATUSES,
    )
    return HTMLResponse(page)
