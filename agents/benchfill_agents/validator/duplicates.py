"""Whether a child is an item that exists already, in other words.

By sentence embeddings: what is as near as `THRESHOLD` is the same item again, unless both its
numbers and its answer are others. Such a variation is what a Rewriter is asked for, and cosines do
not tell it from a paraphrase (docs/validation.md has both, measured).
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..embeddings import text_of
from ..pool.scoring import normalise, parse_number
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.items import Item

    from ..embeddings import Embedder

NAME = "near_duplicate"
THRESHOLD = 0.90
"""Cosine from which on two texts say the same."""
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_PLACE = {word: str(number) for number, word in enumerate(_WORDS)}
_PROGRAMMATIC = "Not compared: the values in its template make it an item of its own."


class NearDuplicates:
    """Compares children with all items that are known."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def near(self, item: Item, known: Sequence[Item]) -> list[tuple[Item, float]]:
        """Return the known items at least `THRESHOLD` near, nearest first, with their cosines."""
        if not known:
            return []
        texts = [text_of(one) for one in (item, *known)]
        vectors = await asyncio.to_thread(self._embedder.embed, texts)
        cosines = vectors[1:] @ vectors[0]
        order = np.argsort(-cosines, kind="stable")
        return [(known[k], float(cosines[k])) for k in order if cosines[k] >= THRESHOLD]


def judged(item: Item, near: Sequence[tuple[Item, float]]) -> tuple[Finding, Item | None]:
    """Return the finding on an item with its near ones, and the one that it repeats, if any."""
    for other, cosine in near:
        if not is_variation(item, other):
            reason = (
                f"It says nearly the same as item {other.id!r} (cosine {cosine:.2f}, which must "
                f"stay below {THRESHOLD:.2f}), and not with other numbers and another answer."
            )
            return Finding(check=NAME, passed=False, reason=reason), other
    note = None
    if near:
        other, cosine = near[0]
        note = f"Item {other.id!r} with other numbers and another answer (cosine {cosine:.2f})."
    return Finding(check=NAME, passed=True, note=note), None


def is_compared(item: Item) -> bool:
    """Whether cosines say anything: items made from a template differ by their values."""
    return item.template is None


def not_compared() -> Finding:
    """Return the finding on an item that was made from a template."""
    return Finding(check=NAME, passed=True, note=_PROGRAMMATIC)


def is_variation(item: Item, other: Item) -> bool:
    """Whether two items differ in their numbers as well as in their answers."""
    return numbers_in(text_of(item)) != numbers_in(text_of(other)) and not _same_answer(item, other)


def numbers_in(text: str) -> Counter[str]:
    """Count the numbers of a text, in digits or, up to twenty, in words."""
    digits = [found.replace(",", "").lstrip("0") or "0" for found in _NUMBER.findall(text)]
    words = [_PLACE[found.casefold()] for found in _WORD.findall(text)]
    return Counter([*digits, *words])


def _same_answer(item: Item, other: Item) -> bool:
    mine, theirs = parse_number(item.answer), parse_number(other.answer)
    if mine is not None and theirs is not None:
        return mine == theirs
    return normalise(item.answer) == normalise(other.answer)
