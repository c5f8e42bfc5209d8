"""Headers of every answer of the page: nothing from elsewhere, nothing inline, nothing kept."""

from __future__ import annotations

from typing import Final

POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "font", "img", "connect")),
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # nothing goes elsewhere; with `no-referrer` browsers would hide from us that a form is our own
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TEXT_HEADERS: Final = HEADERS | {"Content-Security-Policy": "default-src 'none'; sandbox"}
"""Of text as it is, in which nothing is ours."""
