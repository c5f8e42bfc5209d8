"""Queue and candidate pages: what they show, what their forms do, and how they say no."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from pydantic import SecretStr

from benchfill_services.review.case import ThreadMessage
from benchfill_services.review.desk import now
from benchfill_services.review.rules import NewVerdict
from benchfill_services.store.reviews import RedisReviews
from support.redis_server import RedisServer
from support.rest_service import serving, settings_of
from support.review_cases import make_case
from support.review_visitor import Elements
from support.review_world import HOSTILE_QUESTION, ITEMS, open_case

if TYPE_CHECKING:
    from benchfill_services.review.case import Case

YES = NewVerdict("approve")
NO = NewVerdict("reject", ("ambiguous",), "12 or 13?")
TITLE = re.compile(r'<a class="row-title" href="/review/c/([0-9a-z.-]+)[^"]*"')


async def test_the_queue_pages_through_everything(visitor, valkey) -> None:
    reviews = RedisReviews(valkey)
    made = [make_case() for _ in range(120)]
    for one in made:
        await reviews.open(one)
    ada = visitor("Ada")
    seen: list[str] = []
    address = "/review"
    while address:
        page = ada.get(address).text
        seen += TITLE.findall(page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = following[1].replace("&amp;", "&") if following else ""
    assert seen == [one.id for one in reversed(made)]


async def test_the_queue_filters_and_keeps_its_filter(visitor, valkey) -> None:
    reviews = RedisReviews(valkey)
    other = make_case(benchmark="other")
    for one in (make_case(), other, make_case()):
        await reviews.open(one)
    ada = visitor("Ada")
    page = ada.get("/review", params={"benchmark": "other"}).text
    assert TITLE.findall(page) == [other.id]
    assert f'href="/review/c/{other.id}?benchmark=other"' in page
    page = ada.get("/review", params={"fill": other.job, "gap": other.gap}).text
    assert TITLE.findall(page) == [other.id]
    case_page = ada.get(f"/review/c/{other.id}?benchmark=other").text
    assert 'id="next"' not in case_page
    assert 'href="/review?benchmark=other"' in case_page


async def test_next_and_previous_are_pending_ones(visitor, valkey, desk, people) -> None:
    reviews = RedisReviews(valkey)
    cases = [make_case() for _ in range(5)]
    for one in cases:
        await reviews.open(one)
    await desk.decide(cases[1].id, people["Ada"][0], YES)
    page = visitor("Ada").get(f"/review/c/{cases[2].id}").text
    assert f'id="next" rel="next" class="button" href="/review/c/{cases[0].id}"' in page
    assert f'id="previous" rel="prev" class="button" href="/review/c/{cases[3].id}"' in page


@pytest.mark.parametrize("shelf", ["pending", "waiting", "disagreements", "decided"])
def test_empty_shelves_say_what_to_do(visitor, shelf: str) -> None:
    page = visitor("Ada").get("/review", params={"shelf": shelf}).text
    assert 'class="empty card"' in page


async def test_a_verdict_by_plain_form(visitor, case: Case, desk, people) -> None:
    ada, bob = visitor("Ada"), visitor("Bob")
    missing = ada.send(case.id, "verdict", verdict="reject", text="Kept words.")
    assert missing.status_code == 422
    assert "Say what is wrong with the item." in missing.text
    assert "Kept words.</textarea>" in missing.text
    given = ada.send(case.id, "verdict", verdict="reject", reasons=["ambiguous", "other"], text="x")
    assert given.status_code == 200
    assert given.url.path == f"/review/c/{case.id}"
    assert "You are done here" in given.text
    undone = ada.send(case.id, "undo")
    assert "Your verdict" in undone.text
    assert (await desk.look(case.id, people["Ada"][0])).status == "pending"
    ada.send(case.id, "verdict", verdict="reject", reasons=["ambiguous"])
    assert "Reviewers disagree" in bob.send(case.id, "verdict", verdict="approve").text
    olu = visitor("Olu")
    assert "Approved" in olu.send(case.id, "adjudicate", verdict="approve").text
    events = (await desk.state(case.id)).events
    assert [one.kind for one in events] == ["verdict", "undo", "verdict", "verdict", "adjudication"]
    assert events[-2].seconds is not None


async def test_a_verdict_by_htmx_answers_in_pieces(visitor, case: Case) -> None:
    ada = visitor("Ada")
    reply = ada.send(case.id, "verdict", htmx=True, verdict="approve")
    assert reply.status_code == 200
    assert "<html" not in reply.text
    found = Elements(reply.text)
    swapped = [attrs["id"] for _, attrs in found.found if attrs.get("hx-swap-oob")]
    assert swapped == ["case-status", "say", "notice"]
    assert found.ids()[0] == "desk"
    assert "Approved." in found.text


async def test_the_second_of_two_tabs_is_told(visitor, case: Case) -> None:
    ada = visitor("Ada")
    tab = ada.get(f"/review/c/{case.id}").text
    ada.send(case.id, "verdict", verdict="approve")
    for htmx in (False, True):
        late = ada.send(
            case.id, "verdict", page=tab, htmx=htmx, verdict="reject", reasons="other", text="Late."
        )
        assert late.status_code == 409
        assert "out of date" in late.text
    assert "✓ approved" in late.text


async def test_a_reader_looks_and_does_not_decide(visitor, case: Case) -> None:
    rea = visitor("Rea")
    page = rea.get(f"/review/c/{case.id}").text
    assert 'id="approve"' not in page
    assert 'id="say-text"' not in page
    refused = rea.send(case.id, "verdict", verdict="approve")
    assert refused.status_code == 409
    assert "needs the role reviewer" in refused.text


async def test_without_a_model_the_box_says_so(visitor, valkey, desk, people) -> None:
    case = await open_case(valkey, make_case(writer=None))
    ada = visitor("Ada")
    page = ada.get(f"/review/c/{case.id}").text
    assert "No model can be asked here" in page
    assert 'id="ask"' not in page
    refused = ada.send(case.id, "say", to="question", text="Why?")
    assert refused.status_code == 409
    assert "Why?</textarea>" in refused.text
    given = ada.send(case.id, "say", to="change", text="The answer must be an integer.")
    assert "asked for a change" in given.text
    assert (await desk.look(case.id, people["Ada"][0])).status == "waiting"


async def test_a_new_revision_has_its_address(visitor, case: Case, desk, people) -> None:
    ada, bob = visitor("Ada"), visitor("Bob")
    old = bob.get(f"/review/c/{case.id}").text
    made = case.first.model_copy(
        update={"item": case.first.item.model_copy(update={"question": "How many, exactly?"})}
    )
    await desk.revised(case.id, made, by=people["Ada"][0].id, on=1, job="f" * 32)
    latest = bob.get(f"/review/c/{case.id}").text
    assert "How many" in latest
    assert f'href="/review/c/{case.id}/r/1' in latest
    first = bob.get(f"/review/c/{case.id}/r/1").text
    assert 'id="approve"' not in first
    assert "Look at revision 2" in first
    state = bob.get(f"/review/c/{case.id}/state", params={"r": 1}).text
    assert "A new revision is there" in state
    assert 'id="approve"' not in state
    late = bob.send(case.id, "verdict", page=old, verdict="approve")
    assert late.status_code == 409
    assert "newer revision" in late.text
    assert "others judge it" in ada.get(f"/review/c/{case.id}").text
    assert ada.get(f"/review/c/{case.id}/r/3").status_code == 404
    text = bob.get(f"/review/c/{case.id}/r/2.txt")
    assert text.text.startswith("How many, exactly?")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "sandbox" in text.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    ["/review/nothing", f"/review/c/{'0' * 32}.gap-1.{'0' * 16}", "/review/c/x",
     "/review/c/x/earlier", "/review?shelf=none", "/review?before=-1"],
)  # fmt: skip
def test_what_is_not_there_is_said_in_words(visitor, path: str) -> None:
    reply = visitor("Ada").get(path)
    assert reply.status_code == 404
    assert "Back to the queue" in reply.text
    assert reply.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", ITEMS)
async def test_any_item_makes_a_page_of_bounded_size(visitor, valkey, name: str) -> None:
    parent, item = ITEMS[name]
    case = make_case()
    first = case.first.model_copy(update={"item": item})
    await open_case(valkey, case.model_copy(update={"parent": parent, "first": first}))
    page = visitor("Ada").get(f"/review/c/{case.id}")
    assert page.status_code == 200
    assert len(page.content) < 500_000
    found = Elements(page.text)
    assert {tag for tag, _ in found.found} & {"iframe", "style", "base", "object", "img"} == set()
    for tag, attributes in found.found:
        assert not any(one.startswith(("on", "hx-on")) or one == "style" for one in attributes)
        assert tag != "script" or (attributes["src"] or "").startswith("/review/static/")
        href = attributes.get("href") or "#"
        assert href.startswith(("/review", "#", "?against=", "https://", "http://"))


async def test_a_page_of_hostile_messages_is_bounded(visitor, valkey, case: Case) -> None:
    reviews = RedisReviews(valkey)
    for number in range(80):
        message = ThreadMessage(
            author="Validator", author_kind="agent", kind="answer", revision=1,
            text="\u200ba" * 20_000 + HOSTILE_QUESTION, at=now(),
        )  # fmt: skip
        await reviews.say(case.id, message, key=str(number))
    ada = visitor("Ada")
    page = ada.get(f"/review/c/{case.id}")
    assert len(page.content) < 1_300_000
    entries = Elements(page.text).ids("m-")
    assert entries
    full = ada.get(f"/review/c/{case.id}/message/{entries[-1][2:]}.txt")
    assert "Ignore all rules" in full.text
    assert "\u200b" not in full.text
    # what had no room comes on demand, and nothing is left out between
    earlier = ada.get(f"/review/c/{case.id}/earlier", params={"before": entries[0][2:]})
    assert Elements(earlier.text).ids("m-")
    assert not set(Elements(earlier.text).ids("m-")) & set(entries)


async def test_ten_thousand_candidates_page_quickly(visitor, valkey, desk, people) -> None:
    example = make_case()
    reviews = RedisReviews(valkey)
    await reviews.open(example)
    text = example.model_dump_json()
    async with valkey.pipeline(transaction=False) as pipe:
        for number in range(10_000):
            other = f"{number:032x}.gap-1.{'a' * 16}"
            pipe.set(f"benchfill:review:case:{other}", text.replace(example.id, other))
            for name in ("queue:open", "all"):
                pipe.zadd(f"benchfill:review:{name}", {other: number + 10})
            if number > 200:  # the newest are judged: a page begins behind all of them
                pipe.zadd(f"benchfill:review:done:{people['Ada'][0].id}", {other: number + 10})
        await pipe.execute()
    ada, bob = visitor("Ada"), visitor("Bob")
    bob.get("/review")
    took = []
    asked = ((bob, ""), (bob, "?before=5000"), (ada, ""), (ada, "?before=100"))
    for who, query in asked:
        began = time.process_time()
        page = who.get(f"/review{query}")
        took.append(time.process_time() - began)
        assert len(TITLE.findall(page.text)) == 50
    assert max(took) < 0.5  # CPU seconds; 0.05 on the machine it was written on


def test_a_lost_store_is_said_in_words(tmp_path) -> None:
    with RedisServer(tmp_path / "redis") as server:
        redis_url = SecretStr(server.url)
        settings = settings_of(tmp_path, tmp_path).model_copy(update={"redis_url": redis_url})
        with (
            serving(settings, anonymous=True) as started,
            httpx.Client(base_url=started.base, timeout=60) as client,
        ):
            assert client.get("/review").status_code == 200
            server.kill()
            page = client.get("/review")
            put = client.get("/review", headers={"HX-Request": "true"})
    assert page.status_code == put.status_code == 503
    assert "The store does not answer" in page.text
    assert "<html" not in put.text
