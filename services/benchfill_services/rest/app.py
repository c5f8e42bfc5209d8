"""The application: its parts put together."""

from __future__ import annotations

import contextlib
import importlib.metadata
from typing import TYPE_CHECKING

from fastapi import FastAPI

from ..review.page.routes import router as review_page
from ..store.connection import connect
from .benchmarks import router as benchmarks
from .candidates import router as candidates
from .diagnosis import router as diagnosis
from .diffs import router as diffs
from .event_hub import running
from .events import router as events
from .exports import router as exports
from .fills import router as fills
from .health import router as health
from .merges import router as merges
from .metrics import Latency, RequestMetrics
from .metrics import router as metrics
from .openapi import describe
from .pools import router as pools
from .problem import add_handlers
from .review_agreement import router as agreement
from .reviews import router as reviews
from .service import Service
from .size_limit import SizeLimit
from .suites import router as suites
from .transcripts import router as transcripts
from .usage import router as usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ..settings import Settings

_ROUTERS = (
    *(benchmarks, exports, diagnosis, merges, diffs),
    *(fills, events, candidates, transcripts, reviews, agreement),
    *(suites, pools, usage, health, metrics, review_page),
)


def create_app(settings: Settings, *, anonymous: bool = False) -> FastAPI:
    """Return the application; `anonymous` lets everybody do everything, for loopback only."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        url = settings.redis_url.get_secret_value() if settings.redis_url else None
        async with connect(url, settings.data_dir) as redis:
            app.state.service = Service.of(redis, settings, anonymous=anonymous)
            async with running(app.state.service.hub):
                yield

    app = FastAPI(
        title="BenchFill",
        version=importlib.metadata.version("benchfill"),
        summary="Find the holes in a benchmark's difficulty coverage and fill them.",
        lifespan=lifespan,
        docs_url=None,  # the pages would fetch their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.measured = RequestMetrics()
    for router in _ROUTERS:
        app.include_router(router)
    add_handlers(app)
    describe(app)
    app.add_middleware(SizeLimit, upload_bytes=settings.max_upload_bytes)
    app.add_middleware(Latency, measured=app.state.measured)
    return app
