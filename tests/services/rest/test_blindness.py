"""What readers and reviewers are told says nowhere which model wrote an item."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_services.store import keys
from benchfill_services.store.events import RedisEvents
from benchfill_services.store.jobs import JobLease, RedisJobs
from benchfill_services.store.reviews import RedisReviews
from benchfill_services.store.transcript import RedisTranscript
from benchfill_services.store.usage import today
from support.fills import make_fill
from support.rest_service import FILL
from support.review_cases import make_person

if TYPE_CHECKING:
    import httpx
    from redis.asyncio import Redis

    from support.rest_service import RestService

WRITER = "scribe-9"  # no name of a model that measures, which may be told
BLIND = ("reader", "reviewer")


@pytest.fixture
async def candidate(operator: httpx.Client, arith: dict, valkey: Redis) -> str:
    """A candidate of a fill whose writer is on record, in its options, costs and error."""
    made = operator.post("/v1/fills", json=FILL | {"writer": "m2"}).json()
    job = made["id"]
    spec = made["spec"] | {"writer": WRITER}
    await valkey.hset(keys.job(job), "spec", json.dumps(spec))
    example = make_fill("")
    gap = example.report.fills[0].gap
    for number, message in enumerate(example.transcripts[gap]):
        await RedisTranscript(valkey, job, gap).append(message, key=str(number))
    source = {"writer": WRITER, "prompts": {"rewrite": "ab" * 32}}
    await valkey.hset(keys.job(job), "source", json.dumps(source))
    used = {f"{WRITER}:calls": 3, f"{WRITER}:rollouts": 5, "m1:rollouts": 5, "m1:cost": 0.5}
    used |= {f"{WRITER}:prompt_tokens": 900, f"{WRITER}:retries": 1, f"{WRITER}:cost": 0.25}
    await valkey.hset(keys.usage_job(job), mapping=used)
    who = operator.get(f"/v1/fills/{job}").json()["created_by"]
    await valkey.hset(keys.usage_day(who, today()), mapping=used)
    page = operator.get("/v1/candidates", params={"fill": job}).json()
    error = f"model '{WRITER}': the provider could not be reached."
    lease = await JobLease.acquire(valkey, job, 10_000)
    assert lease is not None
    await lease.finish("failed", None, error)
    await RedisEvents(valkey, job).append("status", {"status": "failed", "error": error})
    return str(page["entries"][0]["id"])


def _read(client: httpx.Client, document: dict[str, Any], values: dict[str, str]) -> dict[str, str]:
    """Ask for everything that names no models by itself, and return what is said."""
    said = {}
    for path, operations in document["paths"].items():
        if "get" not in operations or path.startswith(("/v1/pools", "/metrics")):
            continue
        filled = re.sub(r"{(\w+)}", lambda found: values[found[1]], path)
        query = {"fill": values["fill"]} if path == "/v1/candidates" else {}
        said[filled] = client.get(filled, params=query).text
    return said


@pytest.mark.parametrize("role", BLIND)
def test_nothing_names_the_writer(rest: RestService, candidate: str, role: str) -> None:
    fill = candidate.partition(".")[0]
    values = {"candidate": candidate, "fill": fill, "benchmark": "arith", "version": "1"}
    values |= {"other": "1", "job": fill, "later": "1", "to": "1", "against": "1"}
    values |= {"day": today()}
    document = rest.app.openapi()
    with rest.client(role) as client, rest.client("operator") as operator:
        told, all_told = (_read(one, document, values) for one in (client, operator))
        assert f"/v1/fills/{fill}/events" in told
        name = re.compile(rf"\b{WRITER}\b")
        assert [path for path, text in told.items() if name.search(text)] == []
        assert len([path for path, text in all_told.items() if name.search(text)]) >= 4
        shown = client.get(f"/v1/fills/{fill}").json()
        assert (shown["spec"]["writer"], shown["status"]) == (None, "failed")
        assert shown["error"] == "it failed; an operator can see why."
        assert operator.get(f"/v1/fills/{fill}").json()["spec"]["writer"] == WRITER


def test_usage_is_whole_for_the_blind(rest: RestService, candidate: str) -> None:
    fill = candidate.partition(".")[0]
    with rest.client("reviewer") as client:
        (shown,) = client.get("/v1/usage", params={"fill": fill}).json()["entries"]
        assert shown["cost"] == 0.75
        (whole,) = shown["models"]
        assert (whole["model"], whole["calls"], whole["rollouts"]) == ("all models", 3, 10)
        # by key only one's own: a call of somebody else's tells that they asked for something
        assert client.get(f"/v1/usage/days/{today()}").json()["entries"] == []
        lines = [one for one in client.get("/metrics").text.splitlines() if WRITER in one]
        told = {one.partition("{")[0] for one in lines}
        assert told == {"benchfill_today_rollouts", "benchfill_today_retries"}
        assert 'benchfill_today_calls{model="all models"} 3.0' in client.get("/metrics").text
    with rest.client("operator") as client:
        assert f'benchfill_today_calls{{model="{WRITER}"}} 3.0' in client.get("/metrics").text
        assert len(client.get(f"/v1/usage/days/{today()}").json()["entries"][0]["models"]) == 2


async def test_a_case_opened_by_rest_has_the_writer_of_its_fill(
    rest: RestService, candidate: str, valkey: Redis
) -> None:
    _, rest.keys["Ada"] = await make_person(valkey, "Ada")
    with rest.client("operator") as client:
        assert client.post(f"/v1/candidates/{candidate}/review").status_code == 201
    with rest.client("Ada") as client:
        assert client.get(f"/v1/candidates/{candidate}/review").json()["agents"] is True
        asked = client.post(f"/v1/candidates/{candidate}/questions", json={"text": "Why 12?"})
        assert asked.status_code == 202
        (said,) = client.get(f"/v1/candidates/{candidate}/thread").json()["messages"]
        assert (said["kind"], said["author"], said["text"]) == ("question", "you", "Why 12?")
        fills = client.get("/v1/fills").json()["entries"]
        assert [one["id"] for one in fills] == [candidate.partition(".")[0]]
        assert client.get("/v1/usage").json()["entries"][0]["fill"] == fills[0]["id"]
        assert 'benchfill_jobs{status="queued"} 1.0' in client.get("/metrics").text
        (job,), _ = await RedisJobs(valkey).list(limit=5, kind="answer")
        for path in ("", "/report", "/events"):
            assert client.get(f"/v1/fills/{job.id}{path}").status_code == 404
        assert client.get("/v1/usage", params={"fill": job.id}).status_code == 404
    with rest.client("operator") as operator:
        assert operator.post(f"/v1/fills/{job.id}/cancel").status_code == 404
    case, _ = await RedisReviews(valkey).case(candidate)
    assert (case.writer, case.first.prompts) == (WRITER, {"rewrite": "ab" * 32})
