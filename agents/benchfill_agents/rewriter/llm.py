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
from pydantic import ValidationError

from benchfill_prompts import load

from ..domains import DOMAINS, domain_of
from ..structured import describe, parse_structured
from .child import Child, RewriteTask, Shortfall
from .domain_draft import Drafts, replies, rules_of
from .draft import MAX_QUESTION, Draft, content_of, text_of, unusable
from .task_text import task_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from autogen_core.models import CreateResult

    from ..pool.config import Scoring

PROMPTS = ("rewrite", "rewrite_task", "rewrite_again")
_TRIES = 2

_logger = logging.getLogger(__name__)


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
        scoring: Scoring = "exact",
    ) -> None:
        self._client = client
        self._on_shortfall = on_shortfall
        self._scoring: Scoring = scoring
        self._rules, self._task, self._again = (load(name) for name in PROMPTS)

    @property
    def prompts(self) -> dict[str, str]:
        """SHA-256 of each template that is used, by name; it belongs into results."""
        of_domain = load(DOMAINS[self._scoring].rewriting_prompt)
        used = (self._rules, self._task, self._again, of_domain)
        return {prompt.name: prompt.sha256 for prompt in used}

    async def rewrite(self, task: RewriteTask, rng: np.random.Generator) -> tuple[Child, ...]:
        """See `Rewriter.rewrite`."""
        domain = domain_of(task.parent.item, self._scoring)
        reply = replies(domain.name)
        messages: list[LLMMessage] = [
            SystemMessage(content=f"{self._rules.render()}\n\n{rules_of(domain)}"),
            UserMessage(content=self._task.render(**task_text(task)), source="benchfill"),
        ]
        collected = _Collected(task, reply)
        for number in range(_TRIES):
            result = await self._client.create(
                messages,
                json_output=reply,
                extra_create_args={"seed": int(rng.integers(2**31))},
            )
            collected.take(result)
            if collected.missing == 0 or number == _TRIES - 1:
                break
            said = text_of(result)
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

    def __init__(self, task: RewriteTask, reply: type[Drafts]) -> None:
        self.children: list[Child] = []
        self.reasons: list[str] = []
        self.latest = ""
        self._task = task
        self._reply = reply
        near = (task.parent, *task.references_below, *task.references_above)
        self._taken = {content_of(entry.item.question, entry.item.choices) for entry in near}
        self._taken |= {content_of(child.question) for child in task.rejected}

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

    def _drafts(self, result: CreateResult, problems: list[str]) -> list[Draft]:
        try:
            return list(parse_structured(text_of(result), self._reply).children)
        except ValidationError as error:
            problems.append(unusable(result, describe(error)))
            return []

    def _problem(self, draft: Draft) -> str | None:
        return draft.problem(choices=len(self._task.parent.item.choices), repeats=self._is_known)

    def _is_known(self, draft: Draft) -> bool:
        question = draft.question.strip()
        return not self._taken.isdisjoint(
            {content_of(question, draft.choices), content_of(question)}
        )

    def _keep(self, draft: Draft) -> None:
        self._taken.add(content_of(draft.question.strip(), draft.choices))
        parent = self._task.parent.item
        self.children.append(draft.child(parent.id, self._task.target_z, parent))
