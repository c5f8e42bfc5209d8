"""Options that speak of other options: "None of the above", "Both A and B".

Their meaning hangs on where they and the others stand, so whoever shuffles options must know them.
What is recognised errs towards leaving an option where it is: that costs some shuffling, while an
option moved wrongly would change what is asked.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 120  # characters; longer texts are contents
_ALONE_AT_END = 2  # "None" may be a value of Python: by itself it counts in the last two places
_HOW_MANY = (
    r"(?:none|all|both|neither|either|any|some|most|each|one|two|three|four|more\sthan\sone"
    r"|not\sall|(?:at\sleast|only|exactly|just)\s(?:one|two|three)|(?:(?:a|any)\s)?combinations?)"
)
_ANSWERS = r"(?:options?|answers?|choices?|alternatives?|responses?)"
_WHICH = (
    rf"(?:above|preceding|foregoing|previous|aforementioned|following|below|others?|remaining"
    rf"|listed|given|these|those|them|{_ANSWERS})"
)
_SPEAKS_OF_OTHERS = re.compile(
    rf"""
    {_HOW_MANY} \s+ (?:(?:of|from|among)\s+)? (?:the\s+)? {_WHICH} (?!\w) .*
    | (?:none|all|both|neither) \s+ (?:is|are|apply|applies|would|were|was) (?!\w) .*
    | (?:everything|anything|nothing|something|someone) \s+ (?:above|else|listed|of\ the\ above)
    | no \s+ (?:(?:correct|right|other|such)\s+)? {_ANSWERS} (?!\w) .*
    | the \s+ (?:above (?!\w) .* | others? | rest)
    | not \s+ (?:listed|given|mentioned) (?:\ (?:above|here))?
    # German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese
    | (?:keine?[rs]?|alle|beide|nichts) \s .*
      (?:genannten?|obigen|oben|davon|antworten|möglichkeiten|aussagen|dieser|diesen) (?!\w) .*
    | (?:aucune?|toutes?|tous) \s .*
      (?:ci-dessus|précédente?s?|réponses|propositions|choix|ces) (?!\w) .*
    | (?:ningun[oa]|nenhuma?|tod[oa]s|amb[oa]s) \s .*
      (?:anteriores?|arriba|acima|mencionad[oa]s|respuestas|respostas|opciones|opções|alternativas)
      (?!\w) .*
    | (?:nessun[oa]?|tutt[ei]|entramb[ei]) \s .*
      (?:precedenti|sopra|risposte|opzioni|queste) (?!\w) .*
    | (?:ни\w*|нет|вс[её]|оба) \s .* (?:перечисленн|вышеуказанн|вариант|ответ) .*
    | .* (?:以上|上述) (?:都|均|全|皆|所有|选项|答案|说法|任|の) .*
    | (?:都|均|皆|全) (?:不|是|对|正确|错) .*
    | (?:上記|以上|いずれ|どれ|すべて|全て) .* (?:ない|なし|も|正しい|該当) .*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TOGETHER = r"(?:both|either|neither|only|not|all|none|beide|les\sdeux|ambos|只有?)"
_JOIN = (
    r"\s*(?:,\s*(?:and|or|nor|&)?|and|or|nor|but\snot|und|oder|et|ou|y|e|и|или"
    r"|&|\+|/|[和及与或、])\s*"
)
_END = (
    r"(?:\s*(?:(?:only|alone|together|both|is|are|but|except|apply|applies|nur|seulement|solo)"
    r"(?!\w)|[都均皆对正错只]).*)?"
)
_ALONE = re.compile(r"none|all|both|neither|either|others?", re.IGNORECASE)
_ROMAN = re.compile(r"(?<!\w)(?:I{2,3}|IV|VI{0,3}|IX)(?!\w)")


def places_kept(choices: Sequence[str], question: str = "") -> frozenset[int]:
    """Return the places, from 0, whose options must stay where they are.

    An option like "None of the above" stays, and what stands before it has to stay before it. All
    places are kept where an option names others by letter, number or order, or the question does
    so by letter.
    """
    texts = [_bare(choice) for choice in choices]
    named = _naming(len(choices), roman=any(_ROMAN.search(text) for text in texts))
    if named.by_letter.search(question) or any(named.names(text) for text in texts):
        return frozenset(range(len(choices)))
    end = len(texts) - _ALONE_AT_END
    return frozenset(
        place
        for place, text in enumerate(texts)
        if speaks_of_others(text) or (place >= end and _ALONE.fullmatch(text))
    )


def speaks_of_others(option: str) -> bool:
    """Whether an option speaks of the others as a whole, as "None of the above" does."""
    text = _bare(option)
    return len(text) <= _LONGEST and _SPEAKS_OF_OTHERS.fullmatch(text) is not None


def _bare(option: str) -> str:
    return " ".join(option.split()).strip(" .,;:!*_\"'“”。")


class _Naming:
    """How options are named, where they have these letters."""

    def __init__(self, letters: str) -> None:
        one = rf"[(\[]?(?<![a-z0-9])[{letters}](?![a-z0-9'’])[)\].]?"
        number = r"[(\[]?(?<!\w)\d(?!\w|[.,]\d)[)\]]?"
        several = rf"{one}(?:{_JOIN}{one})+"
        self._whole = re.compile(
            rf"""
            (?:{_TOGETHER}\s*)? {several} {_END}
            | (?:both|either|neither) \s+ {number} {_JOIN} {number} {_END}
            | (?:only|not|same\ as) \s+ {one} {_END} | {one} \s+ (?:only|alone)
            | (?:all|none|any|everything) \s+ (?:.{{0,30}}\s)? (?:except|but|besides) \s+
              (?:for\s+)? (?:{one}|{several})
            """,
            re.IGNORECASE | re.VERBOSE,
        )
        ordinal = r"(?:first|second|third|fourth|fifth|last|former|latter|previous|next)"
        letter = rf"(?:(?-i:[{letters}])(?![a-z0-9'’])|[(\[][{letters}][)\]])"
        self.by_letter = re.compile(rf"(?:(?<!\w){_ANSWERS}\s+|选项\s*){letter}", re.IGNORECASE)
        self._by_place = re.compile(
            rf"""
            (?<!\w)(?:options?|choices?|alternatives?) \s+ {number} | (?<!\w){ordinal} \s+
            (?:(?:and|or|two|three|{ordinal})\s+){{0,3}} {_ANSWERS} (?!\w)
            """,
            re.IGNORECASE | re.VERBOSE,
        )

    def names(self, option: str) -> bool:
        """Whether an option names others by their letter or number."""
        searched = (self.by_letter.search(option), self._by_place.search(option))
        return len(option) <= _LONGEST and (
            any(searched) or self._whole.fullmatch(option) is not None
        )


@cache
def _naming(count: int, *, roman: bool) -> _Naming:
    """Return how that many options are named; with Roman numerals about, I and V are such."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: max(count, 1)]
    return _Naming("".join(one for one in letters if not (roman and one in "IVX")))
