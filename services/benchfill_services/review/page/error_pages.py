"""What went wrong, in words: a page, or a sentence that htmx puts in place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastapi.sse import format_sse_event
from starlette.responses import HTMLResponse, Response

from .templates import render

if TYPE_CHECKING:
    from starlette.requests import Request

    from ...rest.problem import ProblemError
    from .visit import Visit

_TITLES = {
    401: "Signed out",
    403: "Not allowed",
    404: "Not found",
    409: "Not possible now",
    413: "Too large",
    422: "Something is missing",
    429: "Too often",
    503: "The store does not answer",
}


def wants_fragment(request: Request) -> bool:
    """Whether htmx asks, and puts the answer into the page."""
    return request.headers.get("hx-request") == "true"


def wants_stream(request: Request) -> bool:
    """Whether an EventSource asks."""
    return request.headers.get("accept", "").startswith("text/event-stream")


def ended_stream() -> Response:
    """Tell an EventSource not to ask again; it would go on asking after any error."""
    return Response(format_sse_event(data_str="", event="end"), media_type="text/event-stream")


async def error_answer(request: Request, problem: ProblemError) -> Response:
    """Say what went wrong, and give back what was typed."""
    visit: Visit = request.state.visit
    sentence = problem.detail[:1].upper() + problem.detail[1:]
    headers = dict(problem.headers or {})
    if wants_stream(request):
        return Response(status_code=problem.status_code, headers=headers)
    if wants_fragment(request):
        headers |= {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"}
        if problem.kind == "stale-form":
            headers["HX-Trigger"] = json.dumps({"review:csrf": visit.csrf})
        text = render("notice", sentence=sentence, signed_out=problem.kind == "signed-out")
        return HTMLResponse(text, problem.status_code, headers)
    typed = ""
    if request.method == "POST":
        given = (await request.form()).get("text")
        typed = given if isinstance(given, str) else ""
    page = render(
        "error",
        visit=visit,
        title=_TITLES.get(problem.status_code, "Something went wrong"),
        sentence=sentence,
        typed=typed,
        signed_out=problem.kind == "signed-out",
    )
    return HTMLResponse(page, problem.status_code, headers)
