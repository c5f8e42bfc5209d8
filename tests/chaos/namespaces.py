"""Two workers in two network namespaces, one Redis in a third; one worker is cut off for a while.

Run by ``make chaos`` after the soak, as root: it makes namespaces and a bridge, and removes them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill_services.fill_job import fit_files
from benchfill_services.jobs.broker import LANES, broker_of, queue_of
from benchfill_services.jobs.record import RESTING
from benchfill_services.store.benchmark_files import checked_files
from benchfill_services.store.benchmarks import RedisBenchmarks
from benchfill_services.store.connection import connect
from benchfill_services.store.jobs import RedisJobs
from support.arithmetic_world import answer, write_benchmark
from support.job_world import ask
from support.openai_api import Reply
from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis.asyncio import Redis

    from support.openai_api import Request

NET, BRIDGE = "10.77.41", "bf-bridge"
ROOMS = {"bf-redis": 2, "bf-one": 3, "bf-two": 4}
REDIS = f"{NET}.{ROOMS['bf-redis']}"


def ip(*words: str) -> None:
    """Run `ip`."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def network() -> Iterator[None]:
    """Make a bridge and the three namespaces."""
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("addr", "add", f"{NET}.1/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for room, number in ROOMS.items():
            ip("netns", "add", room)
            ip(
                "link",
                "add",
                f"bf-v{number}",
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                room,
            )
            ip("link", "set", f"bf-v{number}", "master", BRIDGE, "up")
            ip("-n", room, "addr", "add", f"{NET}.{number}/24", "dev", "eth0")
            ip("-n", room, "link", "set", "eth0", "up")
            ip("-n", room, "link", "set", "lo", "up")
        yield
    finally:
        for room in ROOMS:
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "del", room)
        with contextlib.suppress(subprocess.CalledProcessError):
            ip("link", "del", BRIDGE)


@dataclass
class Machines:
    """The processes in the namespaces."""

    root: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, room: str, *words: str, **more: str) -> None:
        """Start a command in a namespace."""
        with (self.root / f"{room}.log").open("ab") as log:
            self.running.append(
                subprocess.Popen(
                    ["ip", "netns", "exec", room, *words],
                    env={**os.environ, **more, "OMP_NUM_THREADS": "1"},
                    stdout=log,
                    stderr=log,
                )
            )

    def start_redis(self) -> None:
        """Start the server."""
        (self.root / "redis").mkdir()
        words = ["--bind", REDIS, "--protected-mode", "no", "--appendonly", "yes", "--save", ""]
        self.start("bf-redis", "redis-server", *words, "--dir", str(self.root / "redis"))

    def start_worker(self, room: str) -> None:
        """Start a worker with a data folder of its own."""
        self.start(
            room, sys.executable, "-m", "benchfill_services", "worker", "--threads", "2",
            BENCHFILL_REDIS_URL=f"redis://{REDIS}:6379/0",
            BENCHFILL_DATA_DIR=str(self.root / room),
            BENCHFILL_POOLS_DIR=str(self.root / "pools"),
        )  # fmt: skip

    def end(self) -> None:
        """End all, the server last."""
        for process in reversed(self.running):
            process.terminate()
            process.wait(90)


def slowly(request: Request) -> Reply:
    """Answer after a moment, so that calls are out when the cable is pulled."""
    return Reply(answer(request).text, delay=0.1)


async def run(options: argparse.Namespace, root: Path) -> dict[str, object]:
    """Run the batch; return what is printed."""
    machines = Machines(root)
    with network(), ScriptedServer(host=f"{NET}.1", script=slowly) as provider:
        (root / "benchmark").mkdir()
        (root / "pools").mkdir()
        files = write_benchmark(root / "benchmark", provider.url)
        pool = files.pool.read_text().replace(
            "max_concurrency: 4", "max_concurrency: 4, timeout: 8"
        )
        (root / "pools" / "sums.yaml").write_text(pool)
        fit_files(files.items, files.responses, engine="mcmc", seed=0, data_dir=root / "bf-one")
        shutil.copytree(root / "bf-one", root / "bf-two")  # the fit, which both would make alike
        machines.start_redis()
        try:
            async with connect(f"redis://{REDIS}:6379/0", root / "own", patience=30) as redis:
                checked = checked_files(files.items.read_bytes(), files.responses.read_bytes())
                await RedisBenchmarks(redis).create(
                    checked, name="Sums", benchmark="sums", created_by="chaos"
                )
                aims = [0.56 + 0.15 * n / options.fills for n in range(options.fills)]
                fills = [await ask(redis, at=(aim,)) for aim in aims]
                for room in ("bf-one", "bf-two"):
                    machines.start_worker(room)
                report = await _cut_and_wait(options, redis, fills, provider)
        finally:
            machines.end()
    return report


async def _cut_and_wait(
    options: argparse.Namespace, redis: Redis, fills: list[str], provider: ScriptedServer
) -> dict[str, object]:
    began = time.monotonic()
    while len(provider.records) < 200 and time.monotonic() - began < 120:  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    cut_at = time.time()
    ip("link", "set", f"bf-v{ROOMS['bf-one']}", "down")
    await asyncio.sleep(options.cut)
    ip("link", "set", f"bf-v{ROOMS['bf-one']}", "up")
    jobs = RedisJobs(redis)
    while time.monotonic() - began < options.seconds:
        found = [await jobs.get(fill) for fill in fills]
        if all(job is not None and job.status in RESTING for job in found):
            break
        await asyncio.sleep(1)
    await asyncio.sleep(5)
    broker = broker_of(redis)
    depth = sum([await asyncio.to_thread(broker.do_qsize, queue_of(lane)) for lane in LANES])
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for record in provider.records:
        if record.sent and record.status == 200:
            times[record.key].append((record.received_at, record.finished_at))
    again = [sorted(one) for one in times.values() if len(one) > 1]
    # out when the cable was pulled: the reply went nowhere
    out = [one for one in again if one[0][0] <= cut_at + 1 and one[0][1] >= cut_at - 0.5]
    statuses = Counter(job.status for job in found if job is not None)
    chosen = 0
    for fill in fills:
        result = await jobs.result(fill)
        chosen += sum(one["chosen"] is not None for one in (result or {"fills": []})["fills"])
    return {
        "fills": dict(statuses),
        "candidates": chosen,
        "answers": len(times),
        "asked again, out at the cut": len(out),
        "received bought again": len(again) - len(out),
        "queue depth": depth,
        "seconds": round(time.monotonic() - began),
    }


def main() -> int:
    """Print the table; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fills", type=int, default=10)
    parser.add_argument("--cut", type=float, default=30, help="seconds without a network")
    parser.add_argument("--seconds", type=float, default=240)
    options = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("Network namespaces need root and iproute2; not run.")
        return 0
    root = Path(tempfile.mkdtemp(prefix="benchfill-rooms-"))
    report = asyncio.run(run(options, root))
    print("| two namespaces, one cut off | measured |\n| --- | ---: |")
    for name, value in report.items():
        print(f"| {name} | {value} |")
    broken = set(report["fills"]) != {"completed"} or report["received bought again"]  # type: ignore[call-overload]
    if broken or report["queue depth"] or not report["candidates"]:
        print(f"BROKEN; logs: {root}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
