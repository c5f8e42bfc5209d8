"""How far reviewers agree."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from ..review.agreement import ReviewAgreement, review_agreement
from .guarded_route import GuardedRoute, needs
from .service import ServiceDep

router = APIRouter(prefix="/v1/reviews", tags=["reviews"], route_class=GuardedRoute)


@router.get("/agreement", **needs("operator"))
async def get_agreement(
    service: ServiceDep,
    benchmark: Annotated[
        str | None, Query(min_length=1, max_length=128, description="of this one only")
    ] = None,
) -> ReviewAgreement:
    """Return raw agreement and kappa by benchmark and by reviewer, where all verdicts are in."""
    return await review_agreement(service.desk, benchmark=benchmark)
