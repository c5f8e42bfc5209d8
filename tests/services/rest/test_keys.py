"""API keys: revoked at once, counted, and said nowhere."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import httpx

from benchfill_services.store.api_keys import RedisApiKeys
from support.rest_service import FILL, ITEMS, RESPONSES, serving, settings_of

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from support.rest_service import RestService


async def test_a_key_is_revoked_at_once(rest: RestService, valkey: Redis) -> None:
    store = RedisApiKeys(valkey)
    key, secret = await store.create("reader")
    headers = {"Authorization": f"Bearer {secret.get_secret_value()}"}
    with httpx.Client(base_url=rest.base, headers=headers) as client:
        assert client.get("/v1/fills").status_code == 200
        used = {one.id: one for one in await store.list()}[key.id]
        assert used.last_used_at is not None
        await store.revoke(key.id)
        assert client.get("/v1/fills").status_code == 401


async def test_who_asks_too_often_waits(rest: RestService, valkey: Redis) -> None:
    _, secret = await RedisApiKeys(valkey).create("reader", rate_per_minute=3)
    headers = {"Authorization": f"Bearer {secret.get_secret_value()}"}
    with httpx.Client(base_url=rest.base, headers=headers) as client:
        replies = [client.get("/v1/fills") for _ in range(4)]
    assert [one.status_code for one in replies] == [200, 200, 200, 429]
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
    with rest.client("reader") as other:
        assert other.get("/v1/fills").status_code == 200


async def test_a_key_is_kept_and_said_nowhere(
    rest: RestService, arith, valkey: Redis, caplog, capfd
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = rest.keys["operator"].split("_", 2)[2]
    with rest.client("operator") as client:
        replies = [
            client.get("/v1/fills"),
            client.get("/v1/pools"),
            client.get("/metrics"),
            client.post("/v1/fills", json=FILL),
            client.post("/v1/fills", json=FILL | {"rounds": canary}),
            client.post("/v1/fills", content=canary, headers={"Content-Type": "application/json"}),
            client.get("/v1/fills", params={"cursor": canary}),
            client.get("/v1/fills", params={"limit": canary}),
            client.delete("/v1/benchmarks/arith"),
        ]
    assert [one.status_code for one in replies] == [200, 200, 200, 202, 422, 422, 422, 422, 403]
    out, err = capfd.readouterr()
    logged = [one.getMessage() for one in caplog.records if not one.name.startswith("http")]
    kept = []
    for name in await valkey.keys("*"):
        kind = await valkey.type(name)
        read = {"hash": valkey.hgetall, "string": valkey.get, "stream": valkey.xrange}
        if kind in read:
            kept.append(repr(await read[kind](name)))
    assert any(rest.keys["operator"].split("_")[1] in one for one in kept)  # its id is
    for text in (*(one.text for one in replies), *logged, out, err, *kept):
        assert canary not in text


def test_without_keys_everybody_may_do_everything(valkey, valkey_socket, tmp_path) -> None:
    with (
        serving(settings_of(valkey_socket, tmp_path), anonymous=True) as service,
        service.client() as client,
    ):
        files = {"items": ITEMS, "responses": RESPONSES}
        made = client.post("/v1/benchmarks", data={"name": "A"}, files=files)
        assert made.status_code == 201
        assert made.json()["created_by"] == "anonymous"
