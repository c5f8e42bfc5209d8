"""ROUGE-L of two texts: the longest common subsequence of their words.

References
----------
.. [1] Lin, C.-Y. (2004). ROUGE: A package for automatic evaluation of summaries. Text Summarization
   Branches Out, 74-81. https://aclanthology.org/W04-1013
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_WORDS = 500


def rouge_l(text: str, reference: str) -> float:
    """Return ROUGE-L's F measure, in [0, 1]; 0 where a text has no word.

    ``2 P R / (P + R)`` with the longest common subsequence of words over the words of the text (P)
    and of the reference (R). Words are runs of letters and digits in lower case, as in Google's
    ``rouge-score`` without a stemmer, but of all alphabets; only the first 500 count.
    """
    a, b = _words(text), _words(reference)
    common = _common(a, b)
    return 2 * common / (len(a) + len(b)) if common else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())[:MAX_WORDS]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for word in a:
        before = 0
        for at, other in enumerate(b, start=1):
            above = row[at]
            row[at] = before + 1 if word == other else max(above, row[at - 1])
            before = above
    return row[-1]
