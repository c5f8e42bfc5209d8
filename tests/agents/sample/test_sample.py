from __future__ import annotations

import csv
from collections import Counter

import pytest

from benchfill.items import read_items
from benchfill_agents.pool.config import read_pool
from benchfill_agents.sample import items_path, pool_path, responses_path
from benchfill_agents.sample.make_items import KINDS, make_item
from benchfill_agents.templates import permitted, render

ITEMS = read_items(items_path())


def test_the_items_are_what_the_script_makes() -> None:
    assert tuple(item for kind in KINDS for item in kind.items()) == ITEMS


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_template_gives_its_item_back(item) -> None:
    assert item.template is not None
    assert make_item(item.template, tuple(item.values.values())) == item


def test_no_question_stands_twice() -> None:
    assert max(Counter(item.question for item in ITEMS).values()) == 1


def test_no_template_can_ask_what_the_pool_shows_as_an_example() -> None:
    shown = {example.question for example in read_pool(pool_path()).examples}
    for kind in KINDS:
        assert not _reachable(kind.template, shown), kind.template.name


def test_values_that_a_template_forbids_are_refused() -> None:
    template = next(k.template for k in KINDS if k.template.name == "one-digit-sum-carry")
    with pytest.raises(ValueError, match="'one-digit-sum-carry' does not permit"):
        make_item(template, (1, 2))
    with pytest.raises(ValueError, match="'one-digit-sum-carry' does not permit"):
        make_item(template, (10, 2))


def test_every_member_of_the_pool_answered_every_item_at_least_16_times() -> None:
    with responses_path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [model.response_name for model in read_pool(pool_path()).models]
    cells = [(row["model"], row["item"]) for row in rows]
    assert sorted(cells) == sorted((name, item.id) for name in names for item in ITEMS)
    assert min(int(row["n"]) for row in rows) >= 16
    assert all(0 <= int(row["correct"]) <= int(row["n"]) for row in rows)


def _reachable(template, questions):
    """Those of the questions that permitted slot values of the template give."""
    grid = [{}]
    for name, slot in template.slots.items():
        grid = [
            {**values, name: value} for values in grid for value in range(slot.low, slot.high + 1)
        ]
    return {
        question
        for values in grid
        if (question := render(template, values)) in questions and permitted(template, values)
    }
