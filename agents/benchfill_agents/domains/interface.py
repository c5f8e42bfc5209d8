"""What a domain of items is: how they are asked, how replies are scored, what makes one sound."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ..pool.scoring import Extracted

if TYPE_CHECKING:
    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style

__all__ = ["Domain", "Extracted"]


class Domain(ABC):
    """One way of scoring. All text of items and replies is untrusted.

    Methods may be called from several threads at a time.
    """

    name: ClassVar[ItemDomain]
    version: ClassVar[int] = 1
    """Raised when the same reply may get another score than before."""
    slow: ClassVar[bool] = False
    """Whether `is_correct` starts processes and belongs into a thread."""
    uses: ClassVar[tuple[str, ...]] = ()
    """Keys of an item's metadata that scores depend on."""

    @property
    def chat_prompt(self) -> str:
        """Name of the template by which a chat model is asked."""
        return f"solve_chat_{self.name}"

    @property
    def rewriting_prompt(self) -> str:
        """Name of the rules that a Rewriter is given for items of this domain."""
        return f"rewrite_{self.name}"

    @property
    def rewriting_values(self) -> dict[str, str]:
        """Values of that template."""
        return {}

    def asked(self, item: Item, style: Style) -> str:  # noqa: ARG002 - others need it
        """Return what a model is shown of an item."""
        return item.question

    def problem(self, item: Item) -> str | None:  # noqa: ARG002 - others need it
        """Say why replies to an item cannot be scored, in one sentence; None when they can.

        Cheap; raises NoSandboxError or InputError where what scoring needs is not installed.
        """
        return None

    @abstractmethod
    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:
        """Find the answer in a reply; None where there is none."""

    @abstractmethod
    def is_correct(self, answer: str, item: Item) -> bool:
        """Score an extracted answer."""

    def check(self, item: Item) -> str | None:
        """Say why an item is unsound, in one sentence; None when it is sound. May take seconds."""
        return self.problem(item)

    def details(self, item: Item) -> tuple[str, ...]:  # noqa: ARG002 - others need it
        """Return lines that a Rewriter is shown of an item beside question, choices and answer."""
        return ()

    def scored_by(self, item: Item) -> str:
        """Name what a score came from: it is the same as long as the score would be."""
        content = [
            item.answer,
            list(item.choices),
            {key: item.metadata[key] for key in self.uses if key in item.metadata},
        ]
        described = json.dumps(content, sort_keys=True, default=str).encode()
        return f"{self.name}/{self.version}:{hashlib.sha256(described).hexdigest()[:16]}"
