"""Whether a stem states what a solution graph takes as given."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from .computing.grammar import ExpressionError, parse
from .symbols import mentions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .solution_graph import SolutionNode

_WORDS: dict[str, Fraction] = {
    word: Fraction(number)
    for number, words in enumerate(
        (
            "zero no none", "one once single", "two twice both double doubles doubled pair",
            "three thrice triple triples tripled trio", "four quadruple", "five", "six", "seven",
            "eight", "nine", "ten", "eleven", "twelve dozen", "thirteen", "fourteen", "fifteen",
            "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
        )
    )
    for word in words.split()
} | {
    word: Fraction(value)
    for word, value in (
        ("thirty", 30), ("forty", 40), ("fifty", 50), ("sixty", 60), ("seventy", 70),
        ("eighty", 80), ("ninety", 90), ("hundred", 100), ("thousand", 1000), ("million", 10**6),
        ("half", Fraction(1, 2)), ("halves", Fraction(1, 2)), ("halved", Fraction(1, 2)),
        ("third", Fraction(1, 3)), ("thirds", Fraction(1, 3)), ("quarter", Fraction(1, 4)),
        ("quarters", Fraction(1, 4)), ("quarterly", 4), ("week", 7), ("year", 12),
    )
}  # fmt: skip
_IMPLIED = frozenset(
    {Fraction(0), Fraction(1)}
)  # "a", "from the start", "no": said without a number
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-−–])?\s?(?P<number>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<decimals>\.\d+)?"
    r"(?:\s?/\s?(?P<below>\d+))?(?P<percent>\s?(?:%|per ?cent))?"
)
_MIXED = re.compile(r"\b(?P<tens>[a-z]+ty)-(?P<ones>[a-z]+)\b")


def not_stated(node: SolutionNode, stem: str) -> str | None:
    """Return what of a given node the stem does not have; None where it has all, or can't be told.

    Numbers may stand in words and with a percent sign; of a list each entry must be there; words
    are left to the Verifier.
    """
    try:
        tree = parse(node.value).tree
    except ExpressionError:
        return None
    numbers = _numbers(stem)
    for leaf in _leaves(tree):
        match leaf:
            case Fraction():
                if leaf not in _IMPLIED and not {leaf, -leaf} & numbers:
                    return node.value
            case (str(text), is_name):
                if not mentions(stem, text) and (is_name or text not in stem):
                    return text
    return None


def _leaves(tree: ast.expr) -> Iterable[Fraction | tuple[str, bool]]:
    """Yield the numbers of a literal, and its strings and names (True)."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=bool()):
                continue
            case ast.Constant(value=str(text)) if text:
                yield text, False
            case ast.Constant(value=int() | float() as number):
                yield Fraction(str(number))
            case ast.Name(id=name):
                yield name, True


def _numbers(stem: str) -> set[Fraction]:
    found: set[Fraction] = set()
    for match in _NUMBER.finditer(stem):
        value = Fraction(match["number"].replace(",", "") + (match["decimals"] or ""))
        found.add(value)
        if match["below"] and int(match["below"]):
            found.add(value / int(match["below"]))
            found.add(Fraction(int(match["below"])))
        if match["percent"]:
            found.add(value / 100)
    lowered = stem.lower()
    found |= {_WORDS[word] for word in re.findall(r"[a-z]+", lowered) if word in _WORDS}
    for match in _MIXED.finditer(lowered):
        if match["tens"] in _WORDS and match["ones"] in _WORDS:
            found.add(_WORDS[match["tens"]] + _WORDS[match["ones"]])
    return found
