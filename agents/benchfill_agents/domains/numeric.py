"""Numbers: integers, decimals and simple fractions, compared exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..pool.scoring import Extracted, extract, is_correct, parse_number
from .interface import Domain

if TYPE_CHECKING:
    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style


class Numeric(Domain):
    """Replies with a number that equals the reference."""

    name: ClassVar[ItemDomain] = "numeric"
    chat_prompt = "solve_chat"

    def problem(self, item: Item) -> str | None:
        """See `Domain.problem`."""
        if parse_number(item.answer) is None:
            return f"The answer {item.answer[:80]!r} is not a number."
        return None

    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:  # noqa: ARG002
        """See `Domain.extract`."""
        return extract(text, style=style, scoring="numeric")

    def is_correct(self, answer: str, item: Item) -> bool:
        """See `Domain.is_correct`."""
        return is_correct(answer, item.answer, "numeric")
