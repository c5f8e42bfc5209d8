"""The judge: a model that solves a child blind, several times, then sees it with its answer.

It is shown the item and nothing of where it comes from: no parent, no difficulty, no writer.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict

from benchfill_prompts import load, quote_untrusted

from ..domains import domain_of
from ..domains.multiple_choice import MultipleChoice, folding
from ..rewriter.task_text import item_text
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from benchfill.items import Item

    from ..pool.config import Scoring
    from .judge_calls import JudgeCalls

PROMPTS = ("solve_blind", "solve_blind_task", "judge", "judge_task", "reply_again")
SOLVES = 3
"""Blind answers at most; more than half of them must agree with the reference."""
BLIND, WITH_REFERENCE = "blind_solve", "judge"
_COMPUTED = "Not asked: its answer is computed from its template."
_LONGEST = 400  # characters of a reason
Result = TypeVar("Result")
_FAULTS = {
    "well_posed": "not well-posed",
    "self_contained": "not self-contained",
    "one_answer": "not with exactly one right answer",
    "answer_right": "not rightly answered by its reference",
}


class Solution(BaseModel):
    """A blind answer."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    working: str = ""
    answer: str


class Judgement(BaseModel):
    """What the judge finds with the reference before it."""

    working: str = ""
    well_posed: bool
    self_contained: bool
    one_answer: bool
    answer_right: bool
    reason: str = ""


class Judge:
    """Makes the two paid checks."""

    def __init__(self, calls: JudgeCalls, scoring: Scoring, *, solves: int = SOLVES) -> None:
        self._calls, self._scoring, self._solves = calls, scoring, solves
        self._solve_rules, self._solve, self._rules, self._task = (load(n) for n in PROMPTS[:4])

    async def findings(self, item: Item) -> tuple[Finding, ...]:
        """Return the findings on an item; the second check is not made if the first fails.

        Raises
        ------
        BudgetExhaustedError, ProviderError
            The judge could not be asked.
        """
        blind = await self._blind(item)
        if not blind.passed:
            return (blind,)
        return (blind, await self._with_reference(item))

    async def _blind(self, item: Item) -> Finding:
        """Ask until more than half of all answers agree, or cannot any more."""
        if item.template is not None:
            return Finding(check=BLIND, passed=True, note=_COMPUTED)
        needed = self._solves // 2 + 1
        question = question_text(item)
        said: list[_Blind] = []
        agreed = 0
        while agreed < needed and agreed + self._solves - len(said) >= needed:
            more = range(len(said), len(said) + needed - agreed)
            said += await _all(self._ask_blind(item, question, sample) for sample in more)
            agreed = sum(one.agrees for one in said)
        calls = sum(one.calls for one in said)
        if agreed >= needed:
            note = f"{agreed} of {len(said)} blind answers agree with the reference."
            return Finding(check=BLIND, passed=True, note=note, calls=calls)
        answered = [one for one in said if one.answer is not None]
        return Finding(
            check=BLIND,
            passed=False,
            reason=self._why(said, agreed),
            calls=calls,
            blames_child=agreed < len(answered),
        )

    async def _ask_blind(self, item: Item, question: str, sample: int) -> _Blind:
        task = self._solve.render(question=quote_untrusted(question))
        said = await self._calls.ask(self._solve_rules.render(), task, Solution, sample=sample)
        if said.answer is None:
            return _Blind(None, said.problem, said.calls, agrees=False)
        answer = said.answer.answer
        right = await asyncio.to_thread(agrees, answer, item, self._scoring)
        return _Blind(answer, "", said.calls, agrees=right)

    @staticmethod
    def _why(said: list[_Blind], agreed: int) -> str:
        """Say how many agree, what the others answered, and how many gave no answer."""
        others = Counter(
            " ".join(one.answer.split())[:80]
            for one in said
            if one.answer is not None and not one.agrees
        )
        parts = [f"{count} {'gives' if count == 1 else 'give'} {one!r}" for one, count in
                 others.most_common(3)]  # fmt: skip
        nothing = [one.problem for one in said if one.answer is None]
        if nothing:
            parts.append(f"{len(nothing)} cannot be used ({nothing[-1].rstrip('.')})")
        return (
            f"{agreed} of {len(said)} blind answers of the judge agree with the reference; "
            f"{', '.join(parts)}."
        )

    async def _with_reference(self, item: Item) -> Finding:
        task = self._task.render(item=quote_untrusted(item_text(item)))
        said = await self._calls.ask(self._rules.render(), task, Judgement)
        judgement = said.answer
        if judgement is None:
            reason = f"The judge gave no verdict that can be used. {said.problem}"
            return Finding(
                check=WITH_REFERENCE,
                passed=False,
                reason=reason,
                calls=said.calls,
                blames_child=False,
            )
        faults = [words for name, words in _FAULTS.items() if not getattr(judgement, name)]
        if not faults:
            return Finding(check=WITH_REFERENCE, passed=True, calls=said.calls)
        why = " ".join(judgement.reason.split())[:_LONGEST]
        reason = f"The judge finds it {' and '.join(faults)}{f': {why}' if why else '.'}"
        return Finding(check=WITH_REFERENCE, passed=False, reason=reason, calls=said.calls)


@dataclass(frozen=True)
class _Blind:
    """One blind answer, or why there is none."""

    answer: str | None
    problem: str
    calls: int
    agrees: bool


async def _all(asked: Iterable[Awaitable[Result]]) -> list[Result]:
    """Await all, and raise the first error only then: what others receive is recorded."""
    found = await asyncio.gather(*asked, return_exceptions=True)
    return [settled(one) for one in found]


def settled(one: Result | BaseException) -> Result:
    """Return a result, or raise what came instead of it."""
    if isinstance(one, BaseException):
        raise one
    return one


def question_text(item: Item) -> str:
    """Write down what is asked, without its answer. It is untrusted: it goes behind a fence."""
    choices = ["Choices:", *(f"- {choice}" for choice in item.choices)] if item.choices else []
    return "\n".join([f"Question: {item.question}", *choices])


def agrees(answer: str, item: Item, scoring: Scoring) -> bool:
    """Whether an answer is right as the pool scores it, or the reference word for word.

    It may take seconds: of a program the item's tests are run.
    """
    fold = folding(item)  # "NA" is not the option "Na"
    if item.answer and fold(answer) == fold(item.answer):
        return True
    domain = domain_of(item, scoring)
    if item.choices and domain.name != MultipleChoice.name:
        return False  # the number in "7 apples" is not the option "7"
    found = domain.extract(answer, style="chat", item=item)
    return found is not None and domain.is_correct(found.answer, item)
