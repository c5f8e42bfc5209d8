"""What model calls took: by fill, and by API key and day."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from ..store.keys import usage_day, usage_job
from ..store.usage import ModelUsage, read_usage
from .fills import fill_of
from .guarded_route import GuardedRoute, needs
from .pagination import Before, Limit, Page, page
from .problem import wrong_field
from .service import ServiceDep

if TYPE_CHECKING:
    from ..jobs.record import Job
    from .service import Service

router = APIRouter(prefix="/v1/usage", tags=["usage"], route_class=GuardedRoute)
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


class FillUsage(BaseModel):
    """What a fill took so far."""

    fill: str
    benchmark: str
    created_by: str
    cost: float = Field(description="US dollars, of the answers whose price is known")
    models: list[ModelUsage]


class KeyUsage(BaseModel):
    """What the fills of an API key took on a day."""

    key: str = Field(description="id of the API key, or `anonymous`")
    cost: float
    models: list[ModelUsage]


class DayUsage(BaseModel):
    """What all fills took on a day (UTC)."""

    day: str
    entries: list[KeyUsage]


@router.get("", **needs("reader"))
async def list_usage(
    service: ServiceDep,
    before: Before,
    limit: Limit = 50,
    fill: Annotated[
        str | None, Query(pattern="^[0-9a-f]{32}$", description="only of this fill")
    ] = None,
) -> Page[FillUsage]:
    """List what fills took, by model, the newest fill first."""
    if fill is not None:
        return page([await _of(service, await fill_of(service, fill))], None)
    jobs, following = await service.jobs.list(limit=limit, before=before)
    return page([await _of(service, job) for job in jobs], following)


@router.get("/days/{day}", **needs("reader"))
async def day_usage(
    day: Annotated[str, Path(pattern=_DAY, json_schema_extra={"format": "date"})],
    service: ServiceDep,
) -> DayUsage:
    """Return what a day's model calls took, by API key and model."""
    try:
        date.fromisoformat(day)
    except ValueError:
        raise wrong_field("path", "day", "is no date; write 2026-11-30.") from None
    known = [key.id for key in await service.api_keys.list()]
    entries = []
    for key_id in (*known, "anonymous"):
        models = list(await read_usage(service.redis, usage_day(key_id, day)))
        if models:
            cost = sum(one.cost for one in models)
            entries.append(KeyUsage(key=key_id, cost=cost, models=models))
    return DayUsage(day=day, entries=entries)


async def _of(service: Service, job: Job) -> FillUsage:
    models = list(await read_usage(service.redis, usage_job(job.id)))
    return FillUsage(
        fill=job.id,
        benchmark=job.spec.benchmark,
        created_by=job.created_by,
        cost=sum(one.cost for one in models),
        models=models,
    )
