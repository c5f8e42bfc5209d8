"""The page's files over HTTP."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from ...rest.problem import ProblemError
from .assets import static_files
from .guard import PageRoute, lets_in

router = APIRouter(prefix="/review/static", include_in_schema=False, route_class=PageRoute)
_FOR_EVER = "public, max-age=31536000, immutable"
_A_DAY = "public, max-age=86400"


@router.get("/{name:path}", **lets_in("public"))
def get_static(request: Request, name: str, v: str = "") -> Response:
    """Return a file. What a style sheet asks for has no version and is asked for again."""
    found = static_files().get(name)
    if found is None:
        raise ProblemError(404, "not-found", "there is nothing at this address.")
    headers = {
        "Cache-Control": _FOR_EVER if v == found.digest else _A_DAY,
        "ETag": f'"{found.digest}"',
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if found.zipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(found.zipped, media_type=found.media_type, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)
