"""TS-Guessing tasks as questions to a pool: asked, kept and paid for like any item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill.items import Item
from benchfill_prompts import load, quote_untrusted

if TYPE_CHECKING:
    from benchfill.textbook.guessing import GuessTask

    from .pool.config import Pool

PROMPTS = ("guess_option", "guess_keyword")


def guess_item(task: GuessTask) -> Item:
    """Return the question that asks for what is hidden; its reference is what was hidden."""
    options = quote_untrusted("\n".join(f"- {one}" for one in task.options) or "(none)")
    question = quote_untrusted(task.question)
    if task.protocol == "hidden option":
        right = quote_untrusted(task.right)
        text = load("guess_option").render(question=question, options=options, right=right)
    else:
        text = load("guess_keyword").render(question=question, options=options)
    return Item(
        id=f"{task.item_id}#{task.protocol.replace(' ', '-')}",
        question=text,
        answer=task.hidden,
        domain="exact",
    )


def guessing_pool(pool: Pool) -> Pool:
    """Return the pool without its examples: they show how to answer, and nothing is answered."""
    bare = {"shots": 0, "examples": None}
    models = tuple(model.model_copy(update=bare) for model in pool.models)
    return pool.model_copy(update={"models": models, "examples": (), "scoring": "exact"})
