"""What can be seen of an item without understanding it: lengths, numbers, options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..pool.scoring import parse_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item

NAMES = (
    "characters", "words", "length of words", "sentences", "lines", "digits", "numbers",
    "largest number", "percent and fractions", "symbols", "options", "length of the answer",
    "size of the answer",
)  # fmt: skip
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_LONGEST = 60  # digits; beyond it a number says no more


def surface_features(items: Sequence[Item]) -> NDArray[np.float64]:
    """Return the features `NAMES` of items, shape (items, 13)."""
    return np.array([_of(item) for item in items]).reshape(len(items), len(NAMES))


def _of(item: Item) -> list[float]:
    text = item.question
    words = text.split()
    numbers = [found.replace(",", "") for found in _NUMBER.findall(text)]
    sizes = [min(len(number.split(".")[0].lstrip("0")), _LONGEST) for number in numbers]
    largest = max((_log_size(number) for number in numbers), default=0.0)
    answer = parse_number(item.answer)
    return [
        np.log1p(len(text)),
        np.log1p(len(words)),
        sum(map(len, words)) / max(len(words), 1),
        np.log1p(len(re.findall(r"[.?!](?:\s|$)", text))),
        np.log1p(text.count("\n")),
        np.log1p(sum(sizes)),
        np.log1p(len(numbers)),
        largest,
        np.log1p(len(re.findall(r"%|\d\s*/\s*\d|\bpercent\b", text, re.IGNORECASE))),
        np.log1p(sum(not (c.isalnum() or c.isspace()) for c in text)),
        np.log1p(len(item.choices)),
        np.log1p(len(item.answer)),
        0.0 if answer is None else float(np.log1p(min(abs(float(answer)), 1e15))),
    ]


def _log_size(number: str) -> float:
    return float(np.log1p(min(float(number[:_LONGEST]), 1e15)))
