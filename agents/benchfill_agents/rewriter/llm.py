"""The Rewriter that asks a language model."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from pydantic import BaseModel, ConfigDict, ValidationError

from benchfill.items import Item
from benchfill_prompts import load

from ..structured import describe, parse_structured
from .child import Child, RewriteTask, Shortfall, child_id
from .task_text import task_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from autogen_core.models import CreateResult

MAX_QUESTION = 20_000  # characters; more is a model that runs in circles
MAX_ANSWER = 4_000
_TRIES = 2

_logger = logging.getLogger(__name__)


class _Draft(BaseModel):
    """One child as the model writes it."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    question: str
    answer: str
    choices: list[str]
    what_changed: str
    rationale: str


class _Drafts(BaseModel):
    """The model's whole reply."""

    children: list[_Draft]


def log_shortfall(shortfall: Shortfall) -> None:
    """Write a shortfall to the log, which is where it goes unless somebody else wants it."""
    _logger.warning(
        "%d of %d children of item %r: %s",
        shortfall.delivered,
        shortfall.wanted,
        shortfall.parent_id,
        " ".join(shortfall.reasons),
    )


class LLMRewriter:
    """A `Rewriter` over a chat model.

    A reply that cannot be used, or not all of it, is sent back once with the reason; what is still
    missing then goes to `on_shortfall`.
    """

    def __init__(
        self,
        client: ChatCompletionClient,
        *,
        on_shortfall: Callable[[Shortfall], None] = log_shortfall,
    ) -> None:
        self._client = client
        self._on_shortfall = on_shortfall
        self._rules, self._task, self._again = (
            load(name) for name in ("rewrite", "rewrite_task", "rewrite_again")
        )

    @property
    def prompts(self) -> dict[str, str]:
        """SHA-256 of each template that is used, by name; it belongs into results."""
        return {prompt.name: prompt.sha256 for prompt in (self._rules, self._task, self._again)}

    async def rewrite(self, task: RewriteTask, rng: np.random.Generator) -> tuple[Child, ...]:
        """See `Rewriter.rewrite`."""
        messages: list[LLMMessage] = [
            SystemMessage(content=self._rules.render()),
            UserMessage(content=self._task.render(**task_text(task)), source="benchfill"),
        ]
        collected = _Collected(task)
        for number in range(_TRIES):
            result = await self._client.create(
                messages,
                json_output=_Drafts,
                extra_create_args={"seed": int(rng.integers(2**31))},
            )
            collected.take(result)
            if collected.missing == 0 or number == _TRIES - 1:
                break
            said = result.content if isinstance(result.content, str) else ""
            again = self._again.render(problem=collected.latest, count=collected.missing)
            messages += [
                AssistantMessage(content=said[:MAX_QUESTION], source="rewriter"),
                UserMessage(content=again, source="benchfill"),
            ]
        if collected.missing:
            self._on_shortfall(
                Shortfall(
                    parent_id=task.parent.item.id,
                    wanted=task.count,
                    delivered=len(collected.children),
                    reasons=tuple(collected.reasons),
                )
            )
        return tuple(collected.children)


class _Collected:
    """The children that can be used so far, and why others cannot."""

    def __init__(self, task: RewriteTask) -> None:
        self.children: list[Child] = []
        self.reasons: list[str] = []
        self.latest = ""
        self._task = task
        near = (task.parent, *task.references_below, *task.references_above)
        self._taken = {_content(entry.item.question, entry.item.choices) for entry in near}
        self._taken |= {_content(child.question) for child in task.rejected}

    @property
    def missing(self) -> int:
        return self._task.count - len(self.children)

    def take(self, result: CreateResult) -> None:
        """Keep the usable children of a reply; `latest` says what was wrong with the rest."""
        problems: list[str] = []
        for number, draft in enumerate(self._drafts(result, problems), start=1):
            if self.missing == 0:
                break
            problem = self._problem(draft)
            if problem is None:
                self._keep(draft)
            else:
                problems.append(f"Child {number} {problem}.")
        if self.missing and not problems:
            problems.append(f"{self.missing} of {self._task.count} children are missing.")
        self.reasons += problems
        self.latest = " ".join(problems[:8])

    def _drafts(self, result: CreateResult, problems: list[str]) -> list[_Draft]:
        if not isinstance(result.content, str) or not result.content.strip():
            problems.append("The reply holds no text.")
            return []
        try:
            return parse_structured(result.content, _Drafts).children
        except ValidationError as error:
            if result.finish_reason == "length":
                problems.append("The reply was cut off at the token limit; be shorter.")
            elif result.finish_reason == "content_filter":
                problems.append("The model refused.")
            else:
                problems.append(f"The reply does not fit the schema: {describe(error)}")
            return []

    def _problem(self, draft: _Draft) -> str | None:
        wanted = len(self._task.parent.item.choices)
        question, answer = draft.question.strip(), draft.answer.strip()
        checks = {
            "has no question": not question,
            "has no answer": not answer,
            "is longer than an item may be": len(question) > MAX_QUESTION
            or len(answer) > MAX_ANSWER
            or any(len(choice) > MAX_ANSWER for choice in draft.choices),
            f"has {len(draft.choices)} choices instead of {wanted}": len(draft.choices) != wanted,
            "has the same choice twice": len(set(draft.choices)) != len(draft.choices),
            "has an answer that is not among its choices": wanted > 0
            and draft.answer not in draft.choices,
            "repeats an item that exists": _content(question, draft.choices) in self._taken
            or _content(question) in self._taken,
        }
        return next((problem for problem, found in checks.items() if found), None)

    def _keep(self, draft: _Draft) -> None:
        parent = self._task.parent.item
        question = draft.question.strip()
        answer = draft.answer if draft.choices else draft.answer.strip()
        self._taken.add(_content(question, draft.choices))
        self.children.append(
            Child(
                item=Item(
                    id=child_id(parent.id, question, answer),
                    question=question,
                    answer=answer,
                    choices=tuple(draft.choices),
                ),
                parent_id=parent.id,
                target_z=self._task.target_z,
                rewriter="llm",
                what_changed=draft.what_changed.strip(),
                rationale=draft.rationale.strip(),
            )
        )


def _content(question: str, choices: tuple[str, ...] | list[str] = ()) -> str:
    """Return what makes two items the same, whatever their spaces and capitals."""
    return " | ".join(" ".join(part.split()).casefold() for part in (question, *sorted(choices)))
