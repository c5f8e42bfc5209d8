"""Untrusted text as HTML: escaped, and with what hides in it made visible."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

# Control characters, direction marks and overrides, zero-width, filler, tag and variation
# characters, lone surrogates. Line ends and tabs stay. The joiners of scripts and emoji stay
# where they can do their work, which is never beside ASCII.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff"
)
_JOINER = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_RUN = re.compile(f"(?P<one>[{_HIDDEN}]|{_JOINER})(?P=one)*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def shown(text: str) -> Markup:
    """Escape text and put the code points of hidden characters in their places.

    A run of the same character is shown once, with its length, so that it cannot fill a page.
    """
    return Markup(unhidden_in(str(escape(text))))  # noqa: S704 - escaped, and our own element


def visible(text: str) -> str:
    """Do the same in plain text, for attributes and files: ⟨U+202E⟩."""
    return _RUN.sub(lambda found: f"⟨{_name(found)}⟩", text.replace("\r\n", "\n"))


def unhidden_in(markup: str) -> str:
    """Make hidden characters visible in HTML whose attributes are ours."""
    return _RUN.sub(_span, markup)


def encodable(text: str) -> str:
    """Replace lone surrogates, which are no text, and line ends of other systems."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "⟨U+0000⟩")
    return _SURROGATE.sub(lambda found: f"⟨{_name(found)}⟩", unix)


def _span(found: re.Match[str]) -> str:
    return f'<span class="hidden-character">{_name(found)}</span>'


def _name(found: re.Match[str]) -> str:
    times = len(found[0])
    return f"U+{ord(found[0][0]):04X}" + (f" × {times}" if times > 1 else "")
