"""The case of a candidate: every measured one may be reviewed, not only those that fills chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill_agents.messages import Assignment

from ..jobs.record import FillSpec
from ..review.opening import CaseSource, case_for, noted
from ..store.reviews import UnknownCaseError
from ..store.transcript import RedisTranscript
from .candidates import measured_candidate
from .fills import fill_of
from .problem import ProblemError

if TYPE_CHECKING:
    from .service import Service


async def case_of(service: Service, candidate: str) -> None:
    """Make sure that a candidate is under review.

    Raises
    ------
    ProblemError
        404: there is no such candidate.
    UnknownJobError
        There is no such fill.
    """
    reviews = service.desk.reviews
    try:
        await reviews.case(candidate)
    except UnknownCaseError:
        measured = await measured_candidate(service, candidate)
    else:
        return
    job = await fill_of(service, candidate.partition(".")[0])
    if not isinstance(job.spec, FillSpec):
        raise TypeError(job.spec)
    version = await service.benchmarks.get(job.spec.benchmark, job.spec.version)
    said = await RedisTranscript(service.redis, job.id, measured.gap).read()
    opening = next((one for one in said if one["kind"] == "assignment"), None)
    source = CaseSource(
        job=job.id,
        benchmark=version.benchmark,
        version=version.version,
        items_sha256=version.items_sha256,
        responses_sha256=version.responses_sha256,
        **({"writer": None, "prompts": {}} | await noted(service.redis, job.id)),
    )
    case = None
    if opening is not None:
        target = Assignment.model_validate(opening["content"]).target
        case = case_for(source, measured, target)
    if case is None:
        raise ProblemError(404, "not-found", f"the transcript of candidate {candidate} is gone.")
    await reviews.open(case)
