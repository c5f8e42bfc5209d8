"""Every planted fault is found, under its own name, and no right item is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill.textbook.arranging import arrange
from benchfill.textbook.computing.process import Computer
from benchfill.textbook.finding import GraphFault, QuestionFault
from benchfill.textbook.graph_checks import check_graph
from benchfill.textbook.question import LETTERS
from benchfill.textbook.question_checks import check_arranged, check_question
from support.textbook_good_algebra import GOOD_ALGEBRA
from support.textbook_good_python import GOOD_PYTHON
from support.textbook_held_out import BAD as HELD_OUT_BAD
from support.textbook_held_out import GOOD as HELD_OUT_GOOD
from support.textbook_held_out import none_although_one_is_right
from support.textbook_items import knowledge
from support.textbook_planted import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchfill.textbook.finding import Finding
    from support.textbook_items import ItemCase
    from support.textbook_planted import Planted

GOOD = (*GOOD_PYTHON, *GOOD_ALGEBRA, *HELD_OUT_GOOD)


@pytest.fixture(scope="module")
def computer() -> Iterator[Computer]:
    with Computer() as one:
        yield one


def everything(one: ItemCase, computer: Computer) -> list[Finding]:
    """Findings of all checks, with each letter as the key."""
    found = [
        *check_graph(one.graph, knowledge(), computer),
        *check_question(one.question, one.graph, knowledge(), computer),
    ]
    for seed, key in enumerate(LETTERS):
        arranged = arrange(one.question, key, seed=seed)
        found += check_arranged(arranged, one.question, one.graph, computer)
    return found


@pytest.mark.parametrize("make", GOOD, ids=lambda make: make.__name__)
def test_a_right_item_passes(make: Callable[[], ItemCase], computer: Computer) -> None:
    assert everything(make(), computer) == []


@pytest.mark.parametrize("planted", FAULTS, ids=lambda planted: planted.name)
def test_a_planted_fault_is_found_under_its_name(planted: Planted, computer: Computer) -> None:
    one = planted.item
    if planted.arranged is not None:
        found = check_arranged(planted.arranged, one.question, one.graph, computer)
    else:
        found = (
            *check_graph(one.graph, knowledge(), computer),
            *check_question(one.question, one.graph, knowledge(), computer),
        )
    assert planted.code in {finding.code for finding in found}
    assert all(finding.message.endswith(".") for finding in found)


@pytest.mark.parametrize("make", HELD_OUT_BAD, ids=lambda make: make.__name__)
def test_a_fault_kept_back_is_found(make: Callable[[], ItemCase], computer: Computer) -> None:
    assert everything(make(), computer)


def test_the_wrong_use_of_e_that_was_kept_back_is_found(computer: Computer) -> None:
    one, arranged = none_although_one_is_right()
    found = check_arranged(arranged, one.question, one.graph, computer)
    assert "e_right" in {finding.code for finding in found}


def test_there_are_thirty_of_each_and_every_code_is_planted() -> None:
    assert len(FAULTS) >= 30
    assert len(GOOD) >= 30
    codes = {*GraphFault.__args__, *QuestionFault.__args__}
    assert codes == {one.code for one in FAULTS}
