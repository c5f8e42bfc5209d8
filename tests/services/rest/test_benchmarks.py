"""Benchmarks over REST: what is sent comes back, byte for byte."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

from support.rest_service import FILL, ITEMS, RESPONSES

if TYPE_CHECKING:
    import httpx

    from support.rest_service import RestService


def test_a_form_makes_a_benchmark(operator: httpx.Client, arith: dict) -> None:
    assert (arith["benchmark"], arith["version"], arith["n_items"]) == ("arith", 1, 6)
    got = operator.get("/v1/benchmarks/arith/versions/1")
    assert got.json() == arith == operator.get("/v1/benchmarks/arith").json()
    items = operator.get("/v1/benchmarks/arith/versions/1/export", params={"part": "items"})
    assert items.content == ITEMS
    assert items.headers["content-type"] == "application/jsonl"
    assert items.headers["content-disposition"] == 'attachment; filename="arith-1.items.jsonl"'
    archive = operator.get("/v1/benchmarks/arith/versions/1/export")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        assert opened.read("items.jsonl") == ITEMS
        assert opened.read("responses.csv") == RESPONSES


def test_json_makes_one_too(operator: httpx.Client) -> None:
    body = {
        "name": "Sums, 2nd ed.",
        "local_only": True,
        "items": [{"id": "=1+1", "question": "é?", "answer": "2", "choices": ["1", "2"]}],
        "responses": [{"model": "m,1", "item": "=1+1", "correct": 3, "n": 4}],
    }
    reply = operator.post("/v1/benchmarks", json=body)
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert made["benchmark"].startswith("sums-2nd-ed-")
    assert made["local_only"]
    where = reply.headers["location"]
    items = operator.get(f"{where}/export", params={"part": "items"})
    assert [json.loads(line) for line in items.text.splitlines()] == body["items"]
    # a formula stays what it is, else it would be another id
    responses = operator.get(f"{where}/export", params={"part": "responses"})
    assert responses.text == 'model,item,correct,n\n"m,1",=1+1,3,4\n'
    assert responses.headers["content-disposition"].startswith("attachment")
    assert responses.headers["x-content-type-options"] == "nosniff"


def test_versions_follow_one_another(operator: httpx.Client, arith: dict) -> None:
    files = {"items": ITEMS, "responses": RESPONSES + b"m9,i0,1\n"}
    reply = operator.post("/v1/benchmarks/arith/versions", files=files)
    assert reply.status_code == 201, reply.text
    assert (reply.json()["version"], reply.json()["parent_version"]) == (2, 1)
    assert reply.json()["n_models"] == 5
    listed = operator.get("/v1/benchmarks/arith/versions", params={"limit": 1}).json()
    assert [one["version"] for one in listed["entries"]] == [2]
    rest = {"limit": 1, "cursor": listed["next_cursor"]}
    assert operator.get("/v1/benchmarks/arith/versions", params=rest).json() == {
        "entries": [arith],
        "next_cursor": None,
    }
    assert operator.post("/v1/benchmarks/none/versions", files=files).status_code == 404
    again = operator.post("/v1/benchmarks", data={"id": "arith", "name": "A"}, files=files)
    assert again.status_code == 409
    assert "choose another id" in again.json()["detail"]


def test_pages_hold_all_and_reads_have_an_etag(operator: httpx.Client) -> None:
    files = {"items": ITEMS, "responses": RESPONSES}
    names = [f"b{k}" for k in range(5)]
    for name in names:
        operator.post("/v1/benchmarks", data={"id": name, "name": name}, files=files)
    seen, cursor = [], {}
    while True:
        page = operator.get("/v1/benchmarks", params={"limit": 2} | cursor).json()
        seen += [one["benchmark"] for one in page["entries"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == names[::-1]
    first = operator.get("/v1/benchmarks/b1")
    same = operator.get("/v1/benchmarks/b1", headers={"If-None-Match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["etag"] == first.headers["etag"]
    operator.post("/v1/benchmarks/b1/versions", files=files)
    new = operator.get("/v1/benchmarks/b1", headers={"If-None-Match": first.headers["etag"]})
    assert new.status_code == 200
    assert new.headers["etag"] != first.headers["etag"]


def test_a_benchmark_in_use_is_not_deleted(rest: RestService, arith: dict) -> None:
    with rest.client("admin") as admin:
        fill = admin.post("/v1/fills", json=FILL)
        assert fill.status_code == 202, fill.text
        refused = admin.delete("/v1/benchmarks/arith")
        assert refused.status_code == 409
        assert fill.json()["id"] in refused.json()["detail"]
        assert admin.post(f"/v1/fills/{fill.json()['id']}/cancel").status_code == 202
        assert admin.delete("/v1/benchmarks/arith").status_code == 204
        assert admin.get("/v1/benchmarks/arith").status_code == 404
        assert admin.delete("/v1/benchmarks/arith").status_code == 404
