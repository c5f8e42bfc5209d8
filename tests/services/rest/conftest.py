"""The service, and a key of each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.rest_service import ITEMS, RESPONSES, RestService, make_keys, serving, settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    import httpx
    from redis.asyncio import Redis


@pytest.fixture
async def rest(valkey: Redis, valkey_socket: Path, tmp_path: Path) -> AsyncIterator[RestService]:
    with serving(settings_of(valkey_socket, tmp_path)) as service:
        service.keys |= await make_keys(valkey_socket)
        yield service


@pytest.fixture
def operator(rest: RestService) -> Iterator[httpx.Client]:
    with rest.client("operator") as client:
        yield client


@pytest.fixture
def arith(operator: httpx.Client) -> dict:
    """A benchmark of six items."""
    files = {"items": ("../../x", ITEMS), "responses": ("r.csv", RESPONSES)}
    reply = operator.post("/v1/benchmarks", data={"id": "arith", "name": "A"}, files=files)
    assert reply.status_code == 201, reply.text
    return reply.json()
