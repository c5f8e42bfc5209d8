"""Merging and comparing over REST: versions that experts made, and where their items came from."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from typing import TYPE_CHECKING

import pytest

import benchfill as bf
from benchfill_services.review.desk import ReviewDesk
from benchfill_services.store.benchmark_files import VersionFiles
from support.merge_world import ADA, NO, approve, base_files, case_of_files
from support.rest_service import rest_at

if TYPE_CHECKING:
    import httpx
    from redis.asyncio import Redis

V1 = "/v1/benchmarks/sums/versions/1"
V2 = "/v1/benchmarks/sums/versions/2"


@pytest.fixture
def desk(valkey: Redis) -> ReviewDesk:
    return ReviewDesk(valkey)


@pytest.fixture
def sums(operator: httpx.Client) -> VersionFiles:
    files = base_files()
    sent = {"items": files.items, "responses": files.responses}
    data = {"id": "sums", "name": "Sums", "local_only": "true"}
    assert operator.post("/v1/benchmarks", data=data, files=sent).status_code == 201
    return files


async def test_a_version_is_made_once_and_says_where_its_items_came_from(
    rest, operator, sums, desk
) -> None:
    case = await approve(desk, case_of_files(sums, "new-1"))
    made = operator.post(f"{V1}/merge")
    assert made.status_code == 201, made.text
    version = made.json()
    assert made.headers["location"] == V2
    assert (version["version"], version["parent_version"], version["n_items"]) == (2, 1, 41)
    assert version["local_only"]
    again = operator.post(f"{V1}/merge")
    assert (again.status_code, again.json()) == (200, version)
    assert again.headers["location"] == V2
    nothing = operator.post(f"{V2}/merge")
    assert nothing.status_code == 409
    assert nothing.json()["type"] == "urn:benchfill:problem:nothing-to-merge"
    assert "nothing new" in nothing.json()["detail"]

    export = operator.get(f"{V2}/export", params={"part": "provenance"})
    assert export.headers["content-type"] == "application/jsonl"
    (line,) = [json.loads(one) for one in export.text.splitlines()]
    assert (line["id"], line["candidate"], line["benchmark"]) == ("new-1", case, "sums")
    with zipfile.ZipFile(io.BytesIO(operator.get(f"{V2}/export").content)) as archive:
        assert archive.namelist() == ["items.jsonl", "responses.csv", "provenance.jsonl"]
        assert archive.read("items.jsonl").startswith(sums.items)
        assert archive.read("provenance.jsonl") == export.content
    with rest.client("reviewer") as client:
        blind = client.get(f"{V2}/export", params={"part": "provenance"}).json()
        compared = client.get(f"{V1}/diff/2").json()
    assert line["writer"] == "writer-model"
    assert blind == compared["added"][0]["provenance"] == line | {"writer": None}
    none = operator.get(f"{V1}/export", params={"part": "provenance"})
    assert none.status_code == 404
    assert "no item of this version was merged" in none.json()["detail"]
    assert operator.get(f"{V1}/export", params={"part": "items"}).content == sums.items
    # the diagnosis of the new version waits for a worker already
    queued = operator.get(f"{V2}/diagnosis")
    assert (queued.status_code, queued.json()["status"]) == (202, "queued")


async def test_later_approvals_enter_a_version_that_descends(operator, sums, desk) -> None:
    await approve(desk, case_of_files(sums, "new-1"))
    assert operator.post(f"{V1}/merge").status_code == 201
    await approve(desk, case_of_files(sums, "new-2"))
    third = operator.post(f"{V2}/merge")
    assert third.status_code == 201, third.text
    assert (third.json()["version"], third.json()["parent_version"]) == (3, 2)
    lines = operator.get(f"{V2[:-1]}3/export", params={"part": "provenance"}).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["new-1", "new-2"]


async def test_what_is_not_approved_or_of_another_line_is_refused_in_words(
    operator, sums, desk
) -> None:
    waiting = case_of_files(sums, "new-1")
    await desk.reviews.open(waiting)
    await desk.decide(waiting.id, ADA, NO)
    refused = operator.post(f"{V1}/merge")
    assert refused.status_code == 409
    assert "no candidate of these files is approved (1 pending" in refused.json()["detail"]
    # a version that does not descend from the one the candidate was made for
    other = {"items": sums.items + b"\n", "responses": sums.responses}
    data = {"parent_version": "1"}
    sent = operator.post("/v1/benchmarks/sums/versions", data=data, files=other)
    assert sent.status_code == 201
    files = VersionFiles(other["items"], other["responses"])
    stranger = await approve(desk, case_of_files(files, "new-2"))
    refused = operator.post(f"{V1}/merge")
    assert refused.status_code == 409
    assert stranger in refused.json()["detail"]
    assert "does not descend" in refused.json()["detail"]
    assert operator.post(f"{V2}/merge").status_code == 201
    assert operator.post("/v1/benchmarks/none/versions/1/merge").status_code == 404
    assert operator.post("/v1/benchmarks/sums/versions/9/merge").status_code == 404


async def test_many_at_once_make_one_version(rest, operator, sums, desk) -> None:
    await approve(desk, case_of_files(sums, "new-1"))

    def post() -> tuple[int, int]:
        with rest.client("operator") as client:
            reply = client.post(f"{V1}/merge")
            return reply.status_code, reply.json()["version"]

    replies = await asyncio.gather(*(asyncio.to_thread(post) for _ in range(6)))
    assert {version for _, version in replies} == {2}
    assert sorted(status for status, _ in replies) == [200] * 5 + [201]
    versions = operator.get("/v1/benchmarks/sums/versions").json()["entries"]
    assert [one["version"] for one in versions] == [2, 1]


async def test_versions_are_compared_before_and_after_the_diagnoses(
    operator, sums, desk, valkey, tmp_path
) -> None:
    case = await approve(desk, case_of_files(sums, "new-1"))
    operator.post(f"{V1}/merge")
    early = operator.get(f"{V1}/diff/2").json()
    assert (early["items_before"], early["items_after"], early["measures"]) == (40, 41, None)
    assert early["diagnoses"] == {"before": "queued", "after": "queued"}
    assert early["added"][0]["provenance"]["candidate"] == case
    assert early["responses"]["cells_added"] == 12
    for job in (await valkey.hgetall("benchfill:diagnoses")).items():
        place, job_id = job
        if place.endswith(":map"):
            version = 1 if early["before"] == 1 and place.startswith(sha_of(operator, V1)) else 2
            path = tmp_path / f"r{version}.csv"
            export = operator.get(f"{V1[:-1]}{version}/export", params={"part": "responses"})
            path.write_bytes(export.content)
            found = bf.diagnose(bf.fit_1pl(bf.read_responses(path), engine="map"))
            await rest_at(valkey, job_id, "completed", found.model_dump(mode="json"))
    late = operator.get(f"{V1}/diff/2").json()
    assert late["diagnoses"] == {"before": "completed", "after": "completed"}
    assert late["measures"]["widest"]["closed"] is True
    assert late["measures"]["widest"]["inside"] == ["new-1"]
    assert late["added"][0]["refitted"] is not None
    same = operator.get(f"{V1}/diff/1").json()
    assert (same["added"], same["changed"], same["removed"]) == ([], [], [])
    assert same["measures"]["widest"]["closed"] is False
    assert operator.get(f"{V1}/diff/9").status_code == 404


def sha_of(operator: httpx.Client, path: str) -> str:
    return str(operator.get(path).json()["items_sha256"][:32])


async def test_agreement_is_for_operators(rest, operator, sums, desk) -> None:
    await approve(desk, case_of_files(sums, "new-1"))
    found = operator.get("/v1/reviews/agreement", params={"benchmark": "sums"}).json()
    assert found["benchmarks"][0]["agreement"]["raw"] == 1
    other = operator.get("/v1/reviews/agreement", params={"benchmark": "other"}).json()
    assert other == {"benchmarks": [], "reviewers": []}
    with rest.client("reviewer") as client:
        assert client.get("/v1/reviews/agreement").status_code == 403
