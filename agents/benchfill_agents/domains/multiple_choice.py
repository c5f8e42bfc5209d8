"""Multiple choice: an option by its letter or by its text; options may be shuffled."""

from __future__ import annotations

import hashlib
import re
import string
from typing import TYPE_CHECKING, ClassVar

from benchfill.option_references import places_kept

from ..pool.scoring import Extracted, normalise
from .interface import Domain

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style

LETTERS = string.ascii_uppercase
_MAX_REPLY = 20_000
_BOXED = re.compile(r"\\boxed\s*\{\s*(?:\\text\s*\{)?(?P<text>[^{}]{1,400})\}")
_MARKED = re.compile(
    r"\banswer\b(?:\s+\w+){0,3}?\s*(?:is|was|=|:)+[ \t*]*(?P<text>[^\n]+)",
    re.IGNORECASE,
)
# "B", "(B)", "b.", "**B)** because ...": a letter by itself, before anything else
_LEADING = re.compile(
    r"[\s(\[*]*(?P<letter>[A-Za-z])(?P<end>[)\]*]+|\s*(?:[.:,;\n]|[-–—]\s|$)"
    r"|\s+(?:because|since|as|which)\b)"
)
# after a letter: "B or C", "(B) and (C)", and "B, C", but not "B, A is wrong"
_ANOTHER = re.compile(
    r"[)\]*]*\s*(?:(?:or|and|/|&)\s*[(\[*]*[A-Z]\b"
    r"|,\s*[(\[*]*[A-Z](?=[)\]*]*\s*(?:[.,;\n]|$|(?:and|or)\b)))"
)
_BARE_CAPITAL = re.compile(r"[\s(\[*]*(?P<letter>[B-HJ-Z])(?![\w'])")
# in the middle of words only "(B)", "**B**" and "option B" are surely no word
_WITHIN = re.compile(r"[(\[*](?P<one>[A-Z])[)\]*]|\b(?:[Oo]ption|[Cc]hoice)[\s:]+(?P<two>[A-Z])\b")


class MultipleChoice(Domain):
    """Items with options, of which exactly one is right."""

    name: ClassVar[ItemDomain] = "multiple_choice"

    def asked(self, item: Item, style: Style) -> str:
        """See `Domain.asked`: the question, and its options by letter."""
        options = [f"{letter}. {text}" for letter, text in zip(LETTERS, item.choices, strict=False)]
        end = ["Answer:"] if style == "completion" else []
        return "\n".join([item.question, *options, *end])

    def problem(self, item: Item) -> str | None:
        """See `Domain.problem`."""
        if not 2 <= len(item.choices) <= len(LETTERS):
            return f"The item has {len(item.choices)} options; multiple choice takes 2 to 26."
        if len({as_written(choice) for choice in item.choices}) < len(item.choices):
            return "Two options are the same."
        if right_option(item) is None:
            return (
                f"The answer {item.answer[:80]!r} is neither the text of an option nor the letter "
                "of one."
            )
        return None

    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:
        """See `Domain.extract`: gives the text of the option that the reply names."""
        text = text[:_MAX_REPLY] if style == "completion" else text[-_MAX_REPLY:]
        if style == "completion":
            text = text.lstrip().split("\n", 1)[0]
        for pattern, closed in ((_BOXED, True), (_MARKED, False)):
            for match in reversed(list(pattern.finditer(text))):
                option = _option(match["text"], item)
                if option is not None:
                    at_end = not closed and match.end() == len(text)
                    return Extracted(item.choices[option], at_end=at_end)
        option = _option(text, item)
        # a letter is whole as soon as it is there; the words of an option may be the start of more
        return None if option is None else Extracted(item.choices[option], at_end=False)

    def is_correct(self, answer: str, item: Item) -> bool:
        """See `Domain.is_correct`."""
        right = right_option(item)
        return right is not None and answer == item.choices[right]


def right_option(item: Item) -> int | None:
    """Return the place of the right option: by its text, else by its letter; None without one."""
    fold = folding(item)
    by_text = [k for k, choice in enumerate(item.choices) if fold(choice) == fold(item.answer)]
    if by_text:
        return by_text[0] if len(by_text) == 1 else None
    wanted = normalise(item.answer).upper()
    place = LETTERS.find(wanted) if len(wanted) == 1 else -1
    return place if 0 <= place < len(item.choices) else None


def choice_order(item: Item, sample: int) -> tuple[int, ...]:
    """Return in which order a sample shows the options: the same for all models, for ever.

    Options that speak of others keep their place, and the others stay on their side of them; with
    options that name others by letter, or `shuffle_choices: false` in the item's metadata, the
    order is the item's own.
    """
    count, content = len(item.choices), item.content_hash
    if item.metadata.get("shuffle_choices") is False:
        return tuple(range(count))

    def drawn(place: int) -> bytes:
        return hashlib.sha256(f"{content}:{sample}:{place}".encode()).digest()

    order: list[int] = []
    for kept in (*sorted(places_kept(item.choices, item.question)), count):
        order += sorted(range(len(order), kept), key=drawn)
        order += [kept] if kept < count else []
    return tuple(order)


def reordered(item: Item, order: tuple[int, ...]) -> Item:
    """Return the item with its options in another order, and its answer as the option's text."""
    right = right_option(item)
    answer = item.answer if right is None else item.choices[right]
    choices = tuple(item.choices[place] for place in order)
    return item.model_copy(update={"choices": choices, "answer": answer})


def as_written(text: str) -> str:
    """Fold white space only: "Na" and "NA" are two options, and so are "5" and "5!"."""
    return " ".join(text.split())


def folding(item: Item) -> Callable[[str], str]:
    """Return how texts are compared: capitals and brackets count where options differ by them."""
    folded = {normalise(choice) for choice in item.choices}
    return normalise if len(folded) == len(item.choices) else as_written


def _option(said: str, item: Item) -> int | None:
    """Return the option that some words name, by text or by letter; None if none, or several."""
    fold, said = folding(item), said.strip()
    options = [fold(choice) for choice in item.choices]
    if fold(said) in options:
        return options.index(fold(said))
    leading = _LEADING.match(said) or _BARE_CAPITAL.match(said)
    if leading is not None and _ANOTHER.match(said, leading.end("letter")) is None:
        place = _place(leading["letter"], item)
        if place is not None:
            return place
    named = [
        k
        for k, option in enumerate(options)
        if option and re.search(rf"(?<!\w){re.escape(option)}(?!\w)", fold(said))
    ]
    # "10 km" holds the option "10" as well: the longest that holds all others is meant
    longest = max(named, key=lambda k: len(options[k]), default=None)
    if longest is not None and all(options[k] in options[longest] for k in named):
        return longest
    letters = {match["one"] or match["two"] for match in _WITHIN.finditer(said)}
    return _place(letters.pop(), item) if len(letters) == 1 and not named else None


def _place(letter: str, item: Item) -> int | None:
    place = LETTERS.find(letter.upper())
    return place if 0 <= place < len(item.choices) else None
