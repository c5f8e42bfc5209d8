"""The fence around text that is data to a model and never an instruction."""

from __future__ import annotations

import hashlib
import re

_LOOKALIKE = re.compile(r"<(?=\s*/?\s*untrusted)", re.IGNORECASE)


def quote_untrusted(text: str) -> str:
    """Put a text between ``<untrusted-TAG>`` and ``</untrusted-TAG>`` on lines of their own.

    The tag is the text's own hash: nobody can write a text that holds it, and the same text always
    gives the same prompt. Whatever only looks like a fence inside has its ``<`` escaped; everything
    else arrives as it is.
    """
    tag = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    inside = _LOOKALIKE.sub("&lt;", text)
    return f"<untrusted-{tag}>\n{inside}\n</untrusted-{tag}>"
