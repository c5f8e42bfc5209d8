"""Checkers of instructions that a program can verify, under the ids and arguments of IFEval.

IFEval: Zhou et al. 2023, arXiv 2311.07911. Ours are written anew, and hold in any language that
parts words by spaces; those that need a language model or a sentence splitter are not here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

Checker = Callable[[str, dict[str, Any]], bool]
CHECKERS: dict[str, Checker] = {}
ARGUMENTS: dict[str, frozenset[str]] = {}

_WORD = re.compile(r"\w+")
_BULLET = re.compile(r"^\s*(?:\*(?!\*)|-|•)\s*\S", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*\*[^\n*]*[^\s*][^\n*]*\*\*|\*[^\n*]*[^\s*][^\n*]*\*")
_FENCE = re.compile(r"^```(?:json)?\s*|\s*```$", re.IGNORECASE)
_STARS = re.compile(r"\s?\*\*\*\s?")


def _checker(name: str, *arguments: str) -> Callable[[Checker], Checker]:
    def register(function: Checker) -> Checker:
        CHECKERS[name] = function
        ARGUMENTS[name] = frozenset(arguments)
        return function

    return register


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return _WORD.findall(text)


def _related(number: int, relation: str, bound: int) -> bool:
    """Compare as IFEval words it: "less than" or "at least"."""
    if relation not in {"less than", "at least"}:
        raise ValueError(f"the relation {relation!r} is neither `less than` nor `at least`")
    return number < bound if relation == "less than" else number >= bound


def _count(text: str, part: str) -> int:
    """Count a keyword, whatever its case; it may be a part of a word, as in IFEval."""
    return len(re.findall(re.escape(part), text, re.IGNORECASE))


def _between(parts: list[str]) -> list[str] | None:
    """Return the parts that marks set apart; None where one in the middle is empty."""
    inner = parts[1:] if parts and not parts[0].strip() else parts
    inner = inner[:-1] if inner and not inner[-1].strip() else inner
    return [part.strip() for part in inner] if all(part.strip() for part in inner) else None


@_checker("length_constraints:number_words", "relation", "num_words")
def _number_words(text: str, with_: dict[str, Any]) -> bool:
    return _related(len(words(text)), with_["relation"], int(with_["num_words"]))


@_checker("length_constraints:number_paragraphs", "num_paragraphs")
def _number_paragraphs(text: str, with_: dict[str, Any]) -> bool:
    parts = _between(_STARS.split(text))
    return parts is not None and len(parts) == int(with_["num_paragraphs"])


@_checker(
    "length_constraints:nth_paragraph_first_word", "num_paragraphs", "nth_paragraph", "first_word"
)
def _nth_paragraph(text: str, with_: dict[str, Any]) -> bool:
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    place = int(with_["nth_paragraph"]) - 1
    if len(parts) != int(with_["num_paragraphs"]) or not 0 <= place < len(parts):
        return False
    first = words(parts[place])[:1]
    return [word.casefold() for word in first] == [str(with_["first_word"]).casefold()]


@_checker("length_constraints:number_characters", "relation", "num_characters")
def _number_characters(text: str, with_: dict[str, Any]) -> bool:
    return _related(len(text.strip()), with_["relation"], int(with_["num_characters"]))


@_checker("keywords:existence", "keywords")
def _existence(text: str, with_: dict[str, Any]) -> bool:
    return all(_count(text, str(keyword)) for keyword in with_["keywords"])


@_checker("keywords:forbidden_words", "forbidden_words")
def _forbidden(text: str, with_: dict[str, Any]) -> bool:
    return not any(
        re.search(rf"\b{re.escape(str(word))}\b", text, re.IGNORECASE)
        for word in with_["forbidden_words"]
    )


@_checker("keywords:frequency", "keyword", "relation", "frequency")
def _frequency(text: str, with_: dict[str, Any]) -> bool:
    found = _count(text, str(with_["keyword"]))
    return _related(found, with_["relation"], int(with_["frequency"]))


@_checker("keywords:letter_frequency", "letter", "let_relation", "let_frequency")
def _letter_frequency(text: str, with_: dict[str, Any]) -> bool:
    found = text.casefold().count(str(with_["letter"]).casefold())
    return _related(found, with_["let_relation"], int(with_["let_frequency"]))


@_checker("detectable_format:number_bullet_lists", "num_bullets")
def _bullets(text: str, with_: dict[str, Any]) -> bool:
    return len(_BULLET.findall(text)) == int(with_["num_bullets"])


@_checker("detectable_format:number_highlighted_sections", "num_highlights")
def _highlights(text: str, with_: dict[str, Any]) -> bool:
    return len(_HIGHLIGHT.findall(text)) >= int(with_["num_highlights"])


@_checker("detectable_format:multiple_sections", "section_spliter", "num_sections")
def _sections(text: str, with_: dict[str, Any]) -> bool:
    head = re.escape(str(with_["section_spliter"]).strip())
    return len(re.findall(rf"\b{head}\s+\d+", text)) >= int(with_["num_sections"])


@_checker("detectable_format:json_format")
def _json(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - it takes no argument
    try:
        json.loads(_FENCE.sub("", text.strip()))
    except (ValueError, RecursionError):
        return False
    return True


@_checker("detectable_format:title")
def _title(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - it takes no argument
    return re.search(r"<<[^\n<>]*\w[^\n<>]*>>", text) is not None


@_checker("detectable_content:number_placeholders", "num_placeholders")
def _placeholders(text: str, with_: dict[str, Any]) -> bool:
    return len(re.findall(r"\[.*?\]", text)) >= int(with_["num_placeholders"])


@_checker("detectable_content:postscript", "postscript_marker")
def _postscript(text: str, with_: dict[str, Any]) -> bool:
    letters = str(with_["postscript_marker"]).split(".")
    marker = r"\.\s?".join(re.escape(letter.strip()) for letter in letters)
    return re.search(marker, text, re.IGNORECASE) is not None


@_checker("combination:two_responses")
def _two_responses(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - no argument
    parts = _between(text.split("******"))
    return parts is not None and len(parts) == 2 and parts[0] != parts[1]


@_checker("combination:repeat_prompt", "prompt_to_repeat")
def _repeat(text: str, with_: dict[str, Any]) -> bool:
    wanted = str(with_["prompt_to_repeat"]).strip().casefold()
    return text.strip().casefold().startswith(wanted)


@_checker("startend:start_checker", "start_phrase")
def _starts(text: str, with_: dict[str, Any]) -> bool:
    return text.lstrip(" \n\"'").casefold().startswith(str(with_["start_phrase"]).casefold())


@_checker("startend:end_checker", "end_phrase")
def _ends(text: str, with_: dict[str, Any]) -> bool:
    wanted = str(with_["end_phrase"]).strip().casefold()
    return text.strip(" \n\"'").casefold().endswith(wanted)


@_checker("startend:quotation")
def _quotation(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - no argument
    bare = text.strip()
    return len(bare) > 1 and bare.startswith('"') and bare.endswith('"')


@_checker("change_case:english_capital")
def _capital(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - no argument
    return text.isupper()


@_checker("change_case:english_lowercase")
def _lowercase(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - no argument
    return text.islower()


@_checker("change_case:capital_word_frequency", "capital_relation", "capital_frequency")
def _capital_words(text: str, with_: dict[str, Any]) -> bool:
    found = sum(word.isupper() for word in words(text))
    return _related(found, with_["capital_relation"], int(with_["capital_frequency"]))


@_checker("punctuation:no_comma")
def _no_comma(text: str, with_: dict[str, Any]) -> bool:  # noqa: ARG001 - no argument
    return "," not in text
