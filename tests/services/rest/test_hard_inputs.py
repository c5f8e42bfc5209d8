"""What a stranger may send: each answer is a problem, and memory stays bounded."""

from __future__ import annotations

import gzip
import io
import json
import resource
import socket
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from benchfill_services.settings import Settings
from benchfill_services.store.server import EmbeddedServer
from support.rest_service import (
    COMPLETING,
    FILL,
    ITEMS,
    RESPONSES,
    STRANGERS,
    serving,
    settings_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from support.rest_service import RestService

MIB = 1 << 20


def is_problem(reply: httpx.Response, status: int) -> dict[str, Any]:
    assert reply.status_code == status, reply.text[:500]
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:benchfill:problem:")
    assert len(reply.content) < 20_000
    for word in ("Traceback", "/tmp", "site-packages", "benchfill_services"):
        assert word not in reply.text
    return problem


def upload(client: httpx.Client, items: bytes = ITEMS, responses: bytes = RESPONSES, **data: str):
    files = {"items": ("items.jsonl", items), "responses": ("r.csv", responses)}
    return client.post("/v1/benchmarks", data={"name": "A"} | data, files=files)


def chunks(boundary: bytes, megabytes: int) -> Iterator[bytes]:
    yield b"--" + boundary + b'\r\nContent-Disposition: form-data; name="responses"; '
    yield b'filename="r.csv"\r\n\r\nmodel,item,correct\n'
    block = b"m1,i1,1\n" * (MIB // 8)
    for _ in range(megabytes):
        yield block
    yield b"\r\n--" + boundary + b"--\r\n"


@pytest.mark.parametrize("declared", [True, False])
def test_200_mb_are_refused_by_size_in_bounded_memory(operator: httpx.Client, declared) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    length = sum(len(block) for block in chunks(b"b", 200)) if declared else None
    if length is not None:
        headers["Content-Length"] = str(length)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reply = operator.post("/v1/benchmarks", content=chunks(b"b", 200), headers=headers)
    problem = is_problem(reply, 413)
    assert "64 MiB" in problem["detail"]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 100, f"{grown} MiB"  # client and server are one process here
    assert operator.get("/v1/benchmarks").json()["entries"] == []


def test_a_small_limit_holds_to_the_byte(valkey, valkey_socket: Path, tmp_path: Path) -> None:
    with (
        serving(
            settings_of(valkey_socket, tmp_path, max_upload_bytes=1 << 16), anonymous=True
        ) as rest,
        rest.client() as client,
    ):
        frame = int(upload(client, responses=b"").request.headers["content-length"])
        fits = upload(client, responses=RESPONSES + b" " * ((1 << 16) - frame - len(RESPONSES)))
        assert fits.request.headers["content-length"] == str(1 << 16)
        assert fits.status_code != 413
        over = upload(client, responses=RESPONSES + b" " * ((1 << 16) - frame - len(RESPONSES) + 1))
        is_problem(over, 413)


def test_json_has_a_lower_limit(operator: httpx.Client) -> None:
    body = json.dumps({"name": "a" * (9 * MIB)}).encode()
    reply = operator.post("/v1/fills", content=body, headers={"Content-Type": "application/json"})
    assert "8 MiB" in is_problem(reply, 413)["detail"]


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("r.csv", b"0" * (50 * MIB))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped(), "is a ZIP or Excel file"),
        (gzip.compress(b"0" * (50 * MIB)), "is a gzip file"),
        (b"model,item,correct\nm\xff,i1,1\n", "is not UTF-8 text"),
        (b"model,item,correct\n" + b"m" * 100_000 + b",i1,1\n", "has 100000 characters"),
        (b"\0" * 100, "is binary"),
        (b"", "is empty"),
    ],
    ids=["zip bomb", "gzip bomb", "no UTF-8", "long id", "binary", "empty"],
)
def test_responses_that_are_none(operator: httpx.Client, content, said) -> None:
    problem = is_problem(upload(operator, responses=content), 422)
    assert said in problem["detail"]
    assert problem["errors"][0]["path"].startswith("responses")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"id": "a\xff"}\n', "is not UTF-8"),
        (b'{"id": "' + b"a" * 100_000 + b'", "question": "q", "answer": ""}\n', "100000 char"),
        (b'{"id": "a", "question": "q", "answer": "1", "metadata": '
         + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}\n", "recursion limit"),
        (b"[" * 10_000 + b"]" * 10_000 + b"\n", "recursion limit"),
        (zipped(), "is not UTF-8"),
    ],
    ids=["no UTF-8", "long id", "nested metadata", "nested", "zip bomb"],
)  # fmt: skip
def test_items_that_are_none(operator: httpx.Client, content, said) -> None:
    problem = is_problem(upload(operator, items=content), 422)
    assert said in problem["detail"]
    assert problem["errors"][0]["path"].startswith("items")


