"""How large a request may be, counted as it streams in: a Content-Length may be missing or lie."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from .problem import ProblemError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

JSON_BYTES = 8 << 20
_DRAIN_BYTES = 512 << 20
_DRAIN_SECONDS = 30.0


class SizeLimit:
    """Middleware that refuses what is too large with 413: files by one limit, all else by another.

    Starlette's own answers with plain text, and also where the key was refused already.
    """

    def __init__(self, app: ASGIApp, upload_bytes: int) -> None:
        self._app, self._upload_bytes = app, upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        upload = headers.get("content-type", "").startswith("multipart/")
        most = self._upload_bytes if upload else JSON_BYTES
        length = headers.get("content-length", "")
        declared = int(length) if length.isascii() and length.isdigit() else 0
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            if declared <= most:
                message = await receive()
                seen += len(message.get("body", b""))
                if seen <= most:
                    return message
            await _drain(receive)
            raise ProblemError(
                413, "too-large", f"the request has more than {most >> 20} MiB, which is the most."
            )

        await self._app(scope, counted, send)


async def _drain(receive: Receive) -> None:
    """Let the client finish, for a while: one that is cut off while it sends never reads why."""
    seen, deadline = 0, time.monotonic() + _DRAIN_SECONDS
    while seen < _DRAIN_BYTES and time.monotonic() < deadline:
        message = await receive()
        seen += len(message.get("body", b""))
        if not message.get("more_body", False):
            return
