"""Forty fills on three workers while everything around them dies; run by ``make chaos``.

Workers are killed every few seconds, the Redis server is killed twice and stopped for ten seconds,
one of two API processes dies, and the provider has bad days. Printed at the end: whether all fills
ended, whether a candidate was lost, and whether an answer that was received was bought again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill_services.jobs.broker import LANES, broker_of, queue_of
from benchfill_services.store import keys
from benchfill_services.store.connection import connect
from benchfill_services.store.ledger import RedisLedgerStore
from benchfill_services.store.spools import collect
from chaos.bad_days import BadDays, seed_of
from support.arithmetic_world import write_benchmark
from support.redis_server import RedisServer, free_port
from support.scripted_server import ScriptedServer

RESTING = {"completed", "budget_exhausted", "cancelled", "failed"}
CALLS_AT_A_TIME = 12 * 4
"""Models of the pool, times the calls to each that may be out."""


@dataclass
class World:
    """All processes of a run, and where they keep their things."""

    root: Path
    redis: RedisServer
    pools: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    apis: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    worker_kills: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """Environment of workers and API."""
        return {
            **os.environ,
            "BENCHFILL_REDIS_URL": self.redis.url,
            "BENCHFILL_DATA_DIR": str(self.root / "data"),
            "BENCHFILL_POOLS_DIR": str(self.pools),
            "OMP_NUM_THREADS": "1",
        }

    def tell(self, what: str) -> None:
        """Note what was done to whom, and when."""
        self.told.append(what)
        print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command of ours; what it says goes to a log."""
        with (self.root / "processes.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "benchfill_services", *words],
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    def start_worker(self) -> None:
        """Start one more worker."""
        self.workers.append(self.start("worker", "--threads", "2"))

    def start_api(self) -> None:
        """Start one more API process."""
        port = free_port()
        process = self.start("serve", "--port", str(port))
        self.apis.append((f"http://127.0.0.1:{port}", process))

    def end(self) -> list[int]:
        """End what is left by SIGTERM; return the exit codes of the workers."""
        for _, process in self.apis:
            process.terminate()
        for process in self.workers:
            process.terminate()
        codes = [process.wait(90) for process in self.workers]
        for _, process in self.apis:
            process.wait(30)
        return codes


class Client:
    """Asks whichever API process answers."""

    def __init__(self, world: World, key: str) -> None:
        self._world = world
        self._headers = {"Authorization": f"Bearer {key}"}

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        """Ask until one of them answers; a 5xx while Redis is away is asked again."""
        headers = self._headers | more.pop("headers", {})
        deadline = time.monotonic() + 120
        said = ""
        while time.monotonic() < deadline:
            for base, process in list(self._world.apis):
                if process.poll() is not None:
                    continue
                try:
                    async with httpx.AsyncClient(timeout=15) as client:
                        reply = await client.request(method, base + path, headers=headers, **more)
                except httpx.HTTPError as error:
                    said = repr(error)
                    continue
                if reply.status_code < 500 and reply.status_code != 429:
                    reply.raise_for_status()
                    return reply.json()
                said = reply.text
            await asyncio.sleep(0.5)
        raise TimeoutError(f"{method} {path}: {said}")


async def submit(client: Client, folder: Path, url: str, count: int) -> list[str]:
    """Upload the benchmark, ask for the fills, one half of them small."""
    files = write_benchmark(folder, url)
    await client.ask(
        "POST",
        "/v1/benchmarks",
        data={"id": "sums", "name": "Sums"},
        files={
            "items": ("items.jsonl", files.items.read_bytes()),
            "responses": ("responses.csv", files.responses.read_bytes()),
        },
    )
    made = []
    for number in range(count):
        spec = {
            "benchmark": "sums",
            "version": 1,
            "pool": "sums",
            # every aim twice: two fills then want the same answers
            "at": [round(0.56 + 0.22 * (number // 2) / count, 4)],
            "rewriter": "template",
            "anchors": False,
            "rounds": 2,
            "budget": {"rollouts": 1_000 if number % 2 else 4_000},
        }
        fill = await client.ask(
            "POST", "/v1/fills", json=spec, headers={"Idempotency-Key": f"soak-{number}"}
        )
        made.append(fill["id"])
    return made


async def torment(world: World, rng: random.Random, seconds: float) -> None:
    """Kill, restart and cut off, by a plan that hangs on the seed only."""
    began = time.monotonic()
    plan = {0.25: "redis dies", 0.4: "redis is cut off", 0.55: "an API dies", 0.7: "redis dies"}
    while time.monotonic() - began < seconds:
        await asyncio.sleep(rng.uniform(5, 11))
        share = (time.monotonic() - began) / seconds
        due = [at for at in plan if at <= share]
        if due:
            what = plan.pop(due[0])
            world.tell(what)
            if what == "redis dies":
                world.redis.kill()
                await asyncio.sleep(2)
                await asyncio.to_thread(world.redis.start)
            elif what == "redis is cut off":
                os.kill(world.redis.pid, signal.SIGSTOP)
                await asyncio.sleep(10)
                os.kill(world.redis.pid, signal.SIGCONT)
            else:
                world.apis[0][1].kill()
                world.apis[0][1].wait()
        victim = rng.choice([one for one in world.workers if one.poll() is None])
        victim.kill()
        victim.wait()
        world.workers.remove(victim)
        world.worker_kills += 1
        world.tell(f"worker {victim.pid} killed")
        world.start_worker()


async def finished(client: Client, ids: list[str], deadline: float) -> dict[str, dict[str, Any]]:
    """Wait until all fills rest; return what the API says of each."""
    fills: dict[str, dict[str, Any]] = {}
    while time.monotonic() < deadline:
        for fill in ids:
            if fills.get(fill, {}).get("status") not in RESTING:
                fills[fill] = await client.ask("GET", f"/v1/fills/{fill}")
        if all(one["status"] in RESTING for one in fills.values()):
            break
        await asyncio.sleep(2)
    return fills


async def judge(
    world: World, client: Client, fills: dict[str, dict[str, Any]], days: BadDays, records: Any
) -> dict[str, Any]:
    """Count what was lost and what was bought twice."""
    statuses: dict[str, int] = {}
    candidates_lost = candidates = 0
    async with connect(world.redis.url, world.root / "data") as redis:
        await collect(world.root / "data", redis, RedisLedgerStore(redis))
        lost: dict[int, int] = {}
        for fill, record in fills.items():
            statuses[record["status"]] = statuses.get(record["status"], 0) + 1
            for digest in await redis.smembers(keys.job_lost(fill)):
                for replies in range(4):
                    lost[seed_of(str(digest), replies)] = 1
            if record["status"] != "completed":
                continue
            report = await client.ask("GET", f"/v1/fills/{fill}/report")
            chosen = {one["chosen"]["item"] for one in report["fills"] if one["chosen"]}
            page = await client.ask("GET", f"/v1/candidates?fill={fill}&limit=200")
            shown = {one["item"]["id"] for one in page["entries"] if one["item"]}
            candidates += len(chosen)
            candidates_lost += len(chosen - shown)
        in_flight_lost = sum([await redis.scard(keys.job_lost(fill)) for fill in fills])
        broker = broker_of(redis)
        depth = sum([await asyncio.to_thread(broker.do_qsize, queue_of(lane)) for lane in LANES])
    counts = days.answered(records)
    twice = {key: count for key, count in counts.items() if count > 1}
    unexplained = {key: count for key, count in twice.items() if key[1] not in lost}
    for _, _, key in unexplained:
        when = [(one.received_at, one.finished_at) for one in records if one.key == key]
        world.tell(f"bought again: {when}")
    return {
        "fills": statuses,
        "candidates": candidates,
        "candidates_lost": candidates_lost,
        "answers": len(counts),
        "bought_twice": len(twice),
        "received_bought_again": len(unexplained),
        "in_flight_lost": in_flight_lost,
        "in_flight_bound": world.worker_kills * CALLS_AT_A_TIME * 3,
        "worker_kills": world.worker_kills,
        "queue_depth": depth,
        "troubles": dict(days.troubles),
    }


def orphans(root: Path) -> list[str]:
    """Return the commands of processes that still use the run's folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(root).encode() in (process / "environ").read_bytes():
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if str(os.getpid()) != process.name and "redis-server" not in command:
                    found.append(command)
    return found


async def soak(options: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Run it all."""
    days = BadDays(options.seed, delay=0.05)
    (root / "pools").mkdir()
    (root / "benchmark").mkdir()
    with (
        RedisServer(root / "redis") as redis,
        ScriptedServer(script=days) as provider,
    ):
        world = World(root, redis, root / "pools")
        made = await asyncio.to_thread(
            subprocess.run,
            [
                sys.executable, "-m", "benchfill_services", "keys", "create", "--role", "operator",
                "--rate", "1000000", "--json",
            ],
            env=world.environment, capture_output=True, check=True,
        )  # fmt: skip
        client = Client(world, json.loads(made.stdout)["api_key"])
        files = write_benchmark(root / "benchmark", provider.url)
        pool = files.pool.read_text().replace(
            "max_concurrency: 4", "max_concurrency: 4, timeout: 12"
        )
        (root / "pools" / "sums.yaml").write_text(pool)
        try:
            report = await run(world, client, options, days, provider)
        finally:
            codes = world.end()
        report["worker_exit_codes"] = codes
        await asyncio.sleep(1)
        report["orphans"] = orphans(root)
    return report


async def run(
    world: World,
    client: Client,
    options: argparse.Namespace,
    days: BadDays,
    provider: ScriptedServer,
) -> dict[str, Any]:
    """Start everything, ask for the fills, torment, wait, judge."""
    for _ in range(2):
        world.start_api()
    for _ in range(3):
        world.start_worker()
    began = time.monotonic()
    ids = await submit(client, world.root / "benchmark", provider.url, options.fills)
    world.tell(f"{len(ids)} fills asked for")
    rng = random.Random(options.seed)
    tormenting = asyncio.create_task(torment(world, rng, options.torment))
    fills = await finished(client, ids, began + options.seconds)
    ended = time.monotonic() - began
    tormenting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await tormenting
    await asyncio.sleep(6)  # messages of jobs that were busy are taken from the queue
    report = await judge(world, client, fills, days, provider.records)
    report["seconds"] = round(ended)
    return report


def main() -> int:
    """Run the soak and print its table; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fills", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--torment", type=float, default=240, help="seconds of kills")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="benchfill-chaos-"))
    report = asyncio.run(soak(options, root))
    print("| what | measured |\n| --- | ---: |")
    for name, value in report.items():
        print(f"| {name.replace('_', ' ')} | {value} |")
    broken = [
        name
        for name, wrong in {
            "all fills end": set(report["fills"]) - {"completed", "budget_exhausted"},
            "candidates are found": report["candidates"] < options.fills / 2,
            "no candidate is lost": report["candidates_lost"],
            "nothing received is bought again": report["received_bought_again"],
            "no more is lost than was in flight": report["in_flight_lost"]
            > report["in_flight_bound"],
            "the queue is empty": report["queue_depth"],
            "no process is left": report["orphans"],
        }.items()
        if wrong
    ]
    print(f"\nlogs: {root}", file=sys.stderr)
    if broken:
        print(f"BROKEN: {'; '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
