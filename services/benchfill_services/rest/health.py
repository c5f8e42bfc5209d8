"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

import time
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from redis.exceptions import RedisError

from ..store.keys import WORKERS
from .service import ServiceDep

ALIVE_SECONDS = 15
router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """What the service stands on."""

    ready: bool
    redis: bool = Field(description="whether the store answers")
    workers: int = Field(description="workers with a sign of life in the last 15 s")


@router.get("/healthz")
async def healthz() -> Health:
    """Say that the process lives."""
    return Health()


@router.get("/readyz", responses={503: {"model": Readiness}})
async def readyz(service: ServiceDep, response: Response) -> Readiness:
    """Say whether requests can be served; without a worker they are, but fills wait."""
    try:
        workers = int(await service.redis.zcount(WORKERS, time.time() - ALIVE_SECONDS, "+inf"))
    except RedisError:
        response.status_code = 503
        return Readiness(ready=False, redis=False, workers=0)
    return Readiness(ready=True, redis=True, workers=workers)
