"""Untrusted text made fit to be looked at: nothing hidden, nothing endless."""

from __future__ import annotations

import re

# What steers or hides text: control characters, direction marks and overrides, zero-width and tag
# characters, lone surrogates. Line ends, tabs and the joiners of scripts stay.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Show what is hidden as its code point, such as ⟨U+202E⟩."""
    unix = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", unix)


def cut(text: str, limit: int) -> str:
    """Cut long text, and say how long it was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [cut at {limit:,} of {len(text):,} characters]"


def one_line(text: str, limit: int) -> str:
    """Return text on one line of at most `limit` characters, cut in its middle.

    Names of one family differ at their ends.
    """
    whole = len(text) <= 20 * limit
    line = " ".join(visible(text if whole else text[: 10 * limit] + text[-10 * limit :]).split())
    if len(line) <= limit:
        return line
    tail = (limit - 1) // 3
    return f"{line[: limit - 1 - tail]}…{line[len(line) - tail :]}"
