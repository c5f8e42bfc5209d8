"""What is sent to a model for an item: the few-shot text, or the turns of a chat."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill_prompts import load

from ..domains import DOMAINS, domain_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchfill.items import Item

    from .config import Example, Pool, PoolModel, Scoring


@dataclass(frozen=True)
class Message:
    """One turn of a chat."""

    role: str
    content: str


@dataclass(frozen=True)
class SolvePrompt:
    """A prompt as sent: a text to complete, or messages."""

    text: str | None = None
    messages: tuple[Message, ...] = ()

    @property
    def chars(self) -> int:
        """Length of what is sent, in characters."""
        return len(self.text or "") + sum(len(message.content) for message in self.messages)

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of what is sent."""
        turns = [[message.role, message.content] for message in self.messages]
        return hashlib.sha256(json.dumps([self.text, turns]).encode()).hexdigest()


def solve_prompts(pool: Pool) -> tuple[str, ...]:
    """Return the names of the templates by which the models of a pool are asked."""
    chat = DOMAINS[pool.scoring].chat_prompt
    return tuple(
        sorted({chat if one.style == "chat" else "solve_completion" for one in pool.models})
    )


def build_prompt(
    model: PoolModel, shots: Iterable[Example], item: Item, scoring: Scoring = "exact"
) -> SolvePrompt:
    """Build what this model is sent for an item. The item's text is inserted as it is.

    `scoring` is the pool's; it says the domain of an item that names none.
    """
    if model.runner is not None:
        return SolvePrompt(text=_for_runner(item))
    domain = domain_of(item, scoring)
    question = domain.asked(item, model.style)
    if model.style == "completion":
        solved = "".join(f"{shot.question} {shot.answer}\n" for shot in shots)
        text = load("solve_completion").render(shots=solved, question=question)
        # Models continue a text that does not end in white space far better than one that does.
        return SolvePrompt(text=text.rstrip())
    template = load(domain.chat_prompt)
    messages: list[Message] = []
    for shot in shots:
        messages.append(Message("user", template.render(question=shot.question).strip()))
        messages.append(Message("assistant", shot.answer))
    messages.append(Message("user", template.render(question=question).strip()))
    return SolvePrompt(messages=tuple(messages))


def _for_runner(item: Item) -> str:
    """Return what an external runner is told of an item, as JSON: all but the reference."""
    told = {"id": item.id, "question": item.question, "choices": item.choices}
    return json.dumps({**told, "domain": item.domain, "metadata": item.metadata}, sort_keys=True)
