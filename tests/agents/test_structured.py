"""JSON is found in what models write around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from benchfill_agents.structured import describe, parse_structured


class Pair(BaseModel):
    a: int
    b: str


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": "}{"}',
        'Here: {"a": 1, "b": "}{"} and more.',
        'First {"a": 2}, no, {"a": 1, "b": "}{"}',
        '```\n{"a": 1, "b": "}{"}\n```',
        'I think {so}.\n```json\n{"a": 1, "b": "}{"}\n```',
    ],
)
def test_finds_the_object_that_fits(text: str) -> None:
    assert parse_structured(text, Pair) == Pair(a=1, b="}{")


@given(st.text(), st.text(alphabet='{}[]": \n`'))
def test_any_text_parses_or_raises(before: str, after: str) -> None:
    with pytest.raises(ValidationError):
        parse_structured(before.replace('"a"', "") + after, Pair)


@pytest.mark.parametrize("text", ["{" * 200_000, "[" * 200_000, '{"a":' * 50_000])
def test_deep_nesting_ends_quickly(text: str) -> None:
    with pytest.raises(ValidationError):
        parse_structured(text, Pair)


def test_says_what_does_not_fit_without_repeating_it() -> None:
    with pytest.raises(ValidationError) as caught:
        parse_structured('Well, {"a": "secret"}', Pair)
    said = describe(caught.value)
    assert said.startswith("a: Input should be a valid integer")
    assert "b: Field required" in said
    assert "secret" not in said
    with pytest.raises(ValidationError) as caught:
        parse_structured("secret", Pair)
    assert describe(caught.value) == "it holds no valid JSON object."
