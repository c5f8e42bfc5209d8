"""The checks of a child's form: nothing is asked of a model (docs/method, section 7)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from benchfill.errors import InputError

from ..domains import domain_check
from ..domains.multiple_choice import as_written, folding
from ..pool.scoring import parse_number
from ..templates import answer, permitted, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchfill.items import Item

    from ..pool.config import Scoring

    Check = Callable[[Item], str | None]
    """Says why an item fails, in one sentence; None when it passes."""

MAX_QUESTION = 20_000
_SPACE = re.compile(r"\s+")


def form_checks(scoring: Scoring) -> tuple[tuple[str, Check], ...]:
    """Return the checks that cost nothing, by name, in the order in which they are made."""
    return (
        ("schema", _schema),
        ("answer_parses", lambda item: _answer_parses(item, scoring)),
        ("choices", _choices),
        ("template", _template),
    )


def domain_checks(scoring: Scoring) -> tuple[tuple[str, Check], ...]:
    """Return the checks of an item's domain, which may take seconds; they run in a thread."""
    return (("domain", lambda item: domain_check(item, scoring)),)


def normalised(text: str) -> str:
    """Fold what does not make another question: case, width, accents' form, space, end marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip(" .?!:;")


def _schema(item: Item) -> str | None:
    if not item.question.strip():
        return "The question is empty."
    if not item.answer.strip():
        return "There is no reference answer."
    if len(item.question) > MAX_QUESTION:
        return f"The question has {len(item.question)} characters; at most {MAX_QUESTION}."
    return None


def _answer_parses(item: Item, scoring: Scoring) -> str | None:
    if (item.domain or scoring) == "numeric" and parse_number(item.answer) is None:
        return f"The answer {item.answer[:80]!r} is not a number."
    return None


def _choices(item: Item) -> str | None:
    if not item.choices:
        return None
    # compared as replies are: capitals and marks count where options differ by them
    if len({as_written(choice) for choice in item.choices}) < len(item.choices):
        return "Two options are the same."
    fold = folding(item)
    if [fold(choice) for choice in item.choices].count(fold(item.answer)) != 1:
        return "The answer must be exactly one of the options."
    return None


def _template(item: Item) -> str | None:
    """Compute a programmatic item again from its values."""
    if item.template is None:
        return None
    try:
        if not permitted(item.template, item.values):
            return "The slot values are not permitted by the template."
        if render(item.template, item.values) != item.question:
            return "The question is not the template's with these slot values."
        if (expected := answer(item.template, item.values)) != item.answer:
            return f"The template's answer is {expected}, not {item.answer[:80]}."
    except InputError as error:
        return error.message
    return None
