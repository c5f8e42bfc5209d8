from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfill_agents.pool.scoring import extract, is_correct, parse_number

if TYPE_CHECKING:
    from benchfill_agents.pool.config import Style
    from benchfill_agents.pool.scoring import TextScoring


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (" 12\n3 + 4", "12"),
        (" 12", "12"),
        ("= 12", "12"),
        (" -3.", "-3"),
        (" −3\n", "−3"),
        ("+4", "+4"),
        (" 1,234 apples", "1,234"),
        (" 12,13", "12"),
        (" 3.50", "3.50"),
        (" .5", ".5"),
        (" 3/4\n", "3/4"),
        ("$12", "$12"),
        (" 3 + 2 = 5", "3"),
        (" The answer is 12.\n7", "12"),
        (" the next number", None),
        (" apples\n12", None),
        ("", None),
        (" 3/0\n", None),
        (" " + "9" * 5000, None),
        (" ٣", None),
    ],
)
def test_a_completion_answers_with_its_leading_number(text: str, answer: str | None) -> None:
    found = extract(text, style="completion", scoring="numeric")
    assert (found.answer if found else None) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("12", "12"),
        ("The answer is 12.", "12"),
        ("The answer is **12**, since 3 * 4 = 13 - 1.", "12"),
        ("3 + 4 = 7", "7"),
        ("3 + 4 = 7, as 7 has 1 digit", "7"),
        ("5 and 6 make 11 apples", "11"),
        (r"So \boxed{42} it is, of 50", "42"),
        ("#### 1,000", "1,000"),
        ("It is 9-4, that is 5", "5"),
        ("Answer: -7", "-7"),
        ("It equals -7.", "-7"),
        ("I do not know.", None),
        ("", None),
    ],
)
def test_a_chat_answers_with_what_it_marks_or_says_last(text: str, answer: str | None) -> None:
    found = extract(text, style="chat", scoring="numeric")
    assert (found.answer if found else None) == answer


@pytest.mark.parametrize(
    ("text", "style", "answer"),
    [
        (" Paris\nLondon", "completion", "Paris"),
        ("\n\n", "completion", None),
        ("The answer is Paris.", "chat", "Paris."),
        ("Paris", "chat", "Paris"),
        ("...", "chat", None),
    ],
)
def test_exact_answers(text: str, style: Style, answer: str | None) -> None:
    found = extract(text, style=style, scoring="exact")
    assert (found.answer if found else None) == answer


@pytest.mark.parametrize(
    ("answer", "reference", "scoring", "correct"),
    [
        ("12.0", "12", "numeric", True),
        ("1,200", "1200", "numeric", True),
        ("2/4", "0.5", "numeric", True),
        ("−3", "-3", "numeric", True),
        ("12", "21", "numeric", False),
        (" paris. ", "Paris", "exact", True),
        ("New  York", "new york", "exact", True),
        ("12.0", "12", "exact", False),
    ],
)
def test_scores(answer: str, reference: str, scoring: TextScoring, correct: bool) -> None:
    assert is_correct(answer, reference, scoring) is correct


def test_a_reference_that_is_no_number_is_not_scored() -> None:
    with pytest.raises(ValueError, match="is not a number"):
        is_correct("12", "twelve", "numeric")


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", " ", "\n2 + 2 = 4", " apples", "."]))
def test_any_leading_integer_is_found(number: int, rest: str) -> None:
    found = extract(f" {number:,}{rest}", style="completion", scoring="numeric")
    assert found is not None
    assert parse_number(found.answer) == Fraction(number)


@given(st.text(max_size=300), st.sampled_from(["completion", "chat"]))
def test_no_text_breaks_extraction(text: str, style: Style) -> None:
    for scoring in ("numeric", "exact"):
        found = extract(text, style=style, scoring=scoring)
        if found is not None and scoring == "numeric":
            assert parse_number(found.answer) is not None
