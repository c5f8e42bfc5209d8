"""Words that point out of a question into its source, which a solver does not have."""

from __future__ import annotations

import re

_PARTS = (
    r"sections?|chapters?|figures?|figs?\.|tables?|equations?|eqs?\.|examples?|listings?|exercises?"
    r"|pages?|appendix|theorems?|lemmas?|episodes?|lessons?|diagrams?|problems?|units?|modules?"
)
_PLACES = (
    r"figure|diagram|image|picture|plot|chart|illustration|text|passage|chapter|section|lesson"
    r"|episode|example|excerpt|exercise|textbook|book|paragraph|reading|material|tutorial"
)
_SAID = (
    r"shown|described|given|listed|discussed|defined|explained|seen|introduced|mentioned|stated"
    r"|presented|provided|illustrated|covered|noted|outlined|used|taught|learn(?:ed|t)"
)
_NUMBERED = (
    rf"(?<!\bfor )\b(?:{_PARTS})\s*\(?(?:\d+(?:[.\-–]\d+)*|[A-Z]\.\d+|[IVX]{{2,}})\)?(?![\w%])"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_SAID})\s+(?:earlier|previously|before|elsewhere)\b",
        rf"\b(?:{_SAID})\s+(?:in|by|on|within|throughout)\s+(?:the|this|our|that)\s+"
        rf"(?:\w+\s+)?(?:{_PLACES})\b",
        r"\b(?:in|from|of|throughout|per)\s+(?:the|this|our)\s+(?:(?:previous|preceding|next|last"
        r"|current|given|above)\s+)?(?:chapter|textbook|passage|lesson|episode|section|tutorial"
        r"|excerpt|book|course)\b",
        rf"\baccording to\s+(?:the|this|our)\s+(?:\w+\s+)?(?:{_PLACES}|authors?|source|course)\b",
        r"\baccording to\s+(?:the\s+)?(?:authors?|chapter|section)\b",
        rf"\bthe\s+(?:{_PLACES}|table)\s+(?:above|below|overleaf)\b",
        rf"\bthe\s+(?:above|following|preceding|previous|accompanying)\s+(?:{_PLACES})\b",
        r"\bin (?:the|this) text\s*[,.;:?]",
        r"\b(?:the|this) (?:text|passage|chapter|textbook|lesson|episode|author)s?\s+"
        r"(?:says?|states?|explains?|describes?|defines?|claims?|mentions?|shows?|introduces?|uses?"
        r"|teach(?:es)?|gives?|notes?|calls?|warns?|recommends?)\b",
        r"\b(?:as|like)\s+(?:we|you)(?:\s+(?:have|had|already|just))*\s+"
        r"(?:saw|seen|learned|learnt|discussed|noted|read|defined)\b",
        r"\b(?:recall|remember)\s+(?:from|that (?:we|the (?:text|chapter|lesson|book)))\b",
        r"\b(?:see|cf\.|refer to|consult)\s+(?:also\s+)?(?:the\s+)?(?:figure|table|section|chapter"
        r"|appendix|page|text|diagram|passage)\b",
        r"!?\[[^\]\[\n]{0,300}\]\((?!https?://)[^)\n]{0,300}\)",
    )
)
_NUMBERED_PATTERN = re.compile(_NUMBERED, re.IGNORECASE)
# Inside a stem that has them, these point at the stem itself.
_SHOWN_ABOVE = re.compile(
    rf"\b(?:{_SAID}|as|see)\s+(?:above|below)\b|\b(?:above|below)-mentioned\b", re.IGNORECASE
)
_TABLE_ABOVE = re.compile(r"\bthe\s+table\s+(?:above|below)\b", re.IGNORECASE)
_OWN_BLOCK = re.compile(r"```|~~~|^\s*\|.*\|\s*$|^ {4}\S", re.MULTILINE)
_OWN_TABLE = re.compile(r"^\s*\|.*\|\s*$", re.MULTILINE)
_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]*`", re.DOTALL)


def source_references(text: str) -> tuple[str, ...]:
    """Return the places of a text that point into its source.

    Code is left alone. "Shown above" is no fault where the text itself has a block of code or a
    table, and neither is "the table below" where it has a table.
    """
    has_block, has_table = _OWN_BLOCK.search(text), _OWN_TABLE.search(text)
    prose = _CODE.sub(" ", text)
    found = [match.group().strip() for match in _NUMBERED_PATTERN.finditer(prose)
             if not _counts_things(match.group())]  # fmt: skip
    for pattern in _PATTERNS:
        found += [
            match.group().strip()
            for match in pattern.finditer(prose)
            if not (has_table and _TABLE_ABOVE.fullmatch(match.group().strip()))
        ]
    if not has_block:
        found += [match.group().strip() for match in _SHOWN_ABOVE.finditer(prose)]
    return tuple(dict.fromkeys(found))


def _counts_things(found: str) -> bool:
    """Whether words such as "pages 30" or "units 5" are too plain to be a reference."""
    word = found.split(maxsplit=1)[0].lower().rstrip("s.")
    return word in {"page", "unit", "problem", "module"} and found[0].islower()
