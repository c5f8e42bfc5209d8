"""What pydantic says of a wrong value, in words for somebody who knows neither it nor Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..store.benchmarks import SLUG
from .pool_files import POOL_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

_OBJECT = "must be a JSON object"
_BY_TYPE = {
    "extra_forbidden": "is not known here; check its spelling, or leave it out",
    "missing": "is missing",
    "dataclass_type": _OBJECT,
    "dict_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "model_type": _OBJECT,
}
_BY_PATTERN = {
    "^[0-9a-f]{32}$": "is no id of a fill: 32 characters of 0-9 and a-f",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "is no day, such as 2026-01-31",
    r"^[0-9]{1,15}$": "is no cursor: send `next_cursor` of the page before",
    r"^[0-9]{1,19}(-[0-9]{1,19})?$": "is no id of an event: send the `id` that came last",
    SLUG: (
        "takes a-z, 0-9, '.', '_' and '-', at most 64 of them, and begins with a letter or a digit"
    ),
    POOL_ID: (
        "takes letters, digits, '.', '_' and '-', at most 128 of them, and begins with a letter or "
        "a digit"
    ),
}


def plain_words(found: Mapping[str, Any]) -> str:
    """Return what is wrong, without the field's name before it."""
    kind = str(found["type"])
    if kind == "string_pattern_mismatch":
        pattern = str(found.get("ctx", {}).get("pattern", ""))
        return _BY_PATTERN.get(pattern, f"does not match {pattern}")
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    message = str(found["msg"]).removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]}".replace("input should", "must", 1)
