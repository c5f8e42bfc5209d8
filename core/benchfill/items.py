"""Benchmark items: what is asked, what is right, and the template an item was made from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from .errors import InputError
from .validation_words import first_problem

SlotValue = int | str
ItemDomain = Literal["exact", "numeric", "math", "multiple_choice", "code", "instructions"]
"""How replies to an item are scored; docs/domains.md says what each needs of the item."""


class Slot(BaseModel):
    """The values a template's slot may take: a range of integers or a list of words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: int | None = Field(None, description="smallest integer, inclusive")
    high: int | None = Field(None, description="largest integer, inclusive")
    words: tuple[str, ...] = Field((), description="the words to choose from, instead of a range")

    @model_validator(mode="after")
    def _one_kind(self) -> Slot:
        ranged = self.low is not None and self.high is not None
        if ranged == bool(self.words):
            raise ValueError("a slot has either low and high or words")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


class Template(BaseModel):
    """A programmatic item: a text with slots, constraints on them, and the answer's expression.

    Expressions are arithmetic over the slots' names. They are data: whoever evaluates them uses a
    restricted evaluator with limits, never ``eval``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="kind of item, the same for all items of the template")
    text: str = Field(description="question, with slots as {name}")
    slots: dict[str, Slot]
    constraints: tuple[str, ...] = Field((), description="expressions that must all be true")
    answer: str = Field(description="expression that gives the reference answer")


class Item(BaseModel):
    """One benchmark item. All text in it is untrusted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1, description="unique within its benchmark")
    question: str = Field(min_length=1)
    answer: str = Field(description="reference answer")
    choices: tuple[str, ...] = Field((), description="options of a multiple-choice item, in order")
    template: Template | None = Field(None, description="what the item was made from, if anything")
    values: dict[str, SlotValue] = Field({}, description="slot values of the template")
    metadata: dict[str, Any] = Field({}, description="anything the benchmark keeps beside an item")
    # left out where it is not set, so that the files of items without it stay as they are
    domain: ItemDomain | None = Field(
        None,
        description="how replies are scored, where not as the pool's `scoring` says",
        exclude_if=lambda value: value is None,
    )

    @property
    def guessing(self) -> float:
        """Probability of a right answer by chance: 1 / number of choices, 0 without choices."""
        return 1 / len(self.choices) if self.choices else 0.0

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of question, answer and choices: what a rollout depends on."""
        content = json.dumps(
            [self.question, self.answer, list(self.choices)], ensure_ascii=False
        ).encode()
        return hashlib.sha256(content).hexdigest()


def read_items(path: str | Path) -> tuple[Item, ...]:
    """Read items from a JSONL file, one object a line with the fields of `Item`.

    Raises
    ------
    InputError
        Names file, line and field of the first thing that cannot be used.
    """
    path = Path(path)
    items: list[Item] = []
    seen: dict[str, int] = {}
    try:
        # not splitlines(): JSON allows U+2028 in a text, which it takes for the end of a line
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}).", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8; save the file as UTF-8.", source=str(path)
        ) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        item = _parse_item(line, str(path), number)
        if item.id in seen:
            raise InputError(
                f"item id {item.id!r} stands already on line {seen[item.id]}; ids must be unique.",
                source=str(path),
                line=number,
            )
        seen[item.id] = number
        items.append(item)
    if not items:
        raise InputError("holds no item; expected one JSON object a line.", source=str(path))
    return tuple(items)


def _parse_item(line: str, source: str, number: int) -> Item:
    try:
        return Item.model_validate_json(line)
    except ValidationError as error:
        place, said = first_problem(error, Item)
        raise InputError(
            said if said.endswith("?") else f"{said}.",
            source=source,
            line=number,
            field=".".join(str(part) for part in place) or None,
        ) from None
    except RecursionError:
        raise InputError("is nested too deeply.", source=source, line=number) from None
