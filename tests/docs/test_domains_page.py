"""docs/domains.md and docs/runners.md say what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchfill.items import Item
from benchfill_agents.domains import DOMAINS, domain_check
from benchfill_agents.domains.checkers import CHECKERS
from benchfill_agents.domains.sandbox import Limits

DOCS = Path(__file__).parents[2] / "docs"
DOMAINS_PAGE = (DOCS / "domains.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_the_example_runner_is_the_one_that_is_tested() -> None:
    (shown,) = blocks((DOCS / "runners.md").read_text(encoding="utf-8"), "python")
    tested = (DOCS.parent / "tests" / "support" / "example_runner.py").read_text(encoding="utf-8")
    head, _, body = tested.replace("  # noqa: T201", "").partition("\n\n")
    assert head.startswith('"""The example of docs/runners.md')
    assert shown == body
    assert shown.count("\n") <= 22


def test_every_domain_and_checker_is_named() -> None:
    table = set(re.findall(r"^\| `(\w+)` \|", DOMAINS_PAGE.split("##")[0], re.MULTILINE))
    assert table == set(DOMAINS)
    families = re.findall(r"^\| `(\w+:)` \| (.*) \|$", DOMAINS_PAGE, re.MULTILINE)
    named = {family + name for family, row in families for name in re.findall(r"`(\w+)`", row)}
    assert named == set(CHECKERS)


def test_limits_and_their_defaults() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([\d, ]+) \|", DOMAINS_PAGE, re.MULTILINE)
    shown = {
        name: float(value)
        for names, values in rows
        for name, value in zip(re.findall(r"`(\w+)`", names), values.split(", "), strict=True)
    }
    assert shown == Limits().model_dump()


def test_the_items_shown_are_sound() -> None:
    shown = [
        Item.model_validate(one)
        for block in blocks(DOMAINS_PAGE, "json")
        for one in _objects(block)
        if one["answer"] != "Dear ..."
    ]
    assert [item.domain for item in shown] == ["math", "multiple_choice", "code"]
    assert [domain_check(item, "exact") for item in shown] == [None, None, None]


def _objects(text: str) -> list[dict[str, str]]:
    decoder, place, found = json.JSONDecoder(), 0, []
    while (place := text.find("{", place)) >= 0:
        one, place = decoder.raw_decode(text, place)
        found.append(one)
    return found
