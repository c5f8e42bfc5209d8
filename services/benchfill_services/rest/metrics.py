"""Metrics for Prometheus: jobs and spending as they stand in Redis, latencies of this process."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from ..jobs.broker import LANES, NAMESPACE, queue_of
from ..jobs.record import JobStatus
from ..store import keys
from ..store.usage import read_usage, today
from .auth import Caller
from .blindness import ALL_MODELS, is_blind
from .guarded_route import GuardedRoute, needs
from .health import ALIVE_SECONDS
from .service import ServiceDep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .service import Service

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_OF_ROLLOUTS = {"rollouts", "retries"}
router = APIRouter(tags=["operations"], route_class=GuardedRoute)


class RequestMetrics:
    """What this process has measured."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.seconds = Histogram(
            "benchfill_http_request_seconds",
            "Duration of requests until the response begins.",
            ("method", "route", "status"),
            buckets=_BUCKETS,
            registry=self.registry,
        )


class Latency:
    """Middleware that measures how long each request took, by route and status."""

    def __init__(self, app: ASGIApp, measured: RequestMetrics) -> None:
        self._app, self._measured = app, measured

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                # the template, since ids would make as many series as there are fills
                route = getattr(scope.get("route"), "path", None)
                labels = (scope["method"], route, message["status"])
                if route is None:  # anybody may invent paths and methods
                    labels = ("any", "none", message["status"])
                self._measured.seconds.labels(*labels).observe(time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, timed)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    **needs("reader"),
)
async def metrics(request: Request, caller: Caller, service: ServiceDep) -> Response:
    """Return all metrics in the text format of Prometheus; for reviewers with less by model."""
    measured: RequestMetrics = request.app.state.measured
    stored = CollectorRegistry(auto_describe=False)
    stored.register(_Snapshot(await _families(service, blind=is_blind(caller))))
    body = generate_latest(measured.registry) + generate_latest(stored)
    return Response(body, media_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Snapshot(Collector):
    """Metrics that were read from Redis a moment ago."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """See Collector."""
        return self._families


async def _families(service: Service, *, blind: bool) -> list[Metric]:
    redis = service.redis
    statuses = get_args(JobStatus)
    async with redis.pipeline(transaction=False) as pipe:
        for status in statuses:
            pipe.zcard(keys.jobs_by_status(status))
        for lane in LANES:
            pipe.llen(f"{NAMESPACE}:{queue_of(lane)}")
        pipe.zcount(keys.WORKERS, time.time() - ALIVE_SECONDS, "+inf")
        replies: Any = await pipe.execute()
    jobs = GaugeMetricFamily("benchfill_jobs", "Jobs by status.", labels=["status"])
    for status, count in zip(statuses, replies, strict=False):
        jobs.add_metric([status], count)
    depth = GaugeMetricFamily("benchfill_queue_depth", "Messages that wait.", labels=["lane"])
    for lane, count in zip(LANES, replies[len(statuses) :], strict=False):
        depth.add_metric([lane], count)
    workers = GaugeMetricFamily("benchfill_workers", "Workers alive.", value=replies[-1])
    listened = GaugeMetricFamily(
        "benchfill_jobs_watched", "Jobs with listeners on this process.", value=service.hub.watched
    )
    return [jobs, depth, workers, listened, *await _today(service, blind=blind)]


async def _today(service: Service, *, blind: bool) -> list[Metric]:
    """Spending of the day, by model, all API keys together.

    The model with calls beside its rollouts writes items, and they show in its tokens and cost.
    """
    totals: Counter[tuple[str, str]] = Counter()
    kept = [key.id for key in await service.api_keys.list()]
    for key_id in (*kept, "anonymous"):
        for used in await read_usage(service.redis, keys.usage_day(key_id, today())):
            for what, amount in used.model_dump(exclude={"model"}).items():
                whole = blind and what not in _OF_ROLLOUTS
                totals[what, ALL_MODELS if whole else used.model] += amount
    families: dict[str, GaugeMetricFamily] = {}
    for (what, model), amount in totals.items():
        name = f"benchfill_today_{what}"
        family = families.setdefault(
            name, GaugeMetricFamily(name, f"{what} since midnight UTC.", labels=["model"])
        )
        family.add_metric([model], amount)
    return list(families.values())
