"""What the beginning of a JSON text tells: the value, cut off where the text ends."""

from __future__ import annotations

import json
import re
from typing import Any

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],"]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
DEEPEST = 200


def partial_json(text: str) -> Any:
    """Return the first JSON object or array of a text, without what the text no longer holds.

    None where it is no JSON, or nested more than 200 deep.
    A whole value is returned whole, whatever stands behind it.
    """
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] not in _CLOSING:
        return None
    open_now: list[str] = []
    cut, closing = 0, ""
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSING:
            if len(open_now) == DEEPEST:
                return None
            open_now.append(_CLOSING[mark])
            cut, closing = token.end(), "".join(reversed(open_now))
        elif mark == ",":
            cut, closing = token.start(), "".join(reversed(open_now))
        elif mark in "}]":
            if not open_now or open_now.pop() != mark:
                return None
            if not open_now:
                cut, closing = token.end(), ""
                break
        elif mark == '"':
            break  # a text that goes on beyond what was read
    try:
        return json.loads(text[start:cut] + closing)
    except (ValueError, RecursionError):
        return None
