"""What differs between two texts, word by word: a formula is a word."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby

from markupsafe import Markup

from .invisible import encodable, shown
from .rich_text import math

_TOKEN = re.compile(
    r"""
    \$\$[^$]+\$\$
    | \$(?=[^\s$])[^$\n]*?(?<=[^\s\\])\$(?!\d)
    | \\\( (?: \\\\ | [^\\] | \\(?![()\\]) )++ \\\)
    | \\\[ (?: \\\\ | [^\\] | \\(?![\[\]\\]) )++ \\\]
    | `{3,}\w* | \w{1,200} | \s{1,200} | [^\w\s]
    """,
    re.VERBOSE,
)
_MOST_TOKENS = 3_000
_LONG_CHANGE = 6  # tokens
_MOST_PAIRS = 50_000  # of equal tokens: what the comparison takes grows with it


@dataclass(frozen=True)
class Difference:
    """Two texts side by side as HTML."""

    old: Markup
    new: Markup
    compared: bool
    """False where they are too long to be compared; nothing is marked then."""


@lru_cache(maxsize=256)
def difference(old: str, new: str) -> Difference:
    """Compare two texts of bounded length."""
    before, after = _tokens(old), _tokens(new)
    if not _comparable(before, after):
        return Difference(_plain(before), _plain(after), compared=False)
    # spaces alone never align: a text would fall apart into single words
    matcher = SequenceMatcher(lambda one: one.isspace(), before, after, autojunk=False)
    left: list[Markup] = []
    right: list[Markup] = []
    for kind, i1, i2, j1, j2 in _joined(matcher, before):
        if kind == "equal":
            left.append(_plain(before[i1:i2]))
            right.append(_plain(after[j1:j2]))
            continue
        left.append(_marked("del", before[i1:i2]))
        right.append(_marked("ins", after[j1:j2]))
    return Difference(Markup("").join(left), Markup("").join(right), compared=True)


def prose(text: str) -> Markup:
    """Return text as it is, with its formulas ready to be typeset; cheaper than Markdown."""
    return _plain(_tokens(text))


def excerpt(text: str, limit: int) -> Markup:
    """Return the start of a text on one line, with its formulas whole."""
    kept: list[str] = []
    length = 0
    for token in _tokens(" ".join(text[: 20 * limit].split())):
        length += len(token)
        if length > limit:
            return _plain([*kept, "…"])
        kept.append(token)
    return _plain([*kept, "…"] if len(text) > 20 * limit else kept)


def _comparable(before: list[str], after: list[str]) -> bool:
    if max(len(before), len(after)) > _MOST_TOKENS:
        return False
    same = next(
        (k for k, two in enumerate(zip(before, after, strict=False)) if two[0] != two[1]), 0
    )
    counts = Counter(before[same:]), Counter(after[same:])
    pairs = (counts[0][one] * counts[1][one] for one in counts[0] if not one.isspace())
    return before == after or sum(pairs) <= _MOST_PAIRS


def _marked(element: str, tokens: list[str]) -> Markup:
    """Mark a change in parts: displayed formulas alone, words without the spaces at their ends."""
    parts: list[Markup] = []
    for displayed, group in groupby(tokens, lambda one: one.startswith(("$$", "\\["))):
        some = list(group)
        words = [k for k, one in enumerate(some) if not one.isspace()]
        first, last = (words[0], words[-1] + 1) if words else (0, 0)
        kind = "whole" if displayed else "words"
        marked = Markup('<{0} class="{1}">{2}</{0}>').format(
            element, kind, _plain(some[first:last])
        )
        parts += [_plain(some[:first]), *([marked] if words else []), _plain(some[last:])]
    return Markup("").join(parts)


def _joined(
    matcher: SequenceMatcher[str], before: list[str]
) -> list[tuple[str, int, int, int, int]]:
    """Return the steps, with changes joined over a space, and long ones over a mere mark."""
    steps: list[tuple[str, int, int, int, int]] = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        same = "".join(before[i1:i2])
        a, b = (steps[-1][2] - steps[-1][1], steps[-1][4] - steps[-1][3]) if steps else (0, 0)
        longest = 4 if max(a, b) >= _LONG_CHANGE else 1 if same.isspace() else 0
        mere = kind == "equal" and len(same) <= longest and not any(one.isalnum() for one in same)
        changed = "change" if kind != "equal" or (mere and steps) else "equal"
        if steps and changed == "change" and steps[-1][0] == "change":
            _, a, _, c, _ = steps.pop()
            steps.append(("change", a, i2, c, j2))
        else:
            steps.append(("equal" if mere else changed, i1, i2, j1, j2))
    return steps


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(encodable(text))


def _plain(tokens: list[str]) -> Markup:
    parts: list[Markup] = []
    words: list[str] = []
    for token in tokens:
        source = _formula(token)
        if source is None:
            words.append(token)
            continue
        parts += [shown("".join(words)), source]
        words = []
    return Markup("").join([*parts, shown("".join(words))])


def _formula(token: str) -> Markup | None:
    if len(token) < 3:
        return None
    if token.startswith("$$") and token.endswith("$$") and len(token) > 4:
        return math(token[2:-2], display=True)
    if token.startswith("$") and token.endswith("$"):
        return math(token[1:-1])
    if token.startswith(("\\(", "\\[")) and len(token) > 4:
        return math(token[2:-2], display=token[1] == "[")
    return None
