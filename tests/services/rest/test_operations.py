"""Pools, diagnoses, usage, health and metrics."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
from prometheus_client.parser import text_string_to_metric_families

from benchfill_services.jobs.broker import NAMESPACE, queue_of
from benchfill_services.store import keys
from benchfill_services.store.usage import today
from support.rest_service import FILL, ITEMS, RESPONSES, rest_at
from support.scripted_server import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

    from support.rest_service import RestService
    from support.scripted_server import ScriptedServer


def test_pools_name_models_and_providers_and_no_secret(operator: httpx.Client) -> None:
    said = operator.get("/v1/pools")
    listed = said.json()
    assert [one["id"] for one in listed["entries"]] == ["away", "here"]
    assert listed["broken"] == ["broken"]
    away = operator.get("/v1/pools/away").json()
    assert away == listed["entries"][0]
    assert [(m["name"], m["provider"], m["local"]) for m in away["models"]] == [
        ("m1", "openai", False),
        ("m2", "models.example.org", False),
    ]
    assert [m["local"] for m in listed["entries"][1]["models"]] == [True, True]
    assert "s3cr3t" not in said.text
    none = operator.get("/v1/pools/none")
    assert none.status_code == 404
    assert "GET /v1/pools lists them" in none.json()["detail"]
    assert operator.get("/v1/pools/broken").status_code == 409


def test_each_model_of_a_pool_is_called_once(
    operator: httpx.Client, tmp_path: Path, scripted_server: ScriptedServer, monkeypatch
) -> None:
    monkeypatch.setenv("CANARY", "sk-canary-0123456789abcdef")
    lines = "".join(
        f'  - {{name: {name}, model: openai/{name}, api_base: "{scripted_server.url}", '
        f"api_key_env: {variable}, timeout: 5}}\n"
        for name, variable in (("good", "CANARY"), ("bad", "CANARY"), ("unset", "NO_SUCH_KEY"))
    )
    (tmp_path / "pools" / "mixed.yaml").write_text(f"models:\n{lines}")

    def reply(request) -> Reply:
        if request.model == "bad":  # a provider that says the key aloud
            return Reply(status=401, text=f"wrong: {request.headers['authorization']}")
        return Reply(text="2")

    scripted_server.script(reply)
    said = operator.post("/v1/pools/mixed/health")
    assert said.status_code == 200
    good, bad, unset = said.json()["models"]
    assert good["answers"]
    assert good["seconds"] > 0
    assert not bad["answers"]
    assert "NO_SUCH_KEY, which is not set" in unset["problem"]
    assert "sk-canary" not in said.text
    assert sorted(one.model for one in scripted_server.records) == ["bad", "good"]
    assert all(one.body["max_tokens"] == 8 for one in scripted_server.records)


async def test_a_diagnosis_is_made_once_for_equal_content(
    rest: RestService, operator: httpx.Client, arith, valkey: Redis
) -> None:
    path = "/v1/benchmarks/arith/versions/1/diagnosis"
    with rest.client("reader") as reader:
        first = reader.get(path, params={"engine": "map"})
        assert (first.status_code, first.json()["status"]) == (202, "queued")
        assert first.headers["location"] == f"{path}?engine=map"
        assert int(first.headers["retry-after"]) > 0
        assert reader.get(path, params={"engine": "map"}).status_code == 202
    files = {"items": ITEMS, "responses": RESPONSES}
    operator.post("/v1/benchmarks", data={"id": "twin", "name": "T"}, files=files)
    twin = operator.get("/v1/benchmarks/twin/versions/1/diagnosis", params={"engine": "map"})
    assert twin.status_code == 202
    assert await valkey.zcard(keys.JOBS) == 1
    assert await valkey.llen(f"{NAMESPACE}:{queue_of('small')}") == 1
    assert operator.get("/v1/fills").json()["entries"] == []
    job = str((await valkey.zrange(keys.JOBS, 0, -1))[0])
    assert operator.get(f"/v1/fills/{job}").status_code == 404

    await rest_at(valkey, job, "failed")
    failed = operator.get(path, params={"engine": "map"})
    assert (failed.status_code, failed.json()["type"]) == (
        409,
        "urn:benchfill:problem:diagnosis-failed",
    )
    assert operator.post(path, params={"engine": "map"}).status_code == 202
    await rest_at(valkey, job, "completed", {"gaps": []})
    done = operator.get("/v1/benchmarks/twin/versions/1/diagnosis", params={"engine": "map"})
    assert done.status_code == 200
    assert done.json() == {
        "benchmark": "twin",
        "version": 1,
        "engine": "map",
        "diagnosis": {"gaps": []},
    }
    again = operator.post(path, params={"engine": "map"})
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "the diagnosis is made; GET this path for it.",
    )
    assert operator.get(path).status_code == 202  # the other engine is another diagnosis


async def test_usage_is_told_by_fill_and_by_day(operator, arith, valkey: Redis) -> None:
    first, second = [operator.post("/v1/fills", json=FILL).json() for _ in range(2)]
    amounts = {"a/b:c:rollouts": 3, "a/b:c:prompt_tokens": 40, "a/b:c:cost": 0.25, "m:calls": 1}
    await valkey.hset(keys.usage_job(first["id"]), mapping=amounts)
    await valkey.hset(keys.usage_day(first["created_by"], today()), mapping=amounts)
    listed = operator.get("/v1/usage").json()["entries"]
    assert [one["fill"] for one in listed] == [second["id"], first["id"]]
    assert listed[0]["models"] == []
    assert listed[1]["cost"] == 0.25
    model = listed[1]["models"][0]
    assert (model["model"], model["rollouts"], model["prompt_tokens"]) == ("a/b:c", 3, 40)
    only = operator.get("/v1/usage", params={"fill": first["id"]}).json()
    assert only["entries"] == [listed[1]]
    day = operator.get(f"/v1/usage/days/{today()}").json()
    assert [one["key"] for one in day["entries"]] == [first["created_by"]]
    assert day["entries"][0]["models"] == listed[1]["models"]
    assert operator.get("/v1/usage/days/2020-02-02").json()["entries"] == []


async def test_health_and_metrics(rest: RestService, operator, arith, valkey: Redis) -> None:
    with httpx.Client(base_url=rest.base) as anybody:
        await valkey.zadd(keys.WORKERS, {"alive": time.time(), "dead": time.time() - 60})
        assert anybody.get("/readyz").json() == {"ready": True, "redis": True, "workers": 1}
        assert anybody.get("/healthz").json() == {"status": "ok"}
    fill = operator.post("/v1/fills", json=FILL).json()
    operator.get(f"/v1/fills/{fill['id']}")
    operator.get("/v1/" + "x" * 40)
    used = {"m1:rollouts": 7, "m1:cost": 0.5}
    await valkey.hset(keys.usage_day(fill["created_by"], today()), mapping=used)
    said = operator.get("/metrics")
    assert said.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = {
        (one.name, *sorted(one.labels.items())): one.value
        for family in text_string_to_metric_families(said.text)
        for one in family.samples
    }
    assert samples["benchfill_jobs", ("status", "queued")] == 1
    assert samples["benchfill_jobs", ("status", "failed")] == 0
    assert samples["benchfill_queue_depth", ("lane", "large")] == 1
    assert samples["benchfill_workers",] == 1
    assert samples["benchfill_today_rollouts", ("model", "m1")] == 7
    assert samples["benchfill_today_cost", ("model", "m1")] == 0.5
    labels = (("method", "GET"), ("route", "/v1/fills/{fill}"), ("status", "200"))
    assert samples["benchfill_http_request_seconds_count", *labels] == 1
    assert fill["id"] not in said.text
    assert "xxxx" not in said.text
