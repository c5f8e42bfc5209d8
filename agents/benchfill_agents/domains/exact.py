"""Exact text: case, width, white space and enclosing punctuation aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..pool.scoring import Extracted, extract, is_correct
from .interface import Domain

if TYPE_CHECKING:
    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style


class Exact(Domain):
    """Replies whose text is the reference."""

    name: ClassVar[ItemDomain] = "exact"
    chat_prompt = "solve_chat"

    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:  # noqa: ARG002
        """See `Domain.extract`: what is boxed, what follows "answer is", or all of the reply."""
        return extract(text, style=style, scoring="exact")

    def is_correct(self, answer: str, item: Item) -> bool:
        """See `Domain.is_correct`."""
        return is_correct(answer, item.answer, "exact")
