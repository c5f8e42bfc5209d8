"""Programmatic items: slot values put into a template, the answer computed.

A template is data from a file. Its expressions go through simpleeval (no names but the slots, no
attributes, no calls, bounded powers and strings), its text through a plain replacement of
``{slot}``, never through ``str.format``.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from simpleeval import InvalidExpression, SimpleEval

from benchfill.errors import InputError
from benchfill.items import Item, SlotValue, Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

MAX_EXPRESSION = 500
MAX_ENUMERATED = 20_000
_PLACE = re.compile(r"\{(\w+)\}")


def render(template: Template, values: Mapping[str, SlotValue]) -> str:
    """Put slot values into the template's text."""

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1)
        return str(values[name]) if name in values else match.group(0)

    return _PLACE.sub(value_of, template.text)


def permitted(template: Template, values: Mapping[str, SlotValue]) -> bool:
    """Whether values lie in their slots and fulfil the constraints."""
    if set(values) != set(template.slots):
        return False
    for name, slot in template.slots.items():
        value = values[name]
        if slot.words:
            if value not in slot.words:
                return False
        elif not isinstance(value, int) or not _low(slot.low) <= value <= _low(slot.high):
            return False
    return all(_evaluate(template, text, values) is True for text in template.constraints)


def answer(template: Template, values: Mapping[str, SlotValue]) -> str:
    """Compute the reference answer; a whole number is written without a fraction.

    Raises
    ------
    InputError
        The expression cannot be evaluated.
    """
    result = _evaluate(template, template.answer, values)
    if isinstance(result, float) and result.is_integer():
        result = int(result)
    return str(result)


def instantiate(template: Template, values: Mapping[str, SlotValue], item_id: str) -> Item:
    """Make the item of permitted slot values."""
    return Item(
        id=item_id,
        question=render(template, values),
        answer=answer(template, values),
        template=template,
        values=dict(values),
    )


def combinations(
    template: Template, rng: np.random.Generator, count: int
) -> Iterator[dict[str, SlotValue]]:
    """Yield up to `count` different permitted slot values in random order.

    All combinations are gone through where there are few; otherwise values are drawn.
    """
    ranges = [
        list(slot.words) if slot.words else range(_low(slot.low), _low(slot.high) + 1)
        for slot in template.slots.values()
    ]
    names = list(template.slots)
    total = 1
    for values in ranges:
        total *= len(values)
    if total <= MAX_ENUMERATED:
        everything = list(itertools.product(*ranges))
        drawn = (everything[k] for k in rng.permutation(len(everything)))
    else:
        drawn = (
            tuple(values[int(rng.integers(len(values)))] for values in ranges)
            for _ in range(20 * count)
        )
    seen: set[tuple[SlotValue, ...]] = set()
    for chosen in drawn:
        assigned = dict(zip(names, chosen, strict=True))
        if chosen in seen or not permitted(template, assigned):
            continue
        seen.add(chosen)
        yield assigned
        if len(seen) == count:
            return


def _low(bound: int | None) -> int:
    # a slot without words has both bounds (see `Slot`)
    return 0 if bound is None else bound


def _evaluate(template: Template, text: str, values: Mapping[str, SlotValue]) -> object:
    if len(text) > MAX_EXPRESSION:
        raise InputError(f"an expression has {len(text)} characters.", field=template.name)
    evaluator = SimpleEval(names=dict(values), functions={})
    try:
        return evaluator.eval(text)
    except (InvalidExpression, ArithmeticError, TypeError, ValueError, SyntaxError) as error:
        raise InputError(
            f"the expression {text!r} cannot be evaluated ({error}).",
            field=f"template {template.name!r}",
        ) from None
