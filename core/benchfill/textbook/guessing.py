"""TS-Guessing: whether a model can fill in what nobody could know who has not seen the item.

Two protocols [1]_. *Hidden option*: of a multiple-choice item one wrong option is hidden, the
others and the right one are shown, and the model is asked for it. *Hidden keyword*: one telling
word of the question is hidden, and the model is asked for it. A model that hits these more often on
a benchmark than on items that are known to be new has probably seen the benchmark.

Where the paper lets other models choose the keyword, we take the word that is rarest over the items
at hand, longest first among equals: no further model, and the same choice on every machine.

References
----------
.. [1] Deng, C., Zhao, Y., Tang, X., Gerstein, M., & Cohan, A. (2024). Investigating data
   contamination in modern benchmarks for large language models. NAACL. arXiv:2311.09783
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from .frozen import Frozen
from .rouge import rouge_l

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..items import Item

Protocol = Literal["hidden option", "hidden keyword"]
PROTOCOLS: tuple[Protocol, ...] = ("hidden option", "hidden keyword")
MASK = "[MASK]"
ALIKE = 0.65
"""ROUGE-L of two options from which on one gives the other away (the paper's filter)."""
MIN_WORD = 4
_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]*`|\$[^$\n]+\$", re.DOTALL)
_WORD = re.compile(r"(?<![\w'-])[^\W\d_]{4,}(?![\w'-])")
_NO_GUESS = re.compile(
    r"\W*(?:(?:none|all|both|neither|any) of (?:the|these|those)\b.*|true|false|yes|no)\W*",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^\s*(?:the\s+)?(?:missing\s+|masked\s+|hidden\s+)?(?:answer|option|word|choice)?\s*(?:is|:)\s*",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"^\s*\(?[A-Ja-j](?:[.)]|:)\s+")
_MARKS = " \t\r\n.,;:!?\"'`*“”‘’()[]{}$"


class GuessTask(Frozen):
    """One thing to be guessed."""

    item_id: str
    protocol: Protocol
    question: str = Field(description="as shown, with [MASK] where a keyword is hidden")
    options: tuple[str, ...] = Field((), description="as shown, [MASK] in place of the hidden one")
    right: str = Field("", description="the right option, which is named to the model")
    hidden: str = Field(description="what is to be guessed")


class Skipped(Frozen):
    """An item that cannot be used for a protocol, and why."""

    item_id: str
    protocol: Protocol
    why: str


class GuessScore(Frozen):
    """How close a guess is."""

    exact: bool = Field(description="the same words, but for case, white space and marks around")
    rouge_l: float = Field(ge=0, le=1)


def guess_tasks(
    items: Sequence[Item],
    protocol: Protocol,
    *,
    seed: int = 0,
    corpus: Sequence[Item] | None = None,
) -> tuple[tuple[GuessTask, ...], tuple[Skipped, ...]]:
    """Return what can be guessed in items, and which items are left out.

    Parameters
    ----------
    items
        Any items for keywords; multiple-choice ones for options.
    protocol
        What is hidden.
    seed
        Draws, with the item's id, which wrong option is hidden.
    corpus
        Items over which a word's rarity is counted; by default `items`. A benchmark and its
        baseline need the same one, or else their words differ in kind.
    """
    found: list[GuessTask] = []
    skipped: list[Skipped] = []
    counted = _document_counts(items if corpus is None else corpus)
    for item in items:
        task = (
            _hide_option(item, seed)
            if protocol == "hidden option"
            else _hide_keyword(item, counted)
        )
        if isinstance(task, GuessTask):
            found.append(task)
        else:
            skipped.append(Skipped(item_id=item.id, protocol=protocol, why=task))
    return tuple(found), tuple(skipped)


def score_guess(guess: str | None, hidden: str) -> GuessScore:
    """Score a reply against what was hidden; no reply is no hit."""
    bare = _bare(guess or "")
    return GuessScore(exact=bool(bare) and bare == _bare(hidden), rouge_l=rouge_l(bare, hidden))


def _hide_option(item: Item, seed: int) -> GuessTask | str:
    """Hide a wrong option; a string says why there is none to hide."""
    if len(item.choices) < 3:
        return "has fewer than three options"
    if item.answer not in item.choices:
        return "has an answer that is none of its options"
    if _NO_GUESS.fullmatch(item.answer):
        return "has a right option that tells nothing"
    wrong = [one for one in item.choices if one != item.answer and not _NO_GUESS.fullmatch(one)]
    hideable = [
        one
        for one in wrong
        if all(rouge_l(one, other) <= ALIKE for other in item.choices if other != one)
    ]
    if not hideable:
        return "has no wrong option that the others don't give away"
    hidden = hideable[_draw(seed, item.id) % len(hideable)]
    at = item.choices.index(hidden)
    options = tuple(MASK if n == at else one for n, one in enumerate(item.choices))
    return GuessTask(
        item_id=item.id,
        protocol="hidden option",
        question=item.question,
        options=options,
        right=item.answer,
        hidden=hidden,
    )


def _hide_keyword(item: Item, counted: Counter[str]) -> GuessTask | str:
    """Hide the rarest word of a question; a string says why there is none to hide."""
    prose = _CODE.sub(lambda match: " " * len(match.group()), item.question)
    elsewhere = " ".join((*item.choices, item.answer)).lower()
    words = [
        match
        for match in _WORD.finditer(prose)
        if _times(match.group(), item.question) == 1 and match.group().lower() not in elsewhere
    ]
    if len(words) < 2:
        return "has no word that stands once and outside code and options"
    best = min(words, key=lambda m: (counted[m.group().lower()], -len(m.group()), m.start()))
    return GuessTask(
        item_id=item.id,
        protocol="hidden keyword",
        question=f"{item.question[: best.start()]}{MASK}{item.question[best.end() :]}",
        options=item.choices,
        hidden=best.group(),
    )


def _document_counts(items: Iterable[Item]) -> Counter[str]:
    return Counter(
        word
        for item in items
        for word in {match.group().lower() for match in _WORD.finditer(item.question)}
    )


def _times(word: str, text: str) -> int:
    return len(re.findall(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", text))


def _draw(seed: int, item_id: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}\x00{item_id}".encode()).digest()[:8])


def _bare(text: str) -> str:
    """Return the guess without what models put around it."""
    line = next((one for one in text.strip().splitlines() if one.strip()), "")
    folded = unicodedata.normalize("NFKC", line)
    for pattern in (_LEADING, _LETTERED):
        shorter = pattern.sub("", folded)
        folded = shorter if shorter.strip() else folded
    return " ".join(folded.casefold().split()).strip(_MARKS)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return a 95% interval of a mean in [0, 1] by Hoeffding's bound; None without values.

    Wide and without assumptions: ROUGE-L is 0 for most guesses, where a bootstrap has nothing to
    draw from.
    """
    if not values:
        return None
    mean = sum(values) / len(values)
    half = math.sqrt(math.log(2 / 0.05) / (2 * len(values)))
    return max(0.0, mean - half), min(1.0, mean + half)
