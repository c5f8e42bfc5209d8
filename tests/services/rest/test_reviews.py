"""Reviews over REST: the desk's rules as answers, and blindness of every answer there is."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from benchfill_services.store.reviews import RedisReviews
from benchfill_services.store.transcript import RedisTranscript
from support.fills import make_fill
from support.rest_service import FILL
from support.review_cases import make_case, make_person

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx
    from redis.asyncio import Redis

    from support.rest_service import RestService

MARK = "Xylograph the reviewer"


@pytest.fixture
async def candidate(operator: httpx.Client, arith: dict, valkey: Redis) -> str:
    """A candidate of a fill that runs, put up for review."""
    example = make_fill("")
    job = operator.post("/v1/fills", json=FILL).json()["id"]
    gap = example.report.fills[0].gap
    for number, message in enumerate(example.transcripts[gap]):
        await RedisTranscript(valkey, job, gap).append(message, key=str(number))
    page = operator.get("/v1/candidates", params={"fill": job}).json()
    found = str(page["entries"][0]["id"])
    assert operator.post(f"/v1/candidates/{found}/review").status_code == 201
    return found


@pytest.fixture
async def people(rest: RestService, valkey: Redis) -> AsyncIterator[dict[str, httpx.Client]]:
    """Ada, Bob and Cyd are reviewers, Ops is an operator."""
    with contextlib.ExitStack() as stack:
        clients = {}
        for name in ("Ada", "Bob", "Cyd", "Ops"):
            role = "operator" if name == "Ops" else "reviewer"
            title = MARK if name == "Ada" else name
            _, rest.keys[name] = await make_person(valkey, title, role)
            clients[name] = stack.enter_context(rest.client(name))
        yield clients


def test_two_reviewers_and_an_adjudicator(people, candidate: str) -> None:
    path = f"/v1/candidates/{candidate}"
    no = {"verdict": "reject", "reasons": ["ambiguous", "other"], "text": "<b>12 or 13?</b>"}
    view = people["Ada"].get(f"{path}/review").json()
    assert (view["status"], view["may_decide"], view["agents"]) == ("pending", True, False)
    made = people["Ada"].post(f"{path}/reviews", json=no | {"seen": view["seen"]})
    assert (made.status_code, made.json()["status"]) == (201, "waiting")
    assert made.json()["revisions"][0]["verdicts"][0].items() >= (no | {"reviewer": "you"}).items()
    assert people["Ada"].post(f"{path}/reviews", json={"verdict": "approve"}).status_code == 409
    assert people["Ada"].delete(f"{path}/reviews/mine").json()["status"] == "pending"
    assert people["Ada"].post(f"{path}/reviews", json=no).status_code == 201
    assert people["Bob"].post(f"{path}/reviews", json={"verdict": "approve"}).status_code == 201
    assert people["Bob"].delete(f"{path}/reviews/mine").status_code == 409
    shelf = people["Cyd"].get("/v1/reviews", params={"shelf": "disagreements"}).json()
    assert [one["id"] for one in shelf["entries"]] == [candidate]
    verdicts = shelf["entries"][0]["revisions"][0]["verdicts"]
    assert [one["reviewer"] for one in verdicts] == [MARK, "Bob"]
    late = people["Cyd"].post(f"{path}/reviews", json={"verdict": "approve"})
    assert (late.status_code, late.json()["type"]) == (409, "urn:benchfill:problem:refused")
    decided = people["Ops"].post(f"{path}/adjudication", json={"verdict": "approve"})
    assert (decided.status_code, decided.json()["status"]) == (201, "approved")


def test_looking_puts_nothing_up_for_review(people, candidate: str) -> None:
    fill = candidate.partition(".")[0]
    found = people["Ops"].get("/v1/candidates", params={"fill": fill, "limit": 200}).json()
    other = next(one["id"] for one in found["entries"] if one["id"] != candidate)
    path = f"/v1/candidates/{other}"
    assert people["Ada"].get(f"{path}/review").status_code == 404
    assert people["Ada"].post(f"{path}/reviews", json={"verdict": "approve"}).status_code == 404
    assert people["Ada"].post(f"{path}/review").status_code == 403
    shelf = people["Ada"].get("/v1/reviews").json()
    assert [one["id"] for one in shelf["entries"]] == [candidate]


def test_the_second_tab_is_told(people, candidate: str) -> None:
    path = f"/v1/candidates/{candidate}"
    seen = people["Ada"].get(f"{path}/review").json()["seen"]
    yes = {"verdict": "approve", "seen": seen}
    assert people["Ada"].post(f"{path}/reviews", json=yes).status_code == 201
    second = people["Ada"].post(f"{path}/reviews", json=yes | {"verdict": "approve"})
    assert (second.status_code, second.json()["type"]) == (409, "urn:benchfill:problem:stale")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"verdict": "reject"}, "reasons"),
        ({"verdict": "reject", "reasons": ["dull"]}, "reasons[0]"),
        ({"verdict": "reject", "reasons": ["other"]}, "text"),
        ({"verdict": "request_change"}, "text"),
        ({"verdict": "approve", "reasons": ["formatting"]}, "reasons"),
        ({"verdict": "approve", "text": "x" * 4001}, "text"),
        ({"verdict": "perhaps"}, "verdict"),
        ({"verdict": "approve", "sean": "x"}, "sean"),
    ],
)
def test_what_cannot_be_said(people, candidate: str, given: dict, field: str) -> None:
    reply = people["Ada"].post(f"/v1/candidates/{candidate}/reviews", json=given)
    assert (reply.status_code, reply.json()["errors"][0]["path"]) == (422, field)


async def test_a_question_needs_agents(people, valkey: Redis) -> None:
    case = make_case(writer=None)
    await RedisReviews(valkey).open(case)
    path = f"/v1/candidates/{case.id}/questions"
    refused = people["Ada"].post(path, json={"text": "Why is C wrong?"})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:benchfill:problem:refused")


def _answers(client: httpx.Client, document: dict[str, Any], values: dict[str, str]) -> dict:
    """Ask for everything that may be read, and return what is said."""
    said = {}
    for path, operations in document["paths"].items():
        if "get" not in operations or path in {"/metrics", "/v1/fills/{fill}/events"}:
            continue
        filled = re.sub(r"{(\w+)}", lambda found: values.get(found[1], "1"), path)
        shelves = ("pending", "disagreements", "decided") if path == "/v1/reviews" else ("",)
        for shelf in shelves:
            query = {"shelf": shelf} if shelf else {}
            query |= {"fill": values["fill"]} if path == "/v1/candidates" else {}
            reply = client.get(filled, params=query)
            said[f"{filled} {shelf}"] = (
                reply.status_code,
                reply.text,
                {k: v for k, v in reply.headers.items() if k != "date"},
            )
    return said


async def test_no_answer_tells_of_the_others_verdict(
    rest: RestService, people, candidate: str, arith: dict
) -> None:
    document = rest.app.openapi()
    fill, _, _ = candidate.partition(".")
    values = {
        "candidate": candidate, "fill": fill, "benchmark": "arith", "version": "1",
        "pool": "here", "job": fill, "day": "2026-11-30",
    }  # fmt: skip
    who = ("Bob", "Cyd", "Ops")
    for name in who:  # and everybody has looked at it
        _answers(people[name], document, values)
    before = {name: _answers(people[name], document, values) for name in who}
    given = {"verdict": "reject", "reasons": ["other"], "text": "Quixotic wording"}
    assert people["Ada"].post(f"/v1/candidates/{candidate}/reviews", json=given).status_code == 201
    for name in who:
        after = _answers(people[name], document, values)
        assert after == before[name]
        assert all(MARK not in text and "Quixotic" not in text for _, text, _ in after.values())
    assert people["Bob"].post(
        f"/v1/candidates/{candidate}/reviews", json={"verdict": "approve"}
    ).status_code == 201  # fmt: skip
    told = people["Bob"].get(f"/v1/candidates/{candidate}/review").text
    assert MARK in told
    assert "Quixotic" in told
