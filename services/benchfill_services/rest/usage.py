"""What model calls took: by fill, and by API key and day."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from ..store.keys import usage_day, usage_job
from ..store.usage import ModelUsage, read_usage
from .auth import Caller
from .blindness import is_blind, summed
from .fills import fill_of
from .guarded_route import GuardedRoute, needs
from .pagination import Before, Limit, Page, page
from .problem import wrong_field
from .service import ServiceDep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..jobs.record import Job
    from ..store.api_keys import ApiKey
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
    caller: Caller,
    service: ServiceDep,
    before: Before,
    limit: Limit = 50,
    fill: Annotated[
        str | None, Query(pattern="^[0-9a-f]{32}$", description="only of this fill")
    ] = None,
) -> Page[FillUsage]:
    """List what fills took, by model, the newest fill first; all models summed for reviewers."""
    if fill is not None:
        return page([await _of(service, await fill_of(service, fill), caller)], None)
    jobs, following = await service.jobs.list(limit=limit, before=before)
    return page([await _of(service, job, caller) for job in jobs], following)


@router.get("/days/{day}", **needs("reader"))
async def day_usage(
    day: Annotated[str, Path(pattern=_DAY, json_schema_extra={"format": "date"})],
    caller: Caller,
    service: ServiceDep,
) -> DayUsage:
    """Return what a day's model calls took, by API key and model; for reviewers, by their own."""
    try:
        date.fromisoformat(day)
    except ValueError:
        raise wrong_field("path", "day", "is no date; write 2026-11-30.") from None
    # calls of another reviewer's key would say that they asked the agents for something
    known = [caller.id] if is_blind(caller) else [*await _keys(service), "anonymous"]
    entries = []
    for key_id in known:
        models = _shown(await read_usage(service.redis, usage_day(key_id, day)), caller)
        if models:
            cost = sum(one.cost for one in models)
            entries.append(KeyUsage(key=key_id, cost=cost, models=models))
    return DayUsage(day=day, entries=entries)


async def _keys(service: Service) -> list[str]:
    return [key.id for key in await service.api_keys.list()]


def _shown(models: Sequence[ModelUsage], caller: ApiKey) -> list[ModelUsage]:
    return summed(models) if is_blind(caller) else list(models)


async def _of(service: Service, job: Job, caller: ApiKey) -> FillUsage:
    models = _shown(await read_usage(service.redis, usage_job(job.id)), caller)
    return FillUsage(
        fill=job.id,
        benchmark=job.spec.benchmark,
        created_by=job.created_by,
        cost=sum(one.cost for one in models),
        models=models,
    )
