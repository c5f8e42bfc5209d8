"""An item as a writing model gives it, and what it must be to become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from benchfill.items import Item

from .child import Child, child_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autogen_core.models import CreateResult

MAX_QUESTION = 20_000  # characters; more is a model that runs in circles
MAX_ANSWER = 4_000


class Draft(BaseModel):
    """One item as the model writes it."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    question: str
    answer: str
    choices: list[str]
    what_changed: str
    rationale: str

    def problem(self, *, choices: int, repeats: Callable[[Draft], bool]) -> str | None:
        """Say why it cannot be used, to go after "it"; None when it can.

        `choices` is how many it must have, `repeats` whether it is no new item.
        """
        checks = {
            "has no question": not self.question.strip(),
            "has no answer": not self.answer.strip(),
            "is longer than an item may be": len(self.question.strip()) > MAX_QUESTION
            or len(self.answer.strip()) > MAX_ANSWER
            or any(len(choice) > MAX_ANSWER for choice in self.choices),
            f"has {len(self.choices)} choices instead of {choices}": len(self.choices) != choices,
            "has the same choice twice": len(set(self.choices)) != len(self.choices),
            "has an answer that is not among its choices": choices > 0
            and self.answer not in self.choices,
            "repeats an item that exists": repeats(self),
        }
        return next((problem for problem, found in checks.items() if found), None)

    def metadata(self) -> dict[str, Any]:
        """Return what its domain scores it by, beside the answer."""
        return {}

    def child(self, parent_id: str, target_z: float, parent: Item) -> Child:
        """Return the item that it is, of its parent's domain, with what was said of it."""
        question = self.question.strip()
        answer = self.answer if self.choices else self.answer.strip()
        return Child(
            item=Item(
                id=child_id(parent_id, question, answer),
                question=question,
                answer=answer,
                choices=tuple(self.choices),
                metadata=self.metadata(),
                domain=parent.domain,
            ),
            parent_id=parent_id,
            target_z=target_z,
            rewriter="llm",
            what_changed=self.what_changed.strip(),
            rationale=self.rationale.strip(),
        )


def content_of(question: str, choices: Sequence[str] = ()) -> str:
    """Return what makes two items the same, whatever their spaces and capitals."""
    return " | ".join(" ".join(part.split()).casefold() for part in (question, *sorted(choices)))


def text_of(result: CreateResult) -> str:
    """Return a reply's text; empty when it holds none."""
    return result.content if isinstance(result.content, str) else ""


def unusable(result: CreateResult, why: str) -> str:
    """Say in a sentence why a reply holds no item; `why` is what does not fit its schema."""
    if result.finish_reason == "content_filter":
        return "The model refused."
    if result.finish_reason == "length":
        return "The reply was cut off at the token limit; be shorter."
    if not text_of(result).strip():
        return "The reply holds no text."
    return f"The reply does not fit the schema: {why}"
