"""Options in a recorded order, and keys in balance.

A designer writes the answer and four distractors. With a key from A to D the answer takes the place
of one distractor; with the key E all four distractors stand there and none is right. Both draws
depend on the seed only, so that the same seed gives the same page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from .question import LETTERS, NONE_OF_THE_ABOVE, ArrangedQuestion, OptionOrder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .question import Letter, Question

_PLACES = 4


def next_key(used: Mapping[Letter, int], *, seed: int, number: int) -> Letter:
    """Return the key of the next item: one of the letters used least so far.

    Parameters
    ----------
    used
        Accepted items by key; a letter that is absent was not used.
    seed, number
        Seed of the run, and number of the item in it: they choose among letters used equally.
    """
    least = min(used.get(letter, 0) for letter in LETTERS)
    candidates = [letter for letter in LETTERS if used.get(letter, 0) == least]
    rng = np.random.default_rng([seed, number])
    return candidates[int(rng.integers(len(candidates)))]


def arrange(question: Question, key: Letter, *, seed: int) -> ArrangedQuestion:
    """Put the options in order; which distractor goes where, and which is left out, is drawn.

    The distractor that makes room for the answer is never chosen by its text, and the order is
    recorded in `ArrangedQuestion.order`.
    """
    rng = np.random.default_rng(seed)
    sources: list[int | None] = [int(one) for one in rng.permutation(_PLACES)]
    left_out: int | None = None
    if key != "E":
        place = LETTERS.index(key)
        left_out, sources[place] = sources[place], None
    texts = options_of(question, sources)
    return ArrangedQuestion(
        stem=question.stem,
        options=(*texts, NONE_OF_THE_ABOVE),
        key=key,
        order=OptionOrder(seed=seed, sources=tuple(sources), left_out=left_out),
    )


def options_of(question: Question, sources: Sequence[int | None]) -> tuple[str, ...]:
    """Return the texts of A to D for an order; None stands for the answer."""
    return tuple(
        question.answer if source is None else question.distractors[source].text
        for source in sources
    )


def key_counts(keys: Iterable[Letter]) -> dict[Letter, int]:
    """Return how often each letter is right, E included, with zeros."""
    counts = Counter(keys)
    return {letter: counts[letter] for letter in LETTERS}
