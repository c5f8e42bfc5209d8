"""The REST service over real HTTP: uvicorn in a thread, on a real Valkey."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import SecretStr

from benchfill_services.rest.app import create_app
from benchfill_services.rest.server import Server
from benchfill_services.settings import Settings
from benchfill_services.store.api_keys import ROLES, RedisApiKeys
from benchfill_services.store.embedded import client_of
from benchfill_services.store.jobs import JobLease

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi import FastAPI
    from redis.asyncio import Redis

ITEMS = b"".join(
    b'{"id": "i%d", "question": "%d + 1?", "answer": "%d"}\n' % (k, k, k + 1) for k in range(6)
)
RESPONSES = b"model,item,correct\n" + b"".join(
    b"m%d,i%d,%d\n" % (model, item, model > item - 2) for model in range(4) for item in range(6)
)
SCORES = b"model,sums,words,logic\n" + b"".join(
    b"m%d,%d,%d,%d\n" % (k, 10 * k, 7 * k % 60, 90 - 13 * k % 50) for k in range(8)
)
POOL = """\
scoring: numeric
models:
  - {name: m1, model: openai/gpt-4o-mini, api_base: "http://127.0.0.1:9/v1"}
  - {name: m2, model: openai/gpt-4o, api_base: "http://127.0.0.1:9/v1"}
"""
AWAY = """\
models:
  - {name: m1, model: openai/gpt-4o-mini}
  - {name: m2, model: anthropic/claude-x, api_base: "https://u:s3cr3t@models.example.org/v1"}
"""
STRANGERS = "models: [{name: m1, model: openai/x}, {name: unknown, model: openai/y}]\n"
COMPLETING = (
    "models: [{name: m1, model: openai/x, style: completion, parameters: {max_tokens: 8}}]\n"
)
FILL: dict[str, Any] = {"benchmark": "arith", "version": 1, "pool": "here"}


@dataclass
class RestService:
    """A service that runs, and its address."""

    app: FastAPI
    base: str
    keys: dict[str, str] = field(default_factory=dict)

    def client(self, role: str | None = None, **options: Any) -> httpx.Client:
        """Return a client with the key of a role, or without one."""
        headers = {"Authorization": f"Bearer {self.keys[role]}"} if role else {}
        return httpx.Client(base_url=self.base, headers=headers, timeout=30, **options)


async def make_keys(valkey_socket: Path) -> dict[str, str]:
    """Make a key of each role, and one that is revoked."""
    made = {}
    async with client_of(valkey_socket) as redis:
        store = RedisApiKeys(redis)
        for role in ROLES:
            _, secret = await store.create(role, rate_per_minute=100_000)
            made[role] = secret.get_secret_value()
        key, secret = await store.create("admin")
        await store.revoke(key.id)
        made["revoked"] = secret.get_secret_value()
    return made


def pools_folder(folder: Path) -> Path:
    """Write pool files: `here` stays on this machine, `away` does not, `broken` is none."""
    folder.mkdir(exist_ok=True)
    for name, text in (("here", POOL), ("away", AWAY), ("broken", "models: 3\n")):
        (folder / f"{name}.yaml").write_text(text)
    return folder


def settings_of(valkey_socket: Path, folder: Path, **more: Any) -> Settings:
    """Return settings of a service on a running Valkey."""
    return Settings(
        data_dir=folder,
        redis_url=SecretStr(f"unix://{valkey_socket}"),
        pools_dir=pools_folder(folder / "pools"),
        **more,
    )


@contextlib.contextmanager
def serving(settings: Settings, *, anonymous: bool = False) -> Iterator[RestService]:
    """Run a service on a free port until left."""
    app = create_app(settings, anonymous=anonymous)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    server = Server(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started
    try:
        yield RestService(app, f"http://127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


async def rest_at(valkey: Redis, job: str, status: str, result: dict | None = None) -> None:
    """Do what a worker does at the end of a job."""
    lease = await JobLease.acquire(valkey, job, 10_000)
    assert lease is not None
    await lease.update({}, status="running", expected=("queued",))
    await lease.finish(status, result, "")
    await lease.release()
