"""Transcripts as files: all that one may see, nothing that breaks out, nothing that is hidden."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from benchfill_services.review.desk import ReviewDesk
from benchfill_services.review.rules import NewVerdict
from benchfill_services.review.transcript import as_jsonl, as_markdown, fenced, transcript_of
from benchfill_services.store.transcript import RedisTranscript
from support.fills import make_fill
from support.merge_world import ADA, BOB, OPS, YES
from support.review_cases import make_case

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_services.review.case import Case
    from benchfill_services.review.rules import Person

HOSTILE = (
    "```\n# not a heading\n`````md\n<script>alert(1)</script>\u202e\x1b[31m\u200b~~~\n"
    "| [x](javascript:1)"
)
NO = NewVerdict("reject", ("ambiguous",), "12 or 13? ``` <b>")


@pytest.fixture
def desk(valkey: Redis) -> ReviewDesk:
    return ReviewDesk(valkey)


async def open_case(valkey: Redis, desk: ReviewDesk, text: str = "") -> Case:
    case = make_case(text)
    await desk.reviews.open(case)
    messages = make_fill(text).transcripts[case.gap]
    for number, message in enumerate(messages):
        await RedisTranscript(valkey, case.job, case.gap).append(message, key=str(number))
    return case


async def both(valkey: Redis, desk: ReviewDesk, case: Case, person: Person) -> tuple[str, str]:
    view, entries = await transcript_of(valkey, desk, case.id, person)
    return as_markdown(view, entries), as_jsonl(entries)


async def test_all_that_was_said_is_in_both_forms(valkey, desk) -> None:
    case = await open_case(valkey, desk)
    await desk.decide(case.id, ADA, YES)
    await desk.decide(case.id, BOB, NO)
    await desk.adjudicate(case.id, OPS, YES)
    markdown, lines = await both(valkey, desk, case, ADA)
    said = make_fill().transcripts[case.gap]
    entries = [json.loads(line) for line in lines.splitlines()]
    assert [one["text"] for one in entries[: len(said)]] == [one["text"] for one in said]
    assert [one["author"] for one in entries[: len(said)]] == [one["author"] for one in said]
    verdicts = [(one["author"], one["verdict"]) for one in entries[len(said) :]]
    assert verdicts == [("you", "approve"), (BOB.id, "reject"), (OPS.id, "approve")]
    assert len({one["id"] for one in entries}) == len(entries)
    assert all(re.fullmatch(r"[ftvr][0-9][0-9.-]*", one["id"]) for one in entries)
    for one in entries:
        assert f"`{one['id']}`" in markdown
        assert one["text"].split("\n")[0] in markdown
    assert "**reject** (ambiguous)" in markdown
    assert case.parent.question in markdown


async def test_nothing_of_a_verdict_is_in_it_before_all_are_in(valkey, desk) -> None:
    case = await open_case(valkey, desk)
    before = await both(valkey, desk, case, BOB)
    await desk.decide(case.id, ADA, NO)
    assert await both(valkey, desk, case, BOB) == before
    assert await both(valkey, desk, case, OPS) == before


async def test_no_text_breaks_out_of_its_fence_or_steers_a_terminal(valkey, desk) -> None:
    case = await open_case(valkey, desk, HOSTILE)
    await desk.decide(case.id, ADA, YES)
    await desk.decide(case.id, BOB, NewVerdict("reject", ("other",), HOSTILE))
    markdown, lines = await both(valkey, desk, case, ADA)
    for whole in (markdown, lines):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e]", whole)
    outside, fence = [], None
    for line in markdown.split("\n"):
        if fence is None and (opened := re.match(r"(`{3,})text$", line)):
            fence = opened[1]
        elif fence is not None and re.fullmatch(f"{fence}`*", line):
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None
    left = "\n".join(outside)
    assert "<script" not in left
    assert not re.search(r"(?<!\\)[<\[]", left)
    assert not any("not a heading" in line and line.startswith("#") for line in outside)
    assert len(lines.splitlines()) == len([json.loads(one) for one in lines.splitlines()])


@pytest.mark.parametrize("text", ["", "`", "```", "`" * 40, "a\n````\nb", "~~~"])
def test_a_fence_is_longer_than_what_it_holds(text: str) -> None:
    first, *inside, last, end = fenced(text).split("\n")
    assert (first.removesuffix("text"), end) == (last, "")
    assert "\n".join(inside) == text
    assert last not in text or not text
