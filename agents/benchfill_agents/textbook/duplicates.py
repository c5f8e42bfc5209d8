"""Whether an item repeats one that exists: by embeddings where there are any, else by words."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..validator.duplicates import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchfill.textbook.question import Question

    from ..embeddings import Embedder


@dataclass(frozen=True)
class Duplicate:
    """The item that is repeated."""

    of: str
    similarity: float | None


class Duplicates:
    """The items so far, the first of each kind. Blocks while it embeds.

    Without an embedder only a stem of the same words is a duplicate.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._words: dict[str, str] = {}
        self._ids: list[str] = []
        self._texts: list[str] = []

    @property
    def method(self) -> str:
        """How items are compared, for the report."""
        if self._embedder is not None:
            return f"cosine of sentence embeddings, from {THRESHOLD:.2f} on"
        return (
            "the same words only, since the extra `embeddings` is not installed: items that say "
            "the same in other words are not found"
        )

    def find(self, stem: str, text: str) -> Duplicate | None:
        """Return the first item that a question repeats, or None; `text` is what is embedded."""
        same = self._words.get(_words(stem))
        if same is not None:
            return Duplicate(same, None)
        if self._embedder is None or not self._texts:
            return None
        # the embedder keeps what it embedded, and a run that only replays need not load its model
        vectors = self._embedder.embed([text, *self._texts])
        cosines = vectors[1:] @ vectors[0]
        nearest = int(np.argmax(cosines))
        if cosines[nearest] < THRESHOLD:
            return None
        return Duplicate(self._ids[nearest], float(cosines[nearest]))

    def add(self, item_id: str, stem: str, text: str) -> None:
        """Take an accepted item in."""
        self._words.setdefault(_words(stem), item_id)
        self._ids.append(item_id)
        self._texts.append(text)


def text_of(stem: str, options: Iterable[str], answer: str) -> str:
    """Return what is embedded: stem, options and the right one, whatever their shuffle."""
    return "\n".join((stem, *sorted(options), answer))


def question_text(question: Question) -> str:
    """Return what is embedded of a question: all five texts, so that no shuffle matters."""
    texts = (question.answer, *(one.text for one in question.distractors))
    return text_of(question.stem, texts, question.answer)


def _words(stem: str) -> str:
    # signs stay: in code and formulas they are what differs
    return " ".join(unicodedata.normalize("NFKC", stem).casefold().split())
