"""What the endpoints work with, made once when the service starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis

from ..review.agent_jobs import RedisAgentJobs
from ..review.desk import ReviewDesk
from ..settings import Settings
from ..store.api_keys import RedisApiKeys
from ..store.benchmarks import RedisBenchmarks
from ..store.jobs import RedisJobs
from .event_hub import EventHub
from .pool_files import PoolFiles
from .rate_limits import RateLimits
from .version_contents import VersionContents


@dataclass(frozen=True)
class Service:
    """The store, and what is kept in this process."""

    redis: Redis
    settings: Settings
    anonymous: bool
    api_keys: RedisApiKeys
    benchmarks: RedisBenchmarks
    jobs: RedisJobs
    desk: ReviewDesk
    pools: PoolFiles
    hub: EventHub
    rate_limits: RateLimits
    contents: VersionContents

    @classmethod
    def of(cls, redis: Redis, settings: Settings, *, anonymous: bool) -> Service:
        """Make it of an open store."""
        return cls(
            redis=redis,
            settings=settings,
            anonymous=anonymous,
            api_keys=RedisApiKeys(redis),
            benchmarks=RedisBenchmarks(redis),
            jobs=RedisJobs(redis),
            desk=ReviewDesk(
                redis,
                needed=settings.reviews_needed,
                agents=RedisAgentJobs(
                    redis, needed=settings.reviews_needed, rollouts=settings.review_rollouts
                ),
            ),
            pools=PoolFiles(settings.pools_dir),
            hub=EventHub(redis),
            rate_limits=RateLimits(redis),
            contents=VersionContents(redis, settings.data_dir),
        )


def service_of(request: Request) -> Service:
    """Return the service of a request's application."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]
