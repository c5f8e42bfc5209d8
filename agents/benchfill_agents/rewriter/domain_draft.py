"""What a writing model gives beside question and answer, by the domain of the item."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, create_model

from benchfill_prompts import load

from ..domains.code import TESTS
from ..domains.instructions import ARGUMENTS_OF, IDS
from ..domains.math import SOLUTION
from .draft import Draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchfill.items import ItemDomain

    from ..domains import Domain


class MathDraft(Draft):
    """An item whose answer is mathematics."""

    solution: str

    def metadata(self) -> dict[str, Any]:
        """See `Draft.metadata`."""
        return {SOLUTION: self.solution.strip()}


class CodeDraft(Draft):
    """An item that asks for a program."""

    tests: list[str]

    def metadata(self) -> dict[str, Any]:
        """See `Draft.metadata`."""
        return {TESTS: list(self.tests)}


class CheckDraft(BaseModel):
    """A checker by its name; the arguments are JSON in a text, as their names differ."""

    id: str
    arguments: str = Field(description="JSON object")

    def read(self) -> dict[str, Any] | None:
        """Return the arguments; None where they are no JSON object."""
        try:
            read = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read, dict) else None


class InstructionsDraft(Draft):
    """An item whose replies are checked."""

    checks: list[CheckDraft]

    def metadata(self) -> dict[str, Any]:
        """See `Draft.metadata`."""
        return {
            IDS: [check.id for check in self.checks],
            ARGUMENTS_OF: [check.read() or {} for check in self.checks],
        }

    def problem(self, *, choices: int, repeats: Callable[[Draft], bool]) -> str | None:
        """See `Draft.problem`."""
        odd = next((check.id for check in self.checks if check.read() is None), None)
        if odd is not None:
            return f"has arguments of {odd[:60]} that are no JSON object"
        return super().problem(choices=choices, repeats=repeats)


class Drafts(BaseModel):
    """A model's whole reply."""

    children: list[Draft]


DRAFTS: dict[ItemDomain, type[Draft]] = {
    "math": MathDraft,
    "code": CodeDraft,
    "instructions": InstructionsDraft,
}


@functools.cache
def replies(domain: ItemDomain) -> type[Drafts]:
    """Return the form of a reply with children of a domain."""
    form = DRAFTS.get(domain)
    if form is None:
        return Drafts
    children = (list[form], ...)  # type: ignore[valid-type]
    return create_model(f"{form.__name__}s", __base__=Drafts, children=children)


def rules_of(domain: Domain) -> str:
    """Return what a writing model is told of a domain."""
    return load(domain.rewriting_prompt).render(**domain.rewriting_values)