def test_what_a_form_calls_its_files_is_nobodys_business(operator: httpx.Client, tmp_path) -> None:
    for name in ("../../../etc/passwd", "/etc/passwd", "C:\\x", "a\0b", "é" * 300, "."):
        files = {"items": (name, ITEMS), "responses": (name, RESPONSES)}
        reply = operator.post("/v1/benchmarks", data={"name": "A"}, files=files)
        assert reply.status_code in {201, 400}, reply.text
        if reply.status_code == 400:
            is_problem(reply, 400)
    files = {"items": ITEMS, "responses": RESPONSES}
    for wrong in ("../x", "a/b", "A", "", "a" * 65, "a\n", "%2e%2e"):
        is_problem(
            operator.post("/v1/benchmarks", data={"name": "A", "id": wrong}, files=files), 422
        )


@pytest.mark.parametrize(
    "files",
    [
        [("items", ("i", ITEMS))],
        [("items", ("i", ITEMS)), ("items", ("i", ITEMS))],
        [("items", ("i", ITEMS)), ("responses", (None, "text"))],
        [("items", ("i", ITEMS)), ("responses", ("r", RESPONSES)), ("more", ("m", b""))],
        [("items", ("i", ITEMS)), ("responses", ("r", RESPONSES)), ("name", (None, "B"))],
        [("items", ("i", ITEMS)), ("responses", ("r", RESPONSES)), ("colour", (None, "red"))],
    ],
)
def test_forms_that_lack_or_have_too_much(operator: httpx.Client, files) -> None:
    reply = operator.post("/v1/benchmarks", data={"name": "A"}, files=files)
    assert reply.status_code in {400, 422}
    is_problem(reply, reply.status_code)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"[" * 10_000 + b"]" * 10_000, ""),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, ""),
        (b'{"benchmark": "\xff"}', ""),
        (b'{"benchmark": "\\ud800"}', ""),
        (b'{"benchmark": NaN}', ""),
        (b"{", ""),
        (b"", ""),
        (b"null", ""),
        (json.dumps(FILL | {"budget": {"usd": "x"}}).encode(), "budget.usd"),
        (json.dumps(FILL | {"budget": {"usd": 1e999}}).encode(), ""),
        (json.dumps(FILL | {"at": [0.5, 9]}).encode(), "at[1]"),
        (json.dumps(FILL | {"colour": "red"}).encode(), "colour"),
        (json.dumps(FILL | {"k" * 100_000: 1}).encode(), "k" * 300),
        (json.dumps(FILL | {"seed": 10**4000}).encode(), "seed"),
        (json.dumps(FILL | {"benchmark": "b" * 100_000}).encode(), "benchmark"),
        (json.dumps(FILL | {"pool": "../here"}).encode(), "pool"),
        (json.dumps(FILL | {"pool": "broken"}).encode(), "pool"),
        (json.dumps(FILL | {"version": 9}).encode(), "benchmark"),
        (json.dumps(FILL | {"writer": "m9"}).encode(), "writer"),
        (json.dumps(FILL | {"rewriter": "template"}).encode(), "rewriter"),
        (json.dumps(FILL | {"pool": "strangers"}).encode(), "pool"),
        (json.dumps(FILL | {"pool": "completing"}).encode(), "pool"),
    ],
    ids=range(22),
)
def test_bodies_name_the_field_at_fault(
    operator: httpx.Client, arith, tmp_path: Path, body, path
) -> None:
    for name, text in (("strangers", STRANGERS), ("completing", COMPLETING)):
        (tmp_path / "pools" / f"{name}.yaml").write_text(text)
    reply = operator.post("/v1/fills", content=body, headers={"Content-Type": "application/json"})
    problem = is_problem(reply, 422)
    assert problem["errors"][0]["location"] == "body"
    assert problem["errors"][0]["path"] == path


@pytest.mark.parametrize(
    ("path", "where", "name"),
    [
        ("/v1/fills?limit=0", "query", "limit"),
        ("/v1/fills?cursor=%00", "query", "cursor"),
        ("/v1/fills?cursor=é", "query", "cursor"),
        ("/v1/fills?cursor=LTE=", "query", "cursor"),
        ("/v1/fills?statsu=queued", "query", "statsu"),
        ("/v1/fills?status=none", "query", "status"),
        ("/v1/fills/" + "z" * 32, "path", "fill"),
        ("/v1/fills/" + "0" * 32 + "%0a", "path", "fill"),
        ("/v1/benchmarks/" + "a" * 5000, "path", "benchmark"),
        ("/v1/benchmarks/a/versions/99999999999999999999999", "path", "version"),
        ("/v1/benchmarks/%ff%fe", "path", "benchmark"),
        ("/v1/candidates/x.y.z", "path", "candidate"),
        ("/v1/usage/days/2026-13-01", "path", "day"),
        ("/v1/pools/..%5cx", "path", "pool"),
    ],
)
def test_paths_and_queries_name_what_is_wrong(operator: httpx.Client, path, where, name) -> None:
    problem = is_problem(operator.get(path), 422)
    assert problem["errors"][0]["location"] == where
    assert problem["errors"][0]["path"] == name


