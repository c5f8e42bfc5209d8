"""The pools that fills may use, and whether their models answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from benchfill.errors import InputError
from benchfill.items import ItemDomain
from benchfill_agents.pool.calls import Caller, CallError, load_litellm
from benchfill_agents.pool.checking import brief_call
from benchfill_agents.pool.config import LOCAL
from benchfill_agents.pool.local import model_file
from benchfill_agents.pool.providers import provider_of, stays_here

from .guarded_route import GuardedRoute, needs
from .pool_files import POOL_ID
from .problem import ProblemError
from .service import Service, ServiceDep

if TYPE_CHECKING:
    from benchfill_agents.pool.config import Pool, PoolModel

router = APIRouter(prefix="/v1/pools", tags=["pools"], route_class=GuardedRoute)
PoolId = Annotated[str, Path(pattern=POOL_ID)]
_AT_ONCE = 8
_SECONDS = 20.0


class PoolModelView(BaseModel):
    """A model of a pool. Keys, addresses and prompts stay on the server."""

    name: str
    model: str = Field(description="litellm id")
    provider: str = Field(description="host that is asked, or litellm's provider")
    local: bool = Field(description="whether what it is asked stays on the server")
    style: Literal["completion", "chat"]


class PoolView(BaseModel):
    """A pool."""

    id: str
    scoring: ItemDomain
    models: list[PoolModelView]


class PoolList(BaseModel):
    """All pools of the service."""

    entries: list[PoolView]
    broken: list[str] = Field(description="pools whose file cannot be used")


class ModelHealth(BaseModel):
    """What came of one call; of the `local` model, which workers start, whether it is installed."""

    model: str
    answers: bool
    seconds: float | None = Field(None, description="null where nothing was called")
    problem: str | None = Field(None, description="why it does not answer")


class PoolHealth(BaseModel):
    """Whether each model of a pool answers."""

    pool: str
    models: list[ModelHealth]


@router.get("", **needs("reader"))
async def list_pools(service: ServiceDep) -> PoolList:
    """List all pools."""
    return await asyncio.to_thread(_all, service)


@router.get("/{pool}", **needs("reader"))
async def get_pool(pool: PoolId, service: ServiceDep) -> PoolView:
    """Return a pool."""
    return _view(pool, await pool_of(service, pool))


@router.post("/{pool}/health", **needs("operator"))
async def check_pool(pool: PoolId, service: ServiceDep) -> PoolHealth:
    """Call each model once, for a few tokens."""
    found = await pool_of(service, pool)
    await asyncio.to_thread(load_litellm)  # its import takes seconds
    places = asyncio.Semaphore(_AT_ONCE)
    caller = Caller()

    async def placed(model: PoolModel) -> ModelHealth:
        async with places:
            return await _called(caller, model)

    try:
        models = await asyncio.gather(*(placed(model) for model in found.models))
    finally:
        await caller.close()
    return PoolHealth(pool=pool, models=list(models))


async def pool_of(service: Service, pool: str) -> Pool:
    """Return a pool. Raises ProblemError (404, or 409 when its file cannot be used)."""
    try:
        found = await asyncio.to_thread(service.pools.read, pool)
    except InputError as error:
        raise ProblemError(409, "broken-pool", error.message) from None
    if found is None:
        said = f"there is no pool {pool}; GET /v1/pools lists them."
        raise ProblemError(404, "not-found", said)
    return found


def _all(service: Service) -> PoolList:
    views, broken = [], []
    for pool in service.pools.ids():
        try:
            found = service.pools.read(pool)
        except InputError:
            broken.append(pool)
            continue
        if found is not None:
            views.append(_view(pool, found))
    return PoolList(entries=views, broken=broken)


def _view(pool: str, found: Pool) -> PoolView:
    models = [
        PoolModelView(
            name=model.name,
            model=model.model,
            provider=provider_of(model),
            local=stays_here(model),
            style=model.style,
        )
        for model in found.models
    ]
    return PoolView(id=pool, scoring=found.scoring, models=models)


async def _called(caller: Caller, model: PoolModel) -> ModelHealth:
    if model.api_base == LOCAL:
        return _local(model)
    try:
        reply = await brief_call(caller, model, seconds=_SECONDS)
    except CallError as error:
        return ModelHealth(model=model.name, answers=False, problem=error.failure.message)
    except InputError as error:
        return ModelHealth(model=model.name, answers=False, problem=error.message)
    return ModelHealth(model=model.name, answers=True, seconds=round(reply.seconds, 3))


def _local(model: PoolModel) -> ModelHealth:
    """See whether the local model is installed; each worker starts it for itself."""
    try:
        model_file(model.local_model)
    except InputError as error:
        return ModelHealth(model=model.name, answers=False, problem=error.message)
    return ModelHealth(model=model.name, answers=True)
