"""What a child must pass before rollouts are spent on it (docs/method, section 7)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from benchfill.errors import InputError

from ..pool.scoring import parse_number
from ..templates import answer, permitted, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchfill.items import Item

    from ..pool.config import Scoring
    from ..rewriter import Child

MAX_QUESTION = 20_000
_SPACE = re.compile(r"\s+")


class Finding(BaseModel):
    """The outcome of one check."""

    model_config = ConfigDict(frozen=True)

    check: str
    passed: bool
    reason: str | None = Field(None, description="why it failed, one sentence")


class Verdict(BaseModel):
    """All findings on one child; the last one decides."""

    model_config = ConfigDict(frozen=True)

    item: str = Field(description="id of the child")
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether no check failed."""
        return all(finding.passed for finding in self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the child was turned down."""
        return tuple(
            finding.reason or finding.check for finding in self.findings if not finding.passed
        )


def normalised(text: str) -> str:
    """Fold what does not make another question: case, width, accents' form, space, end marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip(" .?!:;")


class Validator:
    """Checks children against the pool's scoring and all items known so far."""

    def __init__(self, scoring: Scoring) -> None:
        self._checks: tuple[tuple[str, Callable[[Item], str | None]], ...] = (
            ("schema", _schema),
            ("answer_parses", lambda item: _answer_parses(item, scoring)),
            ("choices", _choices),
            ("template", _template),
        )

    def validate(self, children: Iterable[Child], known: Iterable[Item]) -> tuple[Verdict, ...]:
        """Judge children in order; an earlier valid child is known to the later ones."""
        seen = {normalised(item.question): item.id for item in known}
        verdicts = []
        for child in children:
            verdict = self._judge(child.item, seen)
            if verdict.valid:
                seen[normalised(child.item.question)] = child.item.id
            verdicts.append(verdict)
        return tuple(verdicts)

    def _judge(self, item: Item, seen: dict[str, str]) -> Verdict:
        findings = []
        for name, check in (*self._checks, ("new", lambda item: _new(item, seen))):
            reason = check(item)
            findings.append(Finding(check=name, passed=reason is None, reason=reason))
            if reason is not None:
                break
        return Verdict(item=item.id, findings=tuple(findings))


def _schema(item: Item) -> str | None:
    if not item.question.strip():
        return "The question is empty."
    if not item.answer.strip():
        return "There is no reference answer."
    if len(item.question) > MAX_QUESTION:
        return f"The question has {len(item.question)} characters; at most {MAX_QUESTION}."
    return None


def _answer_parses(item: Item, scoring: Scoring) -> str | None:
    if scoring == "numeric" and parse_number(item.answer) is None:
        return f"The answer {item.answer[:80]!r} is not a number."
    return None


def _choices(item: Item) -> str | None:
    if not item.choices:
        return None
    options = [normalised(choice) for choice in item.choices]
    if len(set(options)) < len(options):
        return "Two options are the same."
    if options.count(normalised(item.answer)) != 1:
        return "The answer must be exactly one of the options."
    return None


def _template(item: Item) -> str | None:
    """Compute a programmatic item again from its values."""
    if item.template is None:
        return None
    try:
        if not permitted(item.template, item.values):
            return "The slot values are not permitted by the template."
        if render(item.template, item.values) != item.question:
            return "The question is not the template's with these slot values."
        if (expected := answer(item.template, item.values)) != item.answer:
            return f"The template's answer is {expected}, not {item.answer[:80]}."
    except InputError as error:
        return error.message
    return None


def _new(item: Item, seen: dict[str, str]) -> str | None:
    known = seen.get(normalised(item.question))
    return None if known is None else f"The same question is item {known!r} already."
