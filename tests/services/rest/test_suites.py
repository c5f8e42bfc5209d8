"""POST /v1/suites: the same analysis as on the command line, within limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import benchfill as bf
from benchfill_services.jobs import suite_process
from benchfill_services.jobs.suite_process import TooMuchWorkError, analyse_apart
from support.rest_service import SCORES, serving, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

TABLE = {
    "benchmarks": ["sums", "words", "logic"],
    "scores": [
        {"model": f"m{k}", "scores": [10 * k, 7 * k % 60, 90 - 13 * k % 50]} for k in range(8)
    ],
}


@pytest.fixture(scope="module")
def client(valkey_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("suites")
    with serving(settings_of(valkey_socket, folder), anonymous=True) as rest, rest.client() as one:
        yield one


def problem(reply: httpx.Response, status: int) -> dict[str, Any]:
    assert reply.status_code == status, reply.text[:500]
    assert reply.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in reply.text
    assert "/tmp" not in reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_json_and_csv_give_the_analysis_of_the_library(client, tmp_path) -> None:
    asked = {"frontier": 1.0, "select": 2, "replicates": 50, "seed": 3}
    sent = client.post("/v1/suites", json=TABLE | asked)
    assert sent.status_code == 200, sent.text
    form = client.post(
        "/v1/suites",
        data={key: str(value) for key, value in asked.items()},
        files={"scores": ("../../x.csv", SCORES)},
    )
    assert form.status_code == 200, form.text
    (tmp_path / "scores.csv").write_bytes(SCORES)
    table = bf.read_score_table(tmp_path / "scores.csv")
    request = bf.SuiteRequest(frontier=1, select=2, replicates=50, seed=3)
    wanted = json.loads(bf.analyse_suite(table, request).model_dump_json())
    for reply in (sent, form):
        assert reply.json()["analysis"] == wanted
        assert reply.json()["seed"] == 3
        assert len(reply.json()["inputs"]["scores"]) == 64


LATER = SCORES.replace(b"\nm", b"\nn").replace(b"logic", b"music")
ANSWERS = b"model,item,correct\n" + b"".join(
    b"m%d,i%d,%d\n" % (j, i, j + 3 * (i % 2) > i) for j in range(6) for i in range(9)
)


def test_a_later_date_and_responses_are_sent_as_files(client, tmp_path) -> None:
    sent = client.post(
        "/v1/suites",
        data={"frontier": "1", "replicates": "20", "select": "1"},
        files=[
            ("scores", ("s.csv", SCORES)),
            ("later", ("l.csv", LATER)),
            ("responses", ("words.csv", ANSWERS)),
            ("responses", ("../sums", ANSWERS)),
        ],
    )
    # a path is no benchmark, and is not followed
    assert "there is no benchmark '../sums'" in problem(sent, 422)["detail"]
    sent = client.post(
        "/v1/suites",
        data={"frontier": "1", "replicates": "20", "select": "1"},
        files=[("scores", SCORES), ("later", LATER), ("responses", ("words.csv", ANSWERS))],
    )
    assert sent.status_code == 200, sent.text
    for name, content in (("scores", SCORES), ("later", LATER), ("words", ANSWERS)):
        (tmp_path / f"{name}.csv").write_bytes(content)
    table, then = (bf.read_score_table(tmp_path / f"{name}.csv") for name in ("scores", "later"))
    wanted = bf.analyse_suite(
        table,
        bf.SuiteRequest(frontier=1, select=1, replicates=20),
        later=then,
        responses={"words": bf.read_responses(tmp_path / "words.csv")},
    )
    found = sent.json()["analysis"]
    assert found == json.loads(wanted.model_dump_json())
    assert found["transfer"]["only_later"] == ["music"]
    assert found["items"][0]["items"] == 9
    assert set(sent.json()["inputs"]) == {"scores", "later", "responses[0]"}


def test_every_field_may_be_sent_at_once(client) -> None:
    data = {"frontier": "1", "select": "1", "missing": "pairwise", "constant": "0.5", "seed": "1",
            "replicates": "20", "columns": "sums,words,logic", "outside": ""}  # fmt: skip
    files = [("scores", SCORES), ("later", SCORES)]
    sent = client.post("/v1/suites", data=data, files=files)
    assert sent.status_code == 200, sent.text
    assert sent.json()["analysis"]["blind_spot"]["constant"] == 0.5
    refused = client.post("/v1/suites", data=data | {"coverage": "0.9"}, files=files)
    assert "select: give either" in problem(refused, 422)["detail"]


def test_a_later_date_in_json(client) -> None:
    asked = {"frontier": 1.0, "replicates": 20, "later": TABLE}
    reply = client.post("/v1/suites", json=TABLE | asked)
    assert reply.status_code == 200, reply.text
    assert reply.json()["analysis"]["transfer"]["ratio"]["value"] == 1
    short = {"benchmarks": ["sums"], "scores": TABLE["scores"]}
    found = problem(client.post("/v1/suites", json=TABLE | {"later": short}), 422)
    assert "later.scores[0].scores: has 3 scores for 1 benchmarks" in found["detail"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("later", b"")], "later: is empty"),
        ([("later", b"model,sums\nm,1\n")], "later: has 1 of the 3 benchmarks"),
        ([("later", b"model,sums,words\nm,1,2\n")], "later: the scores are of 1 model"),
        ([("later", b"model" + b",a" * 300)], "later: holds too much"),
        ([("responses", ("words.csv", b"model,item\n"))], "responses[0]"),
        ([("responses", ("maths.csv", ANSWERS))], "responses: there is no benchmark 'maths'"),
        ([("responses", ("words.csv", ANSWERS))] * 2, "responses[1]: is of a benchmark that has"),
        ([("responses", ("words.csv", ANSWERS))] * 23, "Too many files"),
    ],
)
def test_further_files_that_cannot_be_used(client, files, said) -> None:
    reply = client.post("/v1/suites", files=[("scores", SCORES), *files])
    assert said in problem(reply, 400 if "many" in said else 422)["detail"]


def test_columns_and_outside_columns(client) -> None:
    reply = client.post(
        "/v1/suites",
        data={"columns": "sums,words", "outside": "logic", "frontier": "1", "replicates": "20"},
        files={"scores": SCORES},
    )
    # eight models are too few to say what an outside column adds
    assert "outside: 'logic' has too few scores" in problem(reply, 422)["detail"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"frontier": 0}, "frontier"),
        ({"select": 4}, "select: 4 of 3 benchmarks cannot be kept"),
        ({"select": 1, "coverage": 0.9}, "select: give either a number"),
        ({"replicates": 5000}, "replicates"),
        ({"outside": ["maths"]}, "outside: there is no benchmark 'maths'"),
        ({"benchmarks": ["sums", "words"]}, "scores[0].scores: has 3 scores for 2 benchmarks"),
        ({"benchmarks": ["sums", "sums", "logic"]}, "'sums' stands twice"),
        ({"scores": TABLE["scores"][:1]}, "the scores are of 1 model"),
        ({"extra": 1}, "extra"),
        ({"scores": [{"model": "m", "scores": ["x", 1, 2]}]}, "scores[0].scores[0]"),
    ],
)
def test_what_cannot_be_analysed_is_named(client, change, said) -> None:
    found = problem(client.post("/v1/suites", json=TABLE | change), 422)
    assert said in found["detail"]
    assert "--" not in found["detail"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "scores: is empty"),
        (b"PK\x03\x04xx", "is a ZIP or Excel file"),
        (b"model,a,b\nm,1,x\nn,2,3\no,3,4\n", "scores, line 2, b: 'x' is no number"),
        (b"model,a\xff,b\nm,1,x\n", "is not UTF-8"),
        (b"model,a,b\n" + b"m,1,2\n" * 10_100, "holds too much"),
        (b"model" + b",a" * 300 + b"\n", "holds too much"),
    ],
)
def test_files_that_are_none(client, content, said) -> None:
    found = problem(client.post("/v1/suites", files={"scores": content}), 422)
    assert said in found["detail"]


def test_neither_json_nor_a_form(client) -> None:
    reply = client.post("/v1/suites", content=SCORES, headers={"Content-Type": "text/csv"})
    problem(reply, 415)
    problem(client.post("/v1/suites", data={"frontier": "1"}), 415)


async def test_the_process_stops_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_process, "WALL_SECONDS", 0.05)
    rng = np.random.default_rng(0)
    table = {
        "models": [f"m{j}" for j in range(50)],
        "benchmarks": ["a", "b"],
        "scores": rng.normal(size=(50, 2)).tolist(),
    }
    with pytest.raises(TooMuchWorkError, match="send fewer models"):
        await analyse_apart({"request": {}, "table": table}, {})
