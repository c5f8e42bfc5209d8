"""Near-duplicates among real sentences (GSM8K, MIT licence), with the packaged model."""

from __future__ import annotations

import pytest

from benchfill.items import Item
from benchfill_agents.embeddings import SentenceEmbedder, installed
from benchfill_agents.templates import instantiate
from benchfill_agents.validator.duplicates import (
    NearDuplicates,
    is_compared,
    is_variation,
    judged,
    numbers_in,
)
from support.arithmetic_world import TEMPLATE
from support.sentences import DUCKS, KNOWN, PARAPHRASES, ROBE, SPRINTS

needs_extra = pytest.mark.skipif(not installed(), reason="the extra embeddings is not installed")


def child(question: str, answer: str) -> Item:
    return Item(id="child", question=question, answer=answer)


@needs_extra
@pytest.mark.parametrize("name", list(PARAPHRASES))
async def test_a_paraphrase_is_caught(name: str) -> None:
    answer = next(item.answer for item in KNOWN if item.id == name)
    item = child(PARAPHRASES[name], answer)
    finding, twin = judged(item, await NearDuplicates(SentenceEmbedder()).near(item, KNOWN))
    assert not finding.passed
    assert twin is not None
    assert twin.id == name
    assert finding.reason is not None
    assert finding.reason.startswith(f"It says nearly the same as item {name!r} (cosine 0.9")


@needs_extra
async def test_other_numbers_and_another_answer_pass_however_near() -> None:
    item = child(DUCKS.question.replace("16", "31").replace("$2", "$5"), "120")
    near = await NearDuplicates(SentenceEmbedder()).near(item, KNOWN)
    assert judged(item, near)[0].passed


def test_a_variation_is_noted_with_its_cosine() -> None:
    item = child(DUCKS.question.replace("16", "31").replace("$2", "$5"), "120")
    finding, twin = judged(item, [(DUCKS, 0.963)])
    assert finding.passed
    assert twin is None
    assert finding.note == "Item 'ducks' with other numbers and another answer (cosine 0.96)."
    # a second neighbour that it repeats is found behind the first
    finding, twin = judged(item, [(DUCKS, 0.963), (child(item.question, "120"), 0.91)])
    assert not finding.passed
    assert twin is not None


@needs_extra
async def test_other_numbers_with_the_same_answer_do_not_pass() -> None:
    item = child(SPRINTS.question.replace("60", "060").replace("3 times", "three times"), "540")
    near = await NearDuplicates(SentenceEmbedder()).near(item, KNOWN)
    assert not judged(item, near)[0].passed


@needs_extra
async def test_another_question_of_the_topic_is_not_near() -> None:
    item = child(
        "James runs 3 kilometers to school and takes the bus back home. The bus drives at 30 "
        "kilometers an hour. How many minutes does the way home take?",
        "6",
    )
    assert await NearDuplicates(SentenceEmbedder()).near(item, KNOWN) == []


def test_numbers_in_digits_and_in_words() -> None:
    assert numbers_in("Three of 1,200 at $2.50") == numbers_in("1200, 3 and 2.50")
    assert numbers_in("someone, often") == {}


def test_both_numbers_and_answer_must_differ() -> None:
    assert is_variation(child("2 plus 2", "4"), child("2 plus 3", "5"))
    assert not is_variation(child("2 plus 2", "4"), child("1 plus 3", "4.0"))
    assert not is_variation(child("2 plus 2", "4"), child("2 and 2", "5"))


def test_items_of_templates_are_not_compared() -> None:
    assert not is_compared(instantiate(TEMPLATE, {"a": 12, "b": 7}, "sum"))
    assert is_compared(ROBE)
