"""Who judges a fill: refused when unknown, taken from the settings, and told before it is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.rest_service import FILL, ITEMS, POOL, RESPONSES, make_keys, serving, settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx
    from redis.asyncio import Redis

JUDGES = "judges: [{name: wise, model: openai/gpt-4o, api_base: 'https://judges.example.org/v1'}]\n"


@pytest.fixture
async def judged(valkey: Redis, valkey_socket: Path, tmp_path: Path) -> AsyncIterator[httpx.Client]:
    """An operator of a service whose settings name the judge `wise`, which one pool has."""
    settings = settings_of(valkey_socket, tmp_path, judge="wise")
    (tmp_path / "pools" / "judged.yaml").write_text(POOL + JUDGES)
    with serving(settings) as service:
        service.keys |= await make_keys(valkey_socket)
        with service.client("operator") as client:
            for name, local in (("arith", "false"), ("secret", "true")):
                given = {"id": name, "name": "A", "local_only": local}
                files = {"items": ("i", ITEMS), "responses": ("r.csv", RESPONSES)}
                reply = client.post("/v1/benchmarks", data=given, files=files)
                assert reply.status_code == 201, reply.text
            yield client


@pytest.mark.parametrize(
    ("asked", "judge"),
    [
        ({"pool": "judged"}, "wise"),
        ({"pool": "here"}, None),  # the settings' judge is not in every pool
        ({"pool": "judged", "judge": "none"}, None),
        ({"pool": "judged", "judge": "m2"}, "m2"),
    ],
)
async def test_who_judges_is_settled_when_the_fill_is_made(
    judged: httpx.Client, asked: dict[str, Any], judge: str | None
) -> None:
    reply = judged.post("/v1/fills", json=FILL | asked)
    assert reply.status_code == 202, reply.text
    assert reply.json()["spec"]["judge"] == judge


async def test_an_unknown_judge_is_refused(judged: httpx.Client) -> None:
    reply = judged.post("/v1/fills", json=FILL | {"pool": "judged", "judge": "solomon"})
    assert reply.status_code == 422
    (error,) = reply.json()["errors"]
    assert (error["path"], error["message"]) == ("judge", "the pool has m1, m2, wise.")


async def test_a_judge_elsewhere_is_told_and_kept_from_local_items(judged: httpx.Client) -> None:
    asked = FILL | {"pool": "judged"}
    plan = judged.post("/v1/fills", params={"dry_run": "1"}, json=asked).json()
    sees = {one["provider"]: one["sees"] for one in plan["providers"]}
    assert sees["judges.example.org"] == (
        "every child that passes the checks of its form, with its answer"
    )
    assert plan["usd_at_most"] is None
    refused = judged.post("/v1/fills", json=asked | {"benchmark": "secret"})
    assert refused.status_code == 422
    assert "judges.example.org" in refused.text
