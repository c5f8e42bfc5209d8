"""The Rewriter that changes one item as a reviewer asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from pydantic import ValidationError

from benchfill.errors import BenchFillError
from benchfill_prompts import load, quote_untrusted

from ..domains import domain_of
from ..structured import describe, parse_structured
from .domain_draft import DRAFTS, rules_of
from .draft import MAX_QUESTION, Draft, content_of, text_of, unusable
from .task_text import difficulty, item_text, references_text, rejections_text

if TYPE_CHECKING:
    from autogen_core.models import CreateResult

    from ..pool.config import Scoring
    from .child import Child, RevisionTask

PROMPTS = ("revise", "revise_task", "revise_again")
_TRIES = 2
_UNKNOWN = "(not known)"


class NotRevisedError(BenchFillError):
    """There is no revision that can be used; the message says why."""


class LLMReviser:
    """Writes revisions with a chat model. A reply that cannot be used is sent back once."""

    def __init__(self, client: ChatCompletionClient, scoring: Scoring = "exact") -> None:
        self._client = client
        self._scoring: Scoring = scoring
        self._rules, self._task, self._again = (load(name) for name in PROMPTS)

    @property
    def prompts(self) -> dict[str, str]:
        """SHA-256 of each template that is used, by name; it belongs into results."""
        return {prompt.name: prompt.sha256 for prompt in (self._rules, self._task, self._again)}

    async def revise(self, task: RevisionTask, *, seed: int) -> Child:
        """Return the item as it shall be.

        Raises
        ------
        NotRevisedError
            Neither of two replies can be used.
        ProviderError
            The model could not be reached.
        """
        domain = domain_of(task.item, self._scoring)
        form = DRAFTS.get(domain.name, Draft)
        messages: list[LLMMessage] = [
            SystemMessage(content=f"{self._rules.render()}\n\n{rules_of(domain)}"),
            UserMessage(content=self._task.render(**_text(task)), source="benchfill"),
        ]
        problem = ""
        for number in range(_TRIES):
            result = await self._client.create(
                messages, json_output=form, extra_create_args={"seed": (seed + number) % 2**31}
            )
            draft, problem = _usable(task, result, form)
            if draft is not None:
                return draft.child(task.parent_id, task.target_z, task.item)
            again = self._again.render(problem=problem)
            messages += [
                AssistantMessage(content=text_of(result)[:MAX_QUESTION], source="rewriter"),
                UserMessage(content=again, source="benchfill"),
            ]
        raise NotRevisedError(f"no revision could be written, in {_TRIES} tries. {problem}")


def _usable(
    task: RevisionTask, result: CreateResult, form: type[Draft]
) -> tuple[Draft | None, str]:
    """Return the revision of a reply, or None and why it cannot be used."""
    try:
        draft = parse_structured(text_of(result), form)
    except ValidationError as error:
        return None, unusable(result, describe(error))
    if _content(draft.question, draft.choices, draft.answer) == _content(
        task.item.question, task.item.choices, task.item.answer
    ) and draft.metadata() in ({}, task.item.metadata):
        return None, "The revision changes nothing."
    problem = draft.problem(choices=len(task.item.choices), repeats=lambda one: _repeats(task, one))
    return (draft, "") if problem is None else (None, f"The revision {problem}.")


def _repeats(task: RevisionTask, draft: Draft) -> bool:
    """Whether it is an item that exists, or was turned down before with the same answer."""
    near = [entry.item for entry in (*task.references_below, *task.references_above)]
    near += [task.parent] if task.parent is not None else []
    taken = {content_of(item.question, item.choices) for item in near}
    before = {content_of(one.question, [one.answer]) for one in task.rejected}
    return (
        content_of(draft.question, draft.choices) in taken
        or content_of(draft.question, [draft.answer]) in before
    )


def _content(question: str, choices: list[str] | tuple[str, ...], answer: str) -> tuple[str, ...]:
    """Return what must differ for a change: capitals and the order of choices count."""
    return (question.strip(), answer.strip(), *(choice.strip() for choice in choices))


def _text(task: RevisionTask) -> dict[str, str | int]:
    """Return the values of the template `revise_task`."""
    parent = _UNKNOWN if task.parent is None else quote_untrusted(item_text(task.parent))
    return {
        "target": difficulty(task.target_z),
        "difficulty": _UNKNOWN if task.item_z is None else difficulty(task.item_z),
        "item": quote_untrusted(item_text(task.item)),
        "request": quote_untrusted(task.request),
        "parent_difficulty": _UNKNOWN if task.parent_z is None else difficulty(task.parent_z),
        "parent": parent,
        "references_below": references_text(task.references_below, "easier"),
        "references_above": references_text(task.references_above, "harder"),
        "rejections": rejections_text(task.rejected),
    }
