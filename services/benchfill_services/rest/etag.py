"""ETag on reads: whoever has the answer already is told so in a few bytes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

if TYPE_CHECKING:
    from starlette.requests import Request


def with_etag(request: Request, response: Response) -> Response:
    """Give a read its ETag; 304 without a body when the client has this very answer."""
    if request.method != "GET" or response.status_code != 200:
        return response
    if isinstance(response, StreamingResponse):
        return response
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    if not _matches(request.headers.getlist("if-none-match"), tag):
        return response
    kept = {name: response.headers[name] for name in ("ETag", "Cache-Control")}
    return Response(status_code=304, headers=kept)


def _matches(headers: list[str], tag: str) -> bool:
    given = {one.strip().removeprefix("W/") for header in headers for one in header.split(",")}
    return tag in given or "*" in given
