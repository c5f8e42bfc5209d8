"""Items as the text of data files; nothing here is ever part of a program."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..items import Item

LETTERS = string.ascii_uppercase
# JSON allows these in strings, but many readers take them for line ends
_LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


def json_text(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).translate(_LINE_ENDS)


def jsonl(rows: Iterable[Any]) -> bytes:
    """Return rows as JSON Lines in UTF-8."""
    return "".join(f"{json_text(row)}\n" for row in rows).encode()


def yaml_bytes(value: Any) -> bytes:
    """Return a value as YAML, keys in their order."""
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text.encode()


def gold(item: Item) -> int:
    """Return the position of an item's answer among its choices; it must be there."""
    return item.choices.index(item.answer)


def letter(item: Item) -> str:
    """Return the letter of an item's answer, A for the first choice."""
    return LETTERS[gold(item)]
