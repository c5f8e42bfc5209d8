"""Jobs on real workers: a provider, a benchmark, the embedded Valkey that all processes share."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchfill_services.fill_job import fit_files
from benchfill_services.jobs.broker import enqueue
from benchfill_services.jobs.record import RESTING, FillSpec, Job
from benchfill_services.store.benchmark_files import checked_files
from benchfill_services.store.benchmarks import RedisBenchmarks
from benchfill_services.store.connection import connect
from benchfill_services.store.jobs import RedisJobs
from support.arithmetic_world import answer, write_benchmark
from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from redis.asyncio import Redis

SMALL = {"max_gaps": 1, "rewriter": "template", "anchors": False, "rounds": 2}


@dataclass
class JobWorld:
    """A data folder with a benchmark whose fit is kept, a pool, and a provider."""

    folder: Path
    provider: ScriptedServer

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Redis]:
        """Open the embedded Valkey, with the benchmark `sums` in it."""
        async with connect(None, self.data) as redis:
            benchmarks = RedisBenchmarks(redis)
            if not await redis.exists("benchfill:benchmark:sums"):
                files = self.folder / "benchmark"
                checked = checked_files(
                    (files / "items.jsonl").read_bytes(), (files / "responses.csv").read_bytes()
                )
                await benchmarks.create(checked, name="Sums", benchmark="sums", created_by="test")
            yield redis

    @contextmanager
    def worker(self, *, threads: int = 2) -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker process; SIGTERM at the end if it still runs."""
        environment = {
            **os.environ,
            "BENCHFILL_DATA_DIR": str(self.data),
            "BENCHFILL_POOLS_DIR": str(self.folder / "pools"),
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("BENCHFILL_REDIS_URL", None)
        with (self.folder / "worker.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "benchfill_services", "worker", "--threads", str(threads)],
                env=environment,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(60)

    def log(self) -> str:
        """Return what the workers said."""
        return (self.folder / "worker.log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def job_world(folder: Path) -> Iterator[JobWorld]:
    """Make the world; its fit is made here, once."""
    (folder / "benchmark").mkdir()
    (folder / "pools").mkdir()
    with ScriptedServer(script=answer) as provider:
        files = write_benchmark(folder / "benchmark", provider.url)
        (folder / "pools" / "sums.yaml").write_bytes(files.pool.read_bytes())
        fit_files(files.items, files.responses, engine="mcmc", seed=0, data_dir=folder / "data")
        yield JobWorld(folder, provider)


async def ask(redis: Redis, *, queued: bool = True, **spec: Any) -> str:
    """Ask for a fill; return its id."""
    wanted = FillSpec(benchmark="sums", version=1, pool="sums", **{**SMALL, **spec})
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    job = Job(
        id=uuid.uuid4().hex,
        kind="fill",
        spec=wanted,
        created_at=now,
        updated_at=now,
        created_by="test",
    )
    await RedisJobs(redis).create(job)
    if queued:
        await enqueue(redis, job.id, wanted.lane)
    return job.id


async def until(
    redis: Redis, job: str, reached: Callable[[Job], bool] | None = None, seconds: float = 120
) -> Job:
    """Wait until a job rests, or until something else is true of it."""
    deadline = time.monotonic() + seconds
    jobs = RedisJobs(redis)
    while True:
        found = await jobs.get(job)
        assert found is not None
        if reached(found) if reached is not None else found.status in RESTING:
            return found
        assert time.monotonic() < deadline, f"still {found.status}"
        await asyncio.sleep(0.1)
