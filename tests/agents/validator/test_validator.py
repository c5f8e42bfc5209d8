"""The checks in their order, over children of one attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pytest

from benchfill.items import Item
from benchfill_agents.rewriter import Child
from benchfill_agents.validator import Validator
from benchfill_agents.validator.duplicates import NearDuplicates
from support.judging import ScriptedJudge, judge_at, solution, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from support.scripted_server import ScriptedServer


class FirstWords:
    """An `Embedder` to which texts with the same first word are the same."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 256), np.float32)
        for row, text in enumerate(texts):
            vectors[row, crc32(text.split()[0].encode()) % 256] = 1
        return vectors


def child(question: str, answer: str, name: str = "") -> Child:
    item = Item(id=name or question, question=question, answer=answer)
    return Child(
        item=item, parent_id="p", target_z=0.5, rewriter="llm", what_changed="", rationale=""
    )


async def test_the_first_failure_stops_a_child() -> None:
    validator = Validator("numeric", duplicates=NearDuplicates(FirstWords()))
    known = [Item(id="known", question="Ann has 3.", answer="3")]
    given = [child("Bob has 4.", "four"), child("ann  HAS 3", "3"), child("Ann owns 3.", "3"),
             child("Ann has 4.", "4"), child("Cyd has 3.", "3")]  # fmt: skip
    verdicts = await validator.validate(given, known)
    assert [one.findings[-1].check for one in verdicts] == [
        "answer_parses", "new", "near_duplicate", "domain", "domain",
    ]  # fmt: skip
    assert [one.valid for one in verdicts] == [False, False, False, True, True]
    assert verdicts[3].notes == (
        "Item 'known' with other numbers and another answer (cosine 1.00).",
    )
    assert validator.checks[:6] == (
        "schema", "answer_parses", "choices", "template", "new", "near_duplicate",
    )  # fmt: skip
    assert validator.checks[-2:] == ("blind_solve", "judge")


async def test_the_same_child_twice_is_valid_once() -> None:
    twin = child("Ann has 3.", "3", "one id")
    first, second = await Validator("numeric").validate([twin, twin], [])
    assert first.valid
    assert second.reasons == ("The same question is item 'one id' already.",)


async def test_who_resembles_a_sibling_waits_for_its_verdict(
    scripted_server: ScriptedServer,
) -> None:
    def blind(request):  # the first of the three is judged to have a wrong key
        return solution("3")

    judge = ScriptedJudge(blind=blind, verdict=[verdict()])
    scripted_server.script(judge)
    validator = Validator(
        "numeric", duplicates=NearDuplicates(FirstWords()), judge=judge_at(scripted_server.url)
    )
    wrong, right, again = await validator.validate(
        [child("Ann has 3, or not?", "4"), child("Ann owns 3?", "3"), child("Ann holds 3?", "3")],
        [],
    )
    assert wrong.findings[-1].check == "blind_solve"
    # the second is no duplicate of what was turned down, but the third is one of the second
    assert right.valid
    assert again.reasons[0].startswith("It says nearly the same as item 'Ann owns 3?'")


async def test_a_judge_that_gives_nothing_blames_nobody(scripted_server: ScriptedServer) -> None:
    scripted_server.script(ScriptedJudge(blind=[solution("3")], verdict=["Fine."]))
    validator = Validator("numeric", judge=judge_at(scripted_server.url))
    (one,) = await validator.validate([child("Ann has 3.", "3")], [])
    assert not one.valid
    assert not one.blames_child


@pytest.mark.parametrize(
    ("choices", "answer", "why"),
    [
        (("Na", "NA", "K"), "Na", None),
        (("x", "X"), "X", None),
        (("5", "5!"), "5!", None),
        (("x²", "x2"), "x²", None),
        (("Yes", "No"), "yes", None),
        (("Na", "NA"), "na", "The answer must be exactly one of the options."),
        (("Na", "K"), "Cl", "The answer must be exactly one of the options."),
        (("a  b", "a b ", "c"), "c", "Two options are the same."),
    ],
)
async def test_options_that_differ_by_capitals_or_marks_are_two(
    choices: tuple[str, ...], answer: str, why: str | None
) -> None:
    one = child("Which one is sodium?", answer)
    one = one.model_copy(update={"item": one.item.model_copy(update={"choices": choices})})
    (found,) = await Validator("multiple_choice").validate([one], [])
    assert found.valid == (why is None)
    assert found.reasons == (() if why is None else (why,))
