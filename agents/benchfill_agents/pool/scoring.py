"""Finding the answer in a reply, and scoring it against the reference.

Replies are untrusted text: they are matched, never evaluated, and numbers are bounded in length.
Here are exact text and numbers; the other domains, and what all have in common, are in `domains`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .config import Style

# A number: sign, digits with or without thousands separators, decimals, or a simple fraction.
_UNSIGNED = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+"
_NUMBER = rf"[-+−]?\s?[$€£]?(?:{_UNSIGNED})(?:\s?/\s?[0-9]+(?![0-9.]))?"
_LEADING = re.compile(rf"\s*(?:[=:]\s*)?(?P<number>{_NUMBER})")
_BOXED = re.compile(r"\\boxed\s*\{\s*(?P<content>[^{}]{0,200})\}")
_MARKED = re.compile(
    rf"(?:\banswer\s*(?:is|was|=|:)+\s*(?:\**\s*)*|####\s*)\\?\(?(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_EQUALS = re.compile(rf"(?:=|\bequals)\s*\**\s*(?P<number>{_NUMBER})", re.IGNORECASE)
# A minus that follows a digit or a letter is an operator or a hyphen, not a sign.
_ANYWHERE = re.compile(rf"(?<![0-9A-Za-z.,])(?P<number>{_NUMBER})|(?P<bare>{_UNSIGNED})")
_MARKED_TEXT = re.compile(r"\banswer\s*(?:is|was|=|:)+[ \t]*(?P<text>[^\n]+)", re.IGNORECASE)
_MAX_DIGITS = 60
_MAX_REPLY = 20_000
TextScoring = Literal["exact", "numeric"]
_STRIPPED = " \t\r\n.,;:!?\"'`*“”‘’()[]{}$"


@dataclass(frozen=True)
class Extracted:
    """An answer found in a reply."""

    answer: str
    at_end: bool
    """Whether it ends where the reply ends: if the reply was cut off, so may the answer be."""


def extract(text: str, *, style: Style, scoring: TextScoring) -> Extracted | None:
    """Find the answer in a reply; None where there is none."""
    # The answer of a long reply stands at its end; a completion's at its start.
    text = text[:_MAX_REPLY] if style == "completion" else text[-_MAX_REPLY:]
    if scoring == "numeric":
        return _completed_number(text) if style == "completion" else _chat_number(text)
    return _completed_text(text) if style == "completion" else _chat_text(text)


def is_correct(extracted: str, reference: str, scoring: TextScoring) -> bool:
    """Score an extracted answer. Raises ValueError if a numeric reference is no number."""
    if scoring == "exact":
        return normalise(extracted) == normalise(reference)
    wanted = parse_number(reference)
    if wanted is None:
        raise ValueError(f"the reference answer {reference[:80]!r} is not a number")
    return parse_number(extracted) == wanted


def normalise(text: str) -> str:
    """Fold case, width, white space and enclosing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("−", "-")
    return " ".join(folded.split()).strip(_STRIPPED)


def parse_number(text: str) -> Fraction | None:
    """Read a whole text as one number; None if it is not one, or is longer than 60 digits."""
    text = text.strip()
    if len(text) > 2 * _MAX_DIGITS or re.fullmatch(_NUMBER, text) is None:
        return None
    cleaned = re.sub(r"[\s,$€£]", "", text).replace("−", "-")
    if sum(character.isdigit() for character in cleaned) > _MAX_DIGITS:
        return None
    numerator, _, denominator = cleaned.partition("/")
    if not denominator:
        return Fraction(numerator)
    return Fraction(numerator) / int(denominator) if int(denominator) else None


def _completed_number(text: str) -> Extracted | None:
    """Take the number that the completion begins with, or that its first line calls the answer."""
    leading = _LEADING.match(text)
    if leading is not None:
        return _found(leading["number"], leading.end("number"), text)
    lines = text.lstrip().splitlines(keepends=True)
    marked = _MARKED.search(lines[0]) if lines else None
    if marked is None:
        return None
    return _found(marked["number"], marked.end("number"), text.lstrip())


def _chat_number(text: str) -> Extracted | None:
    """Take the boxed, the marked, the equated or the last number of a reply, in this order."""
    for boxed in reversed(list(_BOXED.finditer(text))):
        if parse_number(boxed["content"]) is not None:
            return Extracted(boxed["content"].strip(), at_end=False)
    for pattern in (_MARKED, _EQUALS):
        matches = list(pattern.finditer(text))
        if matches:
            return _found(matches[-1]["number"], matches[-1].end("number"), text)
    matches = list(_ANYWHERE.finditer(text))
    if not matches:
        return None
    return _found(matches[-1]["number"] or matches[-1]["bare"], matches[-1].end(), text)


def _completed_text(text: str) -> Extracted | None:
    """Take the completion's first line that is not blank."""
    body = text.lstrip()
    line = body.split("\n", 1)[0]
    if not normalise(line):
        return None
    return Extracted(line.strip(), at_end=len(line) == len(body))


def _chat_text(text: str) -> Extracted | None:
    """Take the boxed answer, what follows the last "answer is", or the whole reply."""
    boxed = list(_BOXED.finditer(text))
    if boxed and normalise(boxed[-1]["content"]):
        return Extracted(boxed[-1]["content"].strip(), at_end=False)
    marked = list(_MARKED_TEXT.finditer(text))
    if marked and normalise(marked[-1]["text"]):
        return Extracted(marked[-1]["text"].strip(), at_end=marked[-1].end() == len(text))
    return Extracted(text.strip(), at_end=True) if normalise(text) else None


def _found(number: str, end: int, text: str) -> Extracted | None:
    # A number that is too long to be read is no answer, rather than a wrong reading of one.
    if parse_number(number) is None:
        return None
    return Extracted(number.strip(), at_end=end == len(text))
