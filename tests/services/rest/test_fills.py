"""Fills over REST: made once, bounded by budgets, cancelled and resumed."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchfill_services.jobs.broker import NAMESPACE, queue_of
from benchfill_services.store import keys
from benchfill_services.store.api_keys import RedisApiKeys
from benchfill_services.store.jobs import JobLease
from support.rest_service import FILL, ITEMS, RESPONSES, rest_at

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from support.rest_service import RestService


def test_a_fill_is_made_queued_and_found(operator: httpx.Client, arith) -> None:
    reply = operator.post("/v1/fills", json=FILL | {"at": [0.25], "budget": {"rollouts": 100}})
    assert reply.status_code == 202
    fill = reply.json()
    assert reply.headers["location"] == f"/v1/fills/{fill['id']}"
    assert (fill["status"], fill["spec"]["at"], fill["spec"]["rounds"]) == ("queued", [0.25], 8)
    assert operator.get(reply.headers["location"]).json() == fill
    report = operator.get(f"/v1/fills/{fill['id']}/report")
    assert report.status_code == 409
    assert report.json()["detail"].endswith(
        "has no report: it is queued; it has one once it rests."
    )


async def test_a_fill_that_failed_says_so_instead_of_a_report(operator, arith, valkey) -> None:
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    await rest_at(valkey, fill, "failed")
    said = operator.get(f"/v1/fills/{fill}/report").json()["detail"]
    assert said == (
        f"fill {fill} failed without a report: no reason is known; resume it to try again."
    )


async def test_a_small_fill_has_a_lane_of_its_own(operator, arith, valkey: Redis) -> None:
    operator.post("/v1/fills", json=FILL)
    for rollouts in (100, 2000, 2001):
        operator.post("/v1/fills", json=FILL | {"budget": {"rollouts": rollouts}})
    assert await valkey.llen(f"{NAMESPACE}:{queue_of('small')}") == 2
    assert await valkey.llen(f"{NAMESPACE}:{queue_of('large')}") == 2


def test_the_same_request_makes_one_fill(rest: RestService, operator, arith) -> None:
    headers = {"Idempotency-Key": "nightly-1"}
    with ThreadPoolExecutor(8) as threads:
        replies = list(
            threads.map(lambda _: operator.post("/v1/fills", json=FILL, headers=headers), range(16))
        )
    assert {one.status_code for one in replies} == {202}
    assert len({one.json()["id"] for one in replies}) == 1
    assert len(operator.get("/v1/fills").json()["entries"]) == 1
    other = operator.post("/v1/fills", json=FILL | {"rounds": 3}, headers=headers)
    assert other.status_code == 422
    assert other.json()["errors"][0]["path"] == "Idempotency-Key"
    with rest.client("admin") as admin:  # a key of its own
        assert admin.post("/v1/fills", json=FILL, headers=headers).status_code == 202
    assert len(operator.get("/v1/fills").json()["entries"]) == 2


def test_lists_are_filtered_and_paged(operator: httpx.Client, arith) -> None:
    files = {"items": ITEMS, "responses": RESPONSES}
    operator.post("/v1/benchmarks", data={"id": "other", "name": "O"}, files=files)
    made = [
        operator.post("/v1/fills", json=FILL | {"benchmark": name}).json()["id"]
        for name in ("arith", "other", "arith", "arith")
    ]
    operator.post(f"/v1/fills/{made[0]}/cancel")

    def listed(**query: Any) -> list[int]:
        seen: list[int] = []
        while True:
            page = operator.get("/v1/fills", params={"limit": 1} | query).json()
            seen += [made.index(one["id"]) for one in page["entries"]]
            if page["next_cursor"] is None:
                return seen
            query["cursor"] = page["next_cursor"]

    assert listed() == [3, 2, 1, 0]
    assert listed(benchmark="arith") == [3, 2, 0]
    assert listed(status="cancelled") == [0]
    assert listed(status="queued", benchmark="arith") == [3, 2]
    assert listed(benchmark="none") == []


async def test_a_spent_budget_is_raised_and_the_fill_goes_on(operator, arith, valkey) -> None:
    fill = operator.post("/v1/fills", json=FILL | {"budget": {"rollouts": 100}}).json()["id"]
    path = f"/v1/fills/{fill}"
    assert operator.post(f"{path}/resume").status_code == 409
    await rest_at(valkey, fill, "budget_exhausted", {"fills": []})
    assert operator.get(f"{path}/report").json() == {"fills": []}
    assert operator.post(f"{path}/cancel").status_code == 409
    for lower in ({"rollouts": 99}, {"rollouts": 200, "usd": 1.0}):
        refused = operator.post(f"{path}/resume", json={"budget": lower})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["path"].startswith("budget.")
    resumed = operator.post(f"{path}/resume", json={"budget": {"rollouts": 5000}})
    assert resumed.status_code == 202
    assert resumed.json()["status"] == "queued"
    assert resumed.json()["spec"]["budget"]["rollouts"] == 5000
    assert await valkey.llen(f"{NAMESPACE}:{queue_of('large')}") == 1
    await rest_at(valkey, fill, "completed")
    assert operator.post(f"{path}/resume").status_code == 409


async def test_a_running_fill_is_asked_to_end(operator, arith, valkey: Redis) -> None:
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    lease = await JobLease.acquire(valkey, fill, 10_000)
    await lease.update({}, status="running", expected=("queued",))
    said = operator.post(f"/v1/fills/{fill}/cancel")
    assert said.status_code == 202
    assert (said.json()["status"], said.json()["cancel_requested"]) == ("running", True)
    assert await lease.renew() == "cancel"


def test_what_is_local_only_stays_here(operator: httpx.Client) -> None:
    files = {"items": ITEMS, "responses": RESPONSES}
    data = {"id": "secret", "name": "S", "local_only": "true"}
    assert operator.post("/v1/benchmarks", data=data, files=files).json()["local_only"]
    fill = FILL | {"benchmark": "secret"}
    refused = operator.post("/v1/fills", json=fill | {"pool": "away"})
    assert refused.status_code == 422
    assert refused.json()["type"] == "urn:benchfill:problem:local-only"
    assert "models.example.org, openai;" in refused.json()["detail"]
    assert "s3cr3t" not in refused.text
    assert operator.get("/v1/fills").json()["entries"] == []
    assert operator.post("/v1/fills", json=fill).status_code == 202


async def test_a_dry_run_says_what_it_costs_and_does_nothing(operator, arith, valkey) -> None:
    await asyncio.sleep(0)
    before = await valkey.dbsize()
    query = {"dry_run": "true"}
    plan = operator.post(
        "/v1/fills", params=query, json=FILL | {"pool": "away"}, headers={"Idempotency-Key": "x"}
    )
    assert plan.status_code == 200, plan.text
    said = plan.json()
    # 3 gaps x (8 rounds x 16 children + 2 borders) x 480, and 8 anchors x 15 x 2 models
    assert said["rollouts_at_most"] == 3 * (8 * 16 + 2) * 480 + 8 * 15 * 2
    assert (said["rollouts_expected"], said["usd_at_most"], said["earlier_fills"]) == (
        None,
        None,
        0,
    )
    assert [one["provider"] for one in said["providers"]] == ["models.example.org", "openai"]
    assert "anchor items" in said["providers"][0]["sees"]
    prices = {one["model"]: one["usd_per_million_prompt_tokens"] for one in said["prices"]}
    assert prices["m1"] > 0
    assert prices["m2"] is None
    assert "s3cr3t" not in plan.text
    assert await valkey.dbsize() <= before + 1  # the count of requests
    here = operator.post("/v1/fills", params=query, json=FILL | {"budget": {"rollouts": 10}}).json()
    assert (here["rollouts_at_most"], here["usd_at_most"]) == (10, 0)


async def test_earlier_fills_tell_what_to_expect(operator, arith, valkey: Redis) -> None:
    for rollouts, cost in ((300, 0.3), (500, 0.5)):
        fill = operator.post("/v1/fills", json=FILL | {"max_gaps": 2}).json()["id"]
        await valkey.hset(keys.usage_job(fill), "m1:cost", cost)
        report = {"fills": [{}, {}], "rollouts_total": rollouts}
        await rest_at(valkey, fill, "completed", report)
    plan = operator.post("/v1/fills", params={"dry_run": "1"}, json=FILL | {"pool": "here"}).json()
    assert (plan["rollouts_expected"], plan["earlier_fills"]) == (600, 2)  # 200 a gap
    assert plan["usd_expected"] == 0  # a pool on this machine
    assert plan["gaps_at_most"] == 3


@pytest.fixture
async def bounded(rest: RestService, valkey: Redis) -> Any:
    """A client whose key may use 1,000 rollouts a day."""
    _, secret = await RedisApiKeys(valkey).create("operator", daily_rollouts=1000)
    headers = {"Authorization": f"Bearer {secret.get_secret_value()}"}
    with httpx.Client(base_url=rest.base, headers=headers) as client:
        yield client


def of(rollouts: int) -> dict[str, Any]:
    return FILL | {"budget": {"rollouts": rollouts}}


async def test_the_days_budget_is_promised_before_it_is_spent(bounded, arith, valkey) -> None:
    refused = bounded.post("/v1/fills", json=FILL)
    assert refused.status_code == 403
    assert "set budget.rollouts" in refused.json()["detail"]
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: bounded.post("/v1/fills", json=of(300)), range(8)))
    assert sorted(one.status_code for one in replies) == [202] * 3 + [403] * 5
    refused = next(one for one in replies if one.status_code == 403)
    assert refused.json()["detail"].startswith("100 of this API key's daily budget is left")
    assert len(bounded.get("/v1/fills").json()["entries"]) == 3

    # one ends with 50 used: 250 come back
    fills = [one.json()["id"] for one in replies if one.status_code == 202]
    await valkey.hset(keys.usage_job(fills[0]), mapping={"m1:rollouts": 30, "a:b:rollouts": 20})
    await rest_at(valkey, fills[0], "budget_exhausted")
    assert bounded.post("/v1/fills", json=of(351)).status_code == 403
    # and goes on: what it used counts for it, not twice
    raised = {"budget": {"rollouts": 401}}
    assert bounded.post(f"/v1/fills/{fills[0]}/resume", json=raised).status_code == 403
    raised = {"budget": {"rollouts": 400}}
    assert bounded.post(f"/v1/fills/{fills[0]}/resume", json=raised).status_code == 202
    assert bounded.post("/v1/fills", json=of(1)).status_code == 403


async def test_the_same_request_is_promised_once(bounded, arith) -> None:
    headers = {"Idempotency-Key": "x"}
    for _ in range(3):
        assert bounded.post("/v1/fills", json=of(600), headers=headers).status_code == 202
    assert bounded.post("/v1/fills", json=of(400)).status_code == 202
