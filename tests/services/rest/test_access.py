"""Nobody without the right key changes or sees anything, at any endpoint of the document."""

from __future__ import annotations

import asyncio
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from redis import Redis

from benchfill_services.rest.app import create_app
from benchfill_services.settings import Settings
from benchfill_services.store.api_keys import ROLES
from support.rest_service import FILL, ITEMS, RESPONSES, SCORES, make_keys, serving, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.rest_service import RestService

OPEN = {("get", "/healthz"), ("get", "/readyz")}
VALUES = {
    "benchmark": "arith",
    "version": "1",
    "other": "1",
    "fill": "0" * 32,
    "candidate": f"{'0' * 32}.gap-1.{'0' * 16}",
    "pool": "here",
    "day": "2026-01-01",
}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/v1/benchmarks"): {
        "data": {"name": "B"},
        "files": {"items": ITEMS, "responses": RESPONSES},
    },
    ("post", "/v1/benchmarks/{benchmark}/versions"): {
        "files": {"items": ITEMS, "responses": RESPONSES}
    },
    ("post", "/v1/fills"): {"json": FILL},
    ("post", "/v1/suites"): {"files": {"scores": SCORES}},
    ("post", "/v1/candidates/{candidate}/reviews"): {"json": {"verdict": "approve"}},
    ("post", "/v1/candidates/{candidate}/adjudication"): {"json": {"verdict": "approve"}},
    ("post", "/v1/candidates/{candidate}/questions"): {"json": {"text": "Why?"}},
}


@functools.cache
def operations() -> list[tuple[str, str, str]]:
    document = create_app(Settings(data_dir=Path("/nonexistent"))).openapi()
    return [
        (method, path, operation.get("x-role", ""))
        for path, found in document["paths"].items()
        for method, operation in found.items()
    ]


GUARDED = [one for one in operations() if one[:2] not in OPEN]


def ask(client: httpx.Client, method: str, path: str) -> httpx.Response:
    query = {"fill": "0" * 32} if path == "/v1/candidates" else {}
    filled = re.sub(r"{(\w+)}", lambda found: VALUES[found[1]], path)
    return client.request(method, filled, params=query, **BODIES.get((method, path), {}))


def test_only_health_is_open() -> None:
    assert {one[:2] for one in operations() if one[2] not in ROLES} == OPEN


@pytest.fixture(scope="module")
def service(valkey_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """One service for all: starting one for each endpoint would take a minute."""
    with Redis(unix_socket_path=str(valkey_socket)) as redis:
        redis.flushall()
    with serving(settings_of(valkey_socket, tmp_path_factory.mktemp("rest"))) as started:
        started.keys |= asyncio.run(make_keys(valkey_socket))
        with started.client("operator") as client:
            files = {"items": ITEMS, "responses": RESPONSES}
            made = client.post("/v1/benchmarks", data={"id": "arith", "name": "A"}, files=files)
            assert made.status_code == 201
        yield started


@pytest.fixture
def contents(valkey_socket: Path) -> Iterator[Callable[[], dict[bytes, Any]]]:
    """Return all that is kept but for the times of use and the counts of requests."""
    with Redis(unix_socket_path=str(valkey_socket)) as client:

        def read() -> dict[bytes, Any]:
            names = [
                name
                for name in sorted(client.keys("*"))
                if name != b"benchfill:api_keys:used" and not name.startswith(b"benchfill:limits")
            ]
            return {name: client.dump(name) for name in names}

        yield read


@pytest.mark.parametrize(("method", "path", "role"), GUARDED, ids=" ".join)
def test_a_wrong_key_opens_nothing(method, path, role, service, contents) -> None:
    before = contents()
    lesser = ROLES[ROLES.index(role) - 1] if role != "reader" else None
    secret = service.keys["admin"]
    attempts = [
        ({}, 401, "no-key"),
        ({"Authorization": "Basic YTpi"}, 401, "no-key"),
        ({"Authorization": f"Bearer {secret[:-1]}"}, 401, "wrong-key"),
        ({"Authorization": f"Bearer {secret[:-1]}é".encode()}, 401, "wrong-key"),
        ({"Authorization": f"Bearer {service.keys['revoked']}"}, 401, "wrong-key"),
    ]
    if lesser is not None:
        attempts.append(({"Authorization": f"Bearer {service.keys[lesser]}"}, 403, "wrong-role"))
    for headers, status, kind in attempts:
        with httpx.Client(base_url=service.base, headers=headers) as client:
            reply = ask(client, method, path)
        assert reply.status_code == status, reply.text
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json()["type"] == f"urn:benchfill:problem:{kind}"
        assert ("www-authenticate" in reply.headers) == (status == 401)
        assert secret[20:] not in reply.text
    assert contents() == before


@pytest.mark.parametrize(("method", "path", "role"), GUARDED, ids=" ".join)
def test_the_right_role_passes(method, path, role, service) -> None:
    with service.client(role) as client:
        assert ask(client, method, path).status_code not in {401, 403, 405, 500}
