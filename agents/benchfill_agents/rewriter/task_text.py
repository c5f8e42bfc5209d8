"""A rewrite task in words: difficulties from 0 to 10, and every item's text behind its fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill_prompts import quote_untrusted

from ..domains import details_of

if TYPE_CHECKING:
    from benchfill.items import Item

    from ..memory import MemoryEntry
    from .child import Rejection, RewriteTask

REFERENCES_PER_SIDE = 8
REJECTIONS_SHOWN = 16


def difficulty(z: float) -> str:
    """Write z as the prompts show it: .598 is 5.98."""
    return f"{round(10 * z, 2) + 0.0:.2f}"  # + 0.0 turns -0.0 into 0.0


def task_text(task: RewriteTask) -> dict[str, str | int]:
    """Return the values of the template `rewrite_task`."""
    return {
        "target": difficulty(task.target_z),
        "count": task.count,
        "parent_difficulty": difficulty(task.parent.z),
        "parent": quote_untrusted(item_text(task.parent.item)),
        "references_below": references_text(task.references_below, "easier"),
        "references_above": references_text(task.references_above, "harder"),
        "rejections": rejections_text(task.rejected),
    }


def item_text(item: Item) -> str:
    """Write an item down. It is untrusted: it goes behind a fence."""
    choices = ["Choices:", *(f"- {choice}" for choice in item.choices)] if item.choices else []
    known = [f"Question: {item.question}", *choices, f"Answer: {item.answer}"]
    return "\n".join([*known, *details_of(item)])


def references_text(entries: tuple[MemoryEntry, ...], kind: str) -> str:
    """Write references down, each behind its fence."""
    if not entries:
        return f"(no item is {kind} than the target)"
    return "\n\n".join(
        f"Difficulty {difficulty(entry.z)}\n{quote_untrusted(item_text(entry.item))}"
        for entry in entries[:REFERENCES_PER_SIDE]
    )


def rejections_text(rejected: tuple[Rejection, ...]) -> str:
    """Write down what was turned down and why, each behind its fence."""
    if not rejected:
        return "(none)"
    return "\n\n".join(
        quote_untrusted(
            f"Question: {child.question}\nAnswer: {child.answer}\n"
            f"Rejected because: {'; '.join(child.reasons)}"
        )
        for child in rejected[-REJECTIONS_SHOWN:]
    )
