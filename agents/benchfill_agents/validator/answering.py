"""The Validator's answer to a reviewer's question: one call, whose text decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autogen_core.models import SystemMessage, UserMessage
from pydantic import BaseModel, ConfigDict, Field

from benchfill.errors import BenchFillError
from benchfill.items import Item
from benchfill_prompts import load, quote_untrusted

from ..calibrator import Calibration
from ..rewriter.task_text import difficulty, item_text
from ..target import FillTarget

if TYPE_CHECKING:
    from autogen_core.models import ChatCompletionClient

PROMPTS = ("answer_question", "answer_question_task")
LONGEST_ANSWER = 8_000
MOST_EXCHANGES = 6
_LONGEST_EARLIER = 2_000
_NONE = "(nothing)"


class NoAnswerError(BenchFillError):
    """The model gave no answer that can be shown; the message says why."""


class Exchange(BaseModel):
    """An earlier question of the same reviewer and its answer."""

    model_config = ConfigDict(frozen=True)

    question: str
    answer: str


class QuestionTask(BaseModel):
    """A question and all that is known of the item. All text is untrusted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    revision: int = Field(ge=1)
    item: Item
    what_changed: str = ""
    rationale: str = ""
    parent: Item | None = None
    parent_z: float | None = None
    target: FillTarget
    calibration: Calibration | None = None
    findings: tuple[str, ...] = ()
    earlier: tuple[Exchange, ...] = Field((), description="oldest first; the last few are shown")


class QuestionAnswerer:
    """Answers with a chat model."""

    def __init__(self, client: ChatCompletionClient) -> None:
        self._client = client
        self._rules, self._task = (load(name) for name in PROMPTS)

    async def answer(self, task: QuestionTask) -> str:
        """Return the answer: untrusted Markdown of at most `LONGEST_ANSWER` characters.

        Raises
        ------
        NoAnswerError
            The model refused, said nothing, or did not come to an end.
        ProviderError
            It could not be reached.
        """
        result = await self._client.create(
            [
                SystemMessage(content=self._rules.render()),
                UserMessage(content=self._task.render(**_text(task)), source="benchfill"),
            ]
        )
        said = result.content if isinstance(result.content, str) else ""
        # unpaired surrogates, which models emit now and then, are no text
        said = said.encode("utf-8", "replace").decode().strip()
        if result.finish_reason == "content_filter":
            raise NoAnswerError("the model refused to answer.")
        if result.finish_reason == "length":
            raise NoAnswerError("the answer was cut off at the token limit; ask for less at once.")
        if not said:
            raise NoAnswerError("the model's reply was empty; ask again.")
        if len(said) > LONGEST_ANSWER:
            ending = "\n\n(shortened)"
            said = said[: LONGEST_ANSWER - len(ending)] + ending
        return said


def _text(task: QuestionTask) -> dict[str, str | int]:
    """Return the values of the template `answer_question_task`."""
    said = [one for one in (task.what_changed, task.rationale) if one]
    parent = _NONE
    if task.parent is not None:
        measured = "" if task.parent_z is None else f"Difficulty {difficulty(task.parent_z)}\n"
        parent = f"{measured}{quote_untrusted(item_text(task.parent))}"
    return {
        "revision": task.revision,
        "item": quote_untrusted(item_text(task.item)),
        "rewriter": quote_untrusted("\n".join(said)) if said else _NONE,
        "parent": parent,
        "known": _known(task),
        "earlier": _earlier(task.earlier),
        "question": quote_untrusted(task.question),
    }


def _known(task: QuestionTask) -> str:
    target, measured = task.target, task.calibration
    lines = [
        f"Wanted is a difficulty of {difficulty(target.z)}, between {difficulty(target.z_left)} "
        f"and {difficulty(target.z_right)}."
    ]
    if measured is None:
        lines.append("The item was not measured.")
    else:
        lines.append(
            f"Measured: {difficulty(measured.z)}, with 90% probability between "
            f"{difficulty(measured.q05)} and {difficulty(measured.q95)}; the probability that it "
            f"lies between the wanted ends is {measured.p_in_gap:.2f}."
        )
        # without names: who answers may be among them
        solved = sorted((one.correct / one.n for one in measured.counts if one.n), reverse=True)
        shares = ", ".join(f"{share:.0%}" for share in solved)
        lines.append(f"Share of right answers of each model that was asked: {shares or 'none'}.")
    if task.findings:
        lines.append(f"Automatic checks found\n{quote_untrusted(chr(10).join(task.findings))}")
    else:
        lines.append("Automatic checks of its form found nothing wrong.")
    return "\n".join(lines)


def _earlier(exchanges: tuple[Exchange, ...]) -> str:
    if not exchanges:
        return _NONE
    return "\n\n".join(
        quote_untrusted(
            f"Question: {one.question[:_LONGEST_EARLIER]}\nAnswer: {one.answer[:_LONGEST_EARLIER]}"
        )
        for one in exchanges[-MOST_EXCHANGES:]
    )
