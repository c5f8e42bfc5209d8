"""Signing in with an API key, and out."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...rest.problem import ProblemError
from ...rest.service import ServiceDep
from .guard import PageRoute, lets_in, set_cookie
from .sessions import RedisSessions
from .sign_in_limits import count_wrong_key, refuse_too_often
from .templates import render
from .visit import COOKIE, COOKIE_PATH, Visit, VisitDep

router = APIRouter(prefix="/review", include_in_schema=False, route_class=PageRoute)
_LOCAL = re.compile(r"/review(?:[/?][A-Za-z0-9._~/?=&%:@!$'()*+,;-]*)?")
_LONGEST_KEY = 200


def local(address: str) -> str:
    """Return an address within the page; the queue's for any other."""
    path = unquote(urlsplit(address).path)
    if _LOCAL.fullmatch(address) is None or {".", ".."} & set(path.split("/")):
        return "/review"
    return address


def _page(visit: Visit, address: str, wrong: str = "", status: int = 200) -> HTMLResponse:
    page = render("sign_in", visit=visit, next=address, wrong=wrong)
    return HTMLResponse(page, status)


@router.get("/sign-in", **lets_in("open"))
async def ask_for_key(
    visit: VisitDep,
    address: Annotated[str, Query(alias="next", max_length=1000)] = "/review",
) -> Response:
    """Show the form; where nobody needs a key there is nothing to sign in to."""
    if visit.anonymous:
        return RedirectResponse(local(address), 303)
    return _page(visit, local(address))


@router.post("/sign-in", **lets_in("open"))
async def sign_in(request: Request, visit: VisitDep, service: ServiceDep) -> Response:
    """Exchange an API key for a session; its token is a new one."""
    if visit.anonymous:
        return RedirectResponse("/review", 303)
    form = await request.form()
    given, address = form.get("key"), form.get("next")
    address = local(address if isinstance(address, str) else "")
    client = request.client.host if request.client else ""
    try:
        await refuse_too_often(service.redis, client)
    except ProblemError as error:
        sentence = error.detail[:1].upper() + error.detail[1:]
        page = _page(visit, address, sentence, error.status_code)
        page.headers.update(error.headers or {})
        return page
    secret = given.strip() if isinstance(given, str) else ""
    key = await service.api_keys.authenticate(secret) if len(secret) <= _LONGEST_KEY else None
    if key is None:
        await count_wrong_key(service.redis, client)
        return _page(visit, address, "This key is unknown or revoked. Is it complete?", 401)
    sessions = RedisSessions(service.redis)
    await sessions.end(visit.token)
    response = RedirectResponse(address, 303)
    set_cookie(request, response, await sessions.begin(key))
    return response


@router.post("/sign-out", **lets_in("open"))
async def sign_out(visit: VisitDep, service: ServiceDep) -> Response:
    """End the session."""
    await RedisSessions(service.redis).end(visit.token)
    response = RedirectResponse("/review/sign-in", 303)
    response.delete_cookie(COOKIE, path=COOKIE_PATH)
    return response
