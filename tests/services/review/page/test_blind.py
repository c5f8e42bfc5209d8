"""Nobody's page or stream shows a trace of a verdict before all are in."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from benchfill_services.review.case import ThreadMessage
from benchfill_services.review.desk import now
from benchfill_services.review.rules import NewVerdict
from benchfill_services.store.reviews import RedisReviews

if TYPE_CHECKING:
    from benchfill_services.review.case import Case
    from support.review_visitor import Visitor

VERDICTS = {
    "approve": NewVerdict("approve"),
    "reject": NewVerdict("reject", ("other",), "ZZ-secret-words"),
    "change": NewVerdict("request_change", (), "ZZ-secret-words"),
}


def pages(who: Visitor, case: Case) -> dict[str, bytes]:
    """Return everything that somebody may look at."""
    c = f"/review/c/{case.id}"
    paths = (
        *("/review", "/review?shelf=waiting", "/review?shelf=disagreements"),
        *("/review?shelf=decided", c, f"{c}/r/1", f"{c}/state?r=1", f"{c}/r/1.txt"),
        *(f"{c}/earlier?before=t{10**14}-0", f"{c}/later?after=f0-0", f"{c}/r/2"),
    )
    return {path: who.get(path).content for path in paths}


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_pages_are_the_same_byte_for_byte(  # noqa: PLR0917 - fixtures
    visitor, case: Case, desk, people, valkey, verdict: str
) -> None:
    others = [visitor(name) for name in ("Bob", "Olu", "Rea")]
    for one in others:
        pages(one, case)  # the clock of their review begins
    before = [pages(one, case) for one in others]
    await desk.decide(case.id, people["Ada"][0], VERDICTS[verdict])
    private = ThreadMessage(
        author="Rewriter", author_kind="agent", kind="rewriting", revision=1, text="ZZ-secret",
        at=now(), private_to=people["Ada"][0].id,
    )  # fmt: skip
    said = await RedisReviews(valkey).say(case.id, private, key="private")
    assert [pages(one, case) for one in others] == before
    for one in others:
        hidden = one.get(f"/review/c/{case.id}/message/t{said}.txt")
        assert hidden.status_code == 404
        at = one.get(f"/review/c/{case.id}", params={"at": f"t{said}"})
        assert at.content == pages(one, case)[f"/review/c/{case.id}"]
    mine = visitor("Ada").get(f"/review/c/{case.id}").text
    assert "You are done here" in mine
    assert "ZZ-secret" in mine


async def test_a_stream_is_silent_while_others_decide(visitor, case: Case, desk, people) -> None:
    bob = visitor("Bob")
    address = bob.stream_of(bob.get(f"/review/c/{case.id}").text)
    heard: list[dict[str, str]] = []
    listening = threading.Thread(target=lambda: heard.extend(bob.events(address, 4)))
    listening.start()
    ada = people["Ada"][0]
    await desk.decide(case.id, ada, VERDICTS["reject"])
    await desk.undo(case.id, ada)
    await desk.decide(case.id, ada, VERDICTS["approve"])
    listening.join(30)
    assert heard == []


async def test_all_shows_when_all_is_in(visitor, case: Case, desk, people) -> None:
    bob, olu = visitor("Bob"), visitor("Olu")
    page = olu.get(f"/review/c/{case.id}").text
    await desk.decide(case.id, people["Ada"][0], VERDICTS["reject"])
    given = bob.send(case.id, "verdict", htmx=True, verdict="approve").text
    assert "ZZ-secret-words" in given
    assert "Ada" in given
    events = list(olu.events(olu.stream_of(page), 2.5))
    assert [one["event"] for one in events] == ["message", "message", "state"]
    assert re.search("ZZ-secret-words", events[0]["data"])


async def test_who_wrote_it_is_nowhere(visitor, valkey, desk, people, case: Case) -> None:
    reviews = RedisReviews(valkey)
    writer = case.first.model_copy(update={"rewriter": "ZZ-writer-model"})
    other = case.id.replace("gap-1", "gap-2")
    changes = {"first": writer, "writer": "ZZ-writer-model", "id": other}
    hidden = case.model_copy(update=changes)
    await reviews.open(hidden)
    page = visitor("Bob").get(f"/review/c/{hidden.id}").text
    assert "ZZ-writer-model" not in page
    assert "template" not in page  # the rewriter of every child in the transcript
