"""Transcripts of candidates: as JSON what the fill's agents said, as a file all one may see."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from ..review.rules import Person
from ..review.transcript import as_jsonl, as_markdown, transcript_of
from ..store.transcript import RedisTranscript
from .auth import Caller
from .candidates import CandidateId, candidate_of
from .guarded_route import GuardedRoute, needs
from .service import ServiceDep

router = APIRouter(prefix="/v1/candidates", tags=["candidates"], route_class=GuardedRoute)
_TEXT = {"schema": {"type": "string"}}


class Transcript(BaseModel):
    """What the agents said about the candidate's gap, oldest first."""

    fill: str
    gap: str
    messages: list[dict[str, Any]]


@router.get(
    "/{candidate}/transcript",
    response_model=Transcript,
    responses={200: {"content": {"text/markdown": _TEXT, "application/jsonl": _TEXT}}},
    **needs("reader"),
)
async def get_transcript(
    candidate: CandidateId,
    caller: Caller,
    service: ServiceDep,
    format: Annotated[  # noqa: A002 - the name of the parameter
        Literal["json", "markdown", "jsonl"],
        Query(
            description="json: what the fill's agents said; markdown and jsonl: all that you may "
            "see, verdicts too"
        ),
    ] = "json",
) -> Transcript | Response:
    """Return what was said about a candidate."""
    if format == "json":
        found = await candidate_of(service, candidate)
        messages = await RedisTranscript(service.redis, found.fill, found.gap).read()
        return Transcript(fill=found.fill, gap=found.gap, messages=messages)
    person = Person.of(caller)
    view, entries = await transcript_of(service.redis, service.desk, candidate, person)
    text = as_markdown(view, entries) if format == "markdown" else as_jsonl(entries)
    kind, suffix = (
        ("text/markdown", "md") if format == "markdown" else ("application/jsonl", format)
    )
    headers = {
        "Content-Disposition": f'attachment; filename="{candidate}.{suffix}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(text, media_type=kind, headers=headers)
