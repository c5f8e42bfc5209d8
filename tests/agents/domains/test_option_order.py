"""Shuffled options mean what they meant: who reads them in any order reads the same item."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.items import Item
from benchfill_agents.domains.multiple_choice import MultipleChoice, choice_order, reordered

LETTERS = "ABCDEFG"
CONTENTS = ("red", "green", "blue", "white", "black", "7 m", "3.5 kg")
OF_ALL = ("None of the above", "All of the above", "None of these", "Two of the above.")
OF_SOME = ("Both {} and {}", "{} and {} only", "Neither {} nor {}", "{}, {}", "({}) or ({})")


@st.composite
def items(draw: st.DrawFn) -> Item:
    """Items with contents, and up to two options about others, anywhere."""
    choices = draw(st.lists(st.sampled_from(CONTENTS), min_size=2, max_size=5, unique=True))
    for _ in range(draw(st.integers(0, 2))):
        text = draw(st.sampled_from((*OF_ALL, *OF_SOME)))
        one, two = draw(st.permutations(LETTERS[: len(choices)]))[:2]
        text = text.format(one, two)
        if text not in choices:
            choices.insert(draw(st.integers(0, len(choices))), text)
    right = draw(st.sampled_from(choices))
    return Item(id="i", question="Which?", answer=right, choices=tuple(choices))


def meant(choices: tuple[str, ...], place: int) -> tuple[str, frozenset[str]]:
    """What an option says, and of which others: an independent, naive reader."""
    text = choices[place]
    letters = re.findall(r"(?<!\w)[A-G](?!\w)", text)
    if letters:
        named = frozenset(choices[LETTERS.index(one)] for one in letters)
        return re.sub(r"(?<!\w)[A-G](?!\w)", "_", text), named
    if "above" in text:
        return text, frozenset(choices[:place])
    if "these" in text:
        return text, frozenset(choices) - {text}
    return text, frozenset()


@settings(deadline=None)
@given(items(), st.integers(0, 200))
def test_a_shuffled_item_says_the_same(item: Item, sample: int) -> None:
    order = choice_order(item, sample)
    assert sorted(order) == list(range(len(item.choices)))
    shown = reordered(item, order)
    before = {item.choices[k]: meant(item.choices, k) for k in range(len(item.choices))}
    after = {shown.choices[k]: meant(shown.choices, k) for k in range(len(shown.choices))}
    assert after == before
    for k, text in enumerate(item.choices):
        if text in OF_ALL:
            assert shown.choices[k] == text


@settings(deadline=None)
@given(items(), st.integers(0, 200))
def test_the_right_option_is_right_by_its_letter_and_by_its_words(item: Item, sample: int) -> None:
    shown = reordered(item, choice_order(item, sample))
    domain = MultipleChoice()
    for k, text in enumerate(shown.choices):
        for reply in (LETTERS[k], f"The answer is ({LETTERS[k]})", text, f"{LETTERS[k]}. {text}"):
            found = domain.extract(reply, style="chat", item=shown)
            assert found is not None, reply
            assert found.answer == text
            assert domain.is_correct(found.answer, shown) == (text == item.answer)


@settings(deadline=None)
@given(st.lists(st.sampled_from(CONTENTS), min_size=2, max_size=7, unique=True))
def test_options_that_speak_of_no_other_all_move(choices: list[str]) -> None:
    item = Item(id="i", question="Which?", answer=choices[0], choices=tuple(choices))
    places = {
        (k, choice_order(item, sample)[k]) for sample in range(120) for k in range(len(choices))
    }
    assert len(places) == len(choices) ** 2


def test_orders_of_former_versions_stay() -> None:
    """Rollouts are kept by the order that was shown: it must not change between versions."""
    item = Item(id="i", question="Which?", answer="red", choices=CONTENTS[:4])
    assert [choice_order(item, sample) for sample in range(3)] == RECORDED


RECORDED = [(1, 3, 0, 2), (1, 3, 0, 2), (0, 2, 1, 3)]


@pytest.mark.parametrize("flag", [True, False])
def test_an_item_may_say_that_its_order_counts(flag: bool) -> None:
    item = Item(
        id="i", question="Which?", answer="red", choices=CONTENTS,
        metadata={"shuffle_choices": flag},
    )  # fmt: skip
    orders = {choice_order(item, sample) for sample in range(20)}
    assert (orders == {tuple(range(len(CONTENTS)))}) == (not flag)