def test_what_is_wrong_is_said_in_plain_words(operator: httpx.Client, arith) -> None:
    def said(reply: httpx.Response) -> str:
        return str(is_problem(reply, 422)["detail"])

    assert said(operator.get("/v1/fills/nosuch")).startswith("fill: is no id of a fill: 32")
    assert said(operator.get("/v1/usage/days/today")) == "day: is no day, such as 2026-01-31"
    assert said(operator.get("/v1/fills?cursor=x")).startswith("cursor: is no cursor: send `next")
    bad_id = operator.get("/v1/benchmarks/Bad%20Id")
    assert said(bad_id).startswith("benchmark: takes a-z, 0-9, '.', '_' and '-', at most 64")
    body = FILL | {"rolouts": 3}
    assert said(operator.post("/v1/fills", json=body)).startswith("rolouts: is not known here;")
    assert said(operator.post("/v1/fills", json={**FILL, "budget": 9})) == (
        "budget: must be a JSON object"
    )
    assert said(operator.post("/v1/fills", json={"pool": "here"})) == (
        "benchmark: is missing (1 more)"
    )
    assert said(operator.post("/v1/fills", json=FILL | {"seed": "1"})) == (
        "seed: must be a valid integer"
    )
    for media, named in (
        ({"Content-Type": "application/x-www-form-urlencoded"}, "x-www"),
        ({}, ""),
    ):
        reply = operator.post("/v1/fills", content=json.dumps(FILL).encode(), headers=media)
        assert said(reply).startswith("the body: must be JSON, sent with Content-Type: application")
        assert named in said(reply)
    unknown = is_problem(operator.get("/v1/none"), 404)
    assert "/openapi.json says what there is" in unknown["detail"]
    assert "this path takes GET, POST" in is_problem(operator.put("/v1/fills"), 405)["detail"]


def test_files_sent_as_json_are_named_by_their_place_in_it(operator: httpx.Client) -> None:
    items = [{"id": "a", "question": "1 + 1?", "answer": "2"}]
    rows = [{"model": "m", "item": "a", "correct": 1}, {"model": "n", "item": "a", "correct": 5}]
    for sent, path in (
        ({"items": items, "responses": rows}, "responses[1].correct"),
        ({"items": items * 2, "responses": rows[:1]}, "items[1]"),
        ({"items": items, "responses": [rows[0] | {"item": "b"}]}, "items"),
    ):
        problem = is_problem(operator.post("/v1/benchmarks", json={"name": "J"} | sent), 422)
        assert problem["errors"][0]["path"] == path
        assert problem["detail"].startswith(f"{path}: ")
        assert ", line" not in problem["detail"]


def test_every_other_refusal_is_a_problem_too(operator: httpx.Client, arith) -> None:
    is_problem(operator.get("/v1/none"), 404)
    is_problem(operator.get("/v1/pools/..%2fx"), 404)
    is_problem(operator.get("/v1/fills/" + "0" * 32), 404)
    is_problem(operator.get("/v1/fills/"), 404)
    refused = operator.put("/v1/fills")
    is_problem(refused, 405)
    assert refused.headers["allow"] == "GET, POST"
    for body in (b"", b"\0", b"{", b"[" * 10_000):
        json_body = {"Content-Type": "application/json"}
        is_problem(operator.post("/v1/benchmarks", content=body, headers=json_body), 422)
    is_problem(operator.request("BREW", "/v1/fills"), 405)
    wrong = operator.post("/v1/benchmarks", content=b"x", headers={"Content-Type": "text/csv"})
    is_problem(wrong, 415)
    is_problem(operator.post("/v1/benchmarks"), 415)
    no_boundary = {"Content-Type": "multipart/form-data"}
    is_problem(operator.post("/v1/benchmarks", content=b"x", headers=no_boundary), 400)


def test_a_lying_length_harms_nobody(rest: RestService) -> None:
    host, port = rest.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(
            b"POST /v1/fills HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer " + rest.keys["operator"].encode() + b"\r\n"
            b"Content-Length: 10\r\n\r\n{}" + b"\r\n"
        )
        raw.shutdown(socket.SHUT_WR)
        raw.recv(4096)
    with rest.client("reader") as client:
        assert client.get("/v1/fills").status_code == 200


def test_a_lost_store_is_said(valkey_socket: Path, tmp_path: Path) -> None:
    """The embedded server of this service ends under its feet."""
    server = EmbeddedServer(tmp_path)
    path = server.join()
    try:
        settings = Settings(data_dir=tmp_path / "x", redis_url=f"unix://{path}")
        with serving(settings, anonymous=True) as rest, rest.client() as client:
            assert client.get("/readyz").json() == {"ready": True, "redis": True, "workers": 0}
            with Redis(unix_socket_path=str(path)) as redis:
                redis.shutdown(nosave=True)
            lost = client.get("/v1/fills")
            is_problem(lost, 503)
            assert lost.headers["retry-after"]
            ready = client.get("/readyz")
            assert (ready.status_code, ready.json()["redis"]) == (503, False)
            assert client.get("/healthz").json() == {"status": "ok"}
    finally:
        server.leave()
