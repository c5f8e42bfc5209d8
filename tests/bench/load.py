"""The REST service under load, printed as a table; run by ``make load``.

One API process on a real redis-server with append-only persistence, beside a bare FastAPI endpoint
on the same uvicorn in the same run. Loopback only. Nothing is bought: no worker runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill_services.store.connection import connect
from benchfill_services.store.events import RedisEvents
from support.arithmetic_world import write_benchmark
from support.redis_server import RedisServer, free_port

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

CONNECTIONS = 50
BARE = """
import fastapi, sys, uvicorn
app = fastapi.FastAPI()
@app.get("/bare")
async def bare() -> dict[str, str]:
    return {"status": "queued"}
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
"""


@contextmanager
def process(words: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server as long as it is needed."""
    started = subprocess.Popen([sys.executable, *words], env=environment, stderr=subprocess.DEVNULL)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(30)


async def ready(session: aiohttp.ClientSession, url: str) -> None:
    """Wait until a server answers."""
    for _ in range(600):
        try:
            async with session.get(url):
                return
        except aiohttp.ClientError:
            await asyncio.sleep(0.1)
    raise TimeoutError(url)


async def measure(name: str, seconds: float, ask: Callable[[], Awaitable[int]]) -> None:
    """Ask on fifty connections for some seconds; print the latencies."""
    took: list[float] = []
    wrong = 0
    until = time.perf_counter() + seconds

    async def one() -> None:
        nonlocal wrong
        while time.perf_counter() < until:
            began = time.perf_counter()
            status = await ask()
            took.append(time.perf_counter() - began)
            wrong += status >= 400

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    p50, p99 = np.quantile(took, [0.5, 0.99]) * 1e3
    print(f"| {name} | {len(took) / seconds:.0f} | {p50:.1f} | {p99:.1f} | {wrong} |", flush=True)


def memory(pid: int) -> float:
    """Return the resident memory of a process, MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise ValueError(pid)


async def listeners(
    session: aiohttp.ClientSession, url: str, fill: str, store: tuple[str, Path], pid: int
) -> None:
    """Let a thousand listeners follow one fill, and tell them a hundred events."""
    before = memory(pid)
    heard = [0] * 1000

    async def listen(number: int) -> None:
        async with session.get(url) as reply:
            async for line in reply.content:
                heard[number] += line.startswith(b"id:")

    tasks = [asyncio.create_task(listen(number)) for number in range(len(heard))]
    await asyncio.sleep(10)
    async with connect(*store) as redis:
        events = RedisEvents(redis, fill)
        began = time.perf_counter()
        for number in range(100):
            await events.append("rollouts", {"received": number})
            await asyncio.sleep(0.05)
        while min(heard) < 100 and time.perf_counter() - began < 60:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    took = time.perf_counter() - began
    after = memory(pid)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(
        f"\n1,000 listeners of one fill: 100 events in 5 s reached all after {took:.1f} s "
        f"(fewest heard {min(heard)}); memory of the API {before:.0f} MB, then {after:.0f} MB."
    )


async def queued(session: aiohttp.ClientSession, base: str, spec: dict[str, Any]) -> None:
    """Queue ten thousand fills; print how long the last ones and the pages of the list take."""
    async with session.get(f"{base}/v1/fills?limit=1"):
        pass
    took: list[float] = []
    gate = asyncio.Semaphore(CONNECTIONS)

    async def post() -> None:
        async with gate:
            began = time.perf_counter()
            async with session.post(f"{base}/v1/fills", json=spec) as reply:
                assert reply.status == 202, await reply.text()
            took.append(time.perf_counter() - began)

    await asyncio.gather(*(post() for _ in range(10_000)))
    first, last = (np.median(part) * 1e3 for part in (took[:1000], took[-1000:]))
    pages, cursor = [], ""
    for _ in range(20):
        began = time.perf_counter()
        async with session.get(f"{base}/v1/fills?limit=50{cursor}") as reply:
            page = await reply.json()
        pages.append(time.perf_counter() - began)
        cursor = f"&cursor={page['next_cursor']}"
    print(
        f"\n10,000 fills queued: POST at {CONNECTIONS} connections {first:.1f} ms for the first "
        f"thousand, {last:.1f} ms for the last; a page of 50 {np.median(pages) * 1e3:.1f} ms."
    )


async def run(seconds: float, root: Path, redis: RedisServer) -> None:
    """Start the servers, measure."""
    environment = {
        **os.environ,
        "BENCHFILL_REDIS_URL": redis.url,
        "BENCHFILL_DATA_DIR": str(root / "data"),
        "BENCHFILL_POOLS_DIR": str(root / "pools"),
        "OMP_NUM_THREADS": "1",
    }
    made = await asyncio.to_thread(
        subprocess.run,
        [
            sys.executable, "-m", "benchfill_services", "keys", "create", "--role", "operator",
            "--rate", "1000000", "--json",
        ],
        env=environment, capture_output=True, check=True,
    )  # fmt: skip
    key = json.loads(made.stdout)["api_key"]
    (root / "pools").mkdir()
    (root / "benchmark").mkdir()
    files = write_benchmark(root / "benchmark", "http://127.0.0.1:9/v1")
    (root / "pools" / "sums.yaml").write_bytes(files.pool.read_bytes())
    ports = free_port(), free_port()
    connector = aiohttp.TCPConnector(limit=2000)
    headers = {"Authorization": f"Bearer {key}"}
    with (
        process(["-c", BARE, str(ports[0])], environment),
        process(["-m", "benchfill_services", "serve", "--port", str(ports[1])], environment) as api,
    ):
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            bare, base = (f"http://127.0.0.1:{port}" for port in ports)
            await ready(session, f"{bare}/bare")
            await ready(session, f"{base}/healthz")
            form = aiohttp.FormData({"id": "sums", "name": "Sums"})
            form.add_field("items", files.items.read_bytes(), filename="items.jsonl")
            form.add_field("responses", files.responses.read_bytes(), filename="responses.csv")
            async with session.post(f"{base}/v1/benchmarks", data=form) as reply:
                assert reply.status == 201, await reply.text()
            spec = {"benchmark": "sums", "version": 1, "pool": "sums", "rewriter": "template"}
            async with session.post(f"{base}/v1/fills", json=spec) as reply:
                fill = (await reply.json())["id"]

            async def get(url: str) -> int:
                async with session.get(url) as reply:
                    await reply.read()
                    return reply.status

            async def post() -> int:
                async with session.post(f"{base}/v1/fills", json=spec) as reply:
                    await reply.read()
                    return reply.status

            print("| at 50 connections | requests/s | p50, ms | p99, ms | errors |")
            print("| --- | ---: | ---: | ---: | ---: |")
            await measure("bare FastAPI endpoint", seconds, lambda: get(f"{bare}/bare"))
            await measure("GET a fill", seconds, lambda: get(f"{base}/v1/fills/{fill}"))
            await measure("POST a fill", seconds, post)
            events = f"{base}/v1/fills/{fill}/events"
            await listeners(session, events, fill, (redis.url, root / "data"), api.pid)
            await queued(session, base, spec)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="benchfill-load-"))
    with RedisServer(root / "redis") as redis:
        asyncio.run(run(options.seconds, root, redis))


if __name__ == "__main__":
    main()
