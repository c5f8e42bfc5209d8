"""Candidates: children that a fill has measured for a gap, while it runs and afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from benchfill.items import Item
from benchfill_agents.calibrator import Calibration
from benchfill_agents.fill_report import FillReport

from ..jobs.record import FillSpec
from ..report.candidates import Candidate as MeasuredChild
from ..report.candidates import candidates_of, measured_so_far
from ..review.case import CANDIDATE
from ..review.opening import candidate_id
from ..store.transcript import RedisTranscript
from .fills import fill_of
from .guarded_route import GuardedRoute, needs
from .pagination import Before, Limit, Page, page
from .problem import ProblemError
from .service import ServiceDep

if TYPE_CHECKING:
    from .service import Service

router = APIRouter(prefix="/v1/candidates", tags=["candidates"], route_class=GuardedRoute)
CandidateId = Annotated[
    str,
    Path(pattern=CANDIDATE, description="fill, gap and item"),
]


class Provenance(BaseModel):
    """Where a candidate came from."""

    parent: str | None = Field(description="id of the item it was made from")
    rewriter: str | None
    target_z: float | None
    what_changed: str | None
    rationale: str | None
    round: int | None


class Candidate(BaseModel):
    """A measured child as one gap sees it. All text in it is untrusted."""

    id: str
    fill: str
    gap: str
    item: Item | None = Field(description="null when its transcript is gone")
    chosen: bool = Field(description="whether it fills the gap")
    calibration: Calibration
    provenance: Provenance


@dataclass(frozen=True)
class _Place:
    fill: str
    gap: str
    item: str  # the first 16 hex digits of its id's SHA-256, since ids may hold anything

    @classmethod
    def of(cls, candidate: str) -> _Place:
        return cls(*candidate.split("."))


@router.get("", **needs("reader"))
async def list_candidates(
    service: ServiceDep,
    before: Before,
    fill: Annotated[str, Query(pattern="^[0-9a-f]{32}$", description="the fill they are of")],
    limit: Limit = 50,
    chosen: Annotated[
        bool | None, Query(description="only those that fill their gap, or not")
    ] = None,
) -> Page[Candidate]:
    """List a fill's candidates, the last measured first."""
    found = await _all_of(service, fill)
    numbered = [(number, one) for number, one in enumerate(found) if chosen in {None, one.chosen}][
        ::-1
    ]
    shown = [pair for pair in numbered if before is None or pair[0] < before]
    following = shown[limit - 1][0] if len(shown) > limit else None
    return page([one for _, one in shown[:limit]], following)


@router.get("/{candidate}", **needs("reader"))
async def get_candidate(candidate: CandidateId, service: ServiceDep) -> Candidate:
    """Return a candidate."""
    return await candidate_of(service, candidate)


async def candidate_of(service: Service, candidate: str) -> Candidate:
    """Return a candidate. Raises UnknownJobError or ProblemError (404)."""
    fill = _Place.of(candidate).fill
    return _view(fill, await measured_candidate(service, candidate))


async def measured_candidate(service: Service, candidate: str) -> MeasuredChild:
    """Return all that is known of a candidate. Raises UnknownJobError or ProblemError (404)."""
    place = _Place.of(candidate)
    for one in await _measured(service, place.fill):
        if candidate_id(place.fill, one.gap, one.calibration.item) == candidate:
            return one
    raise ProblemError(404, "not-found", f"there is no candidate {candidate}.")


async def _all_of(service: Service, fill: str) -> list[Candidate]:
    return [_view(fill, one) for one in await _measured(service, fill)]


async def _measured(service: Service, fill: str) -> list[MeasuredChild]:
    """Return a fill's candidates, gap by gap in the order they were measured."""
    job = await fill_of(service, fill)
    if not isinstance(job.spec, FillSpec):
        raise TypeError(job.spec)
    gaps = [f"gap-{k + 1}" for k in range(len(job.spec.at) or job.spec.max_gaps)]
    transcripts = {gap: await RedisTranscript(service.redis, fill, gap).read() for gap in gaps}
    report = await service.jobs.result(fill)
    by_gap = (
        measured_so_far(transcripts)
        if report is None
        else candidates_of(FillReport.model_validate(report), transcripts)
    )
    return [one for gap in gaps for one in by_gap.get(gap, ())]


def _view(fill: str, measured: MeasuredChild) -> Candidate:
    return Candidate(
        id=candidate_id(fill, measured.gap, measured.calibration.item),
        fill=fill,
        gap=measured.gap,
        item=measured.item,
        chosen=measured.chosen,
        calibration=measured.calibration,
        provenance=Provenance.model_validate(measured.line()["provenance"]),
    )
