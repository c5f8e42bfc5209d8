"""Candidates, their transcripts and reviews: while a fill runs, and afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchfill_services.store.transcript import RedisTranscript
from support.fills import make_fill
from support.rest_service import FILL, rest_at

if TYPE_CHECKING:
    import httpx
    from redis.asyncio import Redis

    from support.fills import FillExample


def example() -> FillExample:
    """A fill whose last rounds say what was chosen."""
    made = make_fill("</script>")
    for fill in made.report.fills:
        for message in made.transcripts[fill.gap]:
            if message["kind"] == "calibrationround":
                message["content"]["chosen"] = fill.chosen.item if fill.chosen else None
    return made


@pytest.fixture
async def fill(operator: httpx.Client, arith: dict, valkey: Redis) -> str:
    """A fill whose agents have said all they had to say; it has no report yet."""
    job = operator.post("/v1/fills", json=FILL).json()["id"]
    for gap, messages in example().transcripts.items():
        for number, message in enumerate(messages):
            await RedisTranscript(valkey, job, gap).append(message, key=str(number))
    return str(job)


def all_of(client: httpx.Client, fill: str, **query: Any) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    while True:
        page = client.get("/v1/candidates", params={"fill": fill, "limit": 7} | query).json()
        seen += page["entries"]
        if page["next_cursor"] is None:
            return seen
        query["cursor"] = page["next_cursor"]


async def test_candidates_are_the_same_before_and_after(operator, fill, valkey: Redis) -> None:
    report = example().report
    running = all_of(operator, fill)
    assert len({one["id"] for one in running}) == len(running)
    await rest_at(valkey, fill, "completed", report.model_dump(mode="json"))
    rested = all_of(operator, fill)
    measured = {(one.gap, c.item) for one in report.fills for c in one.calibrations}
    assert {(one["gap"], one["calibration"]["item"]) for one in rested} == measured
    assert {one["id"] for one in running} == {one["id"] for one in rested}
    chosen = {(one.gap, one.chosen.item) for one in report.fills if one.chosen}
    for found in (running, rested):
        assert {(c["gap"], c["item"]["id"]) for c in found if c["chosen"]} == chosen
    only = all_of(operator, fill, chosen="true")
    assert [one["id"] for one in only] == [one["id"] for one in rested if one["chosen"]]

    one = rested[0]
    assert operator.get(f"/v1/candidates/{one['id']}").json() == one
    assert one["provenance"]["parent"]
    assert one["item"]["question"].startswith("</script>")
    transcript = operator.get(f"/v1/candidates/{one['id']}/transcript").json()
    assert transcript["messages"] == example().transcripts[one["gap"]]
    put_up = operator.post(f"/v1/candidates/{one['id']}/review")
    assert put_up.status_code == 201
    for form, kind in (("markdown", "text/markdown"), ("jsonl", "application/jsonl")):
        path = f"/v1/candidates/{one['id']}/transcript"
        file = operator.get(path, params={"format": form})
        assert file.headers["content-type"].startswith(kind)
        assert file.headers["content-disposition"].startswith("attachment")
        assert all(said["author"] in file.text for said in transcript["messages"])


def test_a_fill_without_candidates_has_none(operator, arith) -> None:
    job = operator.post("/v1/fills", json=FILL).json()["id"]
    assert all_of(operator, job) == []
    unknown = f"{job}.gap-1.{'0' * 16}"
    for path in ("", "/transcript", "/review", "/thread"):
        assert operator.get(f"/v1/candidates/{unknown}{path}").status_code == 404
    assert operator.get("/v1/candidates", params={"fill": "0" * 32}).status_code == 404
    assert operator.get("/v1/candidates").json()["errors"][0]["path"] == "fill"
