"""Which sections of a textbook no item is made from, by their headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..chapter import Why

_NUMBER = r"(?:(?:chapter|section|part|appendix)\s+)?(?:[\dIVXA-H]+(?:[.\-]\d+)*[.:)]?\s+)?"
_SECTIONS: tuple[tuple[Why, str], ...] = (
    (
        "front matter",
        r"preface|foreword|prologue|acknowledge?ments?|dedication|about (?:the|this) (?:authors?"
        r"|book|edition)|how to use this book|(?:learning )?(?:objectives|outcomes|goals)"
        r"|to the (?:student|reader|instructor)s?",
    ),
    ("table of contents", r"(?:table of )?contents|list of (?:figures|tables)|in this chapter"),
    ("index", r"(?:subject |author |name |general )?index"),
    (
        "exercise",
        r"(?:(?:end.of.chapter|chapter|review|practice|additional|further|more|programming"
        r"|self.?(?:test|check|assessment)) )?(?:exercises?|problems?|questions?|problem set|quiz"
        r"|homework|challenges?|activities|test|check)(?: (?:and|for) .*)?"
        r"|check your understanding|test your(?:self| knowledge)|try it(?: yourself)?",
    ),
    ("solution", r"(?:selected )?(?:solutions?|answers?)(?: (?:to|for) .*)?|answer key"),
    ("summary", r"(?:chapter )?summary|key ?points|key takeaways|recap"),
    (
        "references",
        r"references|bibliography|works cited|further reading|see also|notes and references",
    ),
    ("licence", r"licen[cs](?:e|es|ing)|copyright(?: .*)?|attributions?|credits|colophon"),
)
_PATTERNS = tuple(
    (why, re.compile(rf"{_NUMBER}(?:{words})\W*", re.IGNORECASE)) for why, words in _SECTIONS
)


def left_out_by_heading(heading: str) -> Why | None:
    """Return why the section under a heading is left out; None where it is used."""
    plain = " ".join(re.sub(r"[*_`#]", "", heading).split())
    return next((why for why, pattern in _PATTERNS if pattern.fullmatch(plain)), None)
