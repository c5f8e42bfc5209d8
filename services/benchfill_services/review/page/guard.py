"""A route of the page with a guard: session, origin and form token come before all else.

Errors are pages in words; where htmx asks, a sentence that is put in place.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from benchfill.errors import BenchFillError

from ...rest.auth import ANONYMOUS
from ...rest.problem import ProblemError, translated
from ...rest.service import service_of
from ..rules import Person
from .csp import HEADERS
from .error_pages import ended_stream, error_answer, wants_fragment, wants_stream
from .sessions import RedisSessions, is_token, new_token
from .visit import COOKIE, COOKIE_PATH, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request

Access = Literal["public", "open", "signed-in"]
_ACCESS = "x-access"
_LOOPBACK = ("127.", "localhost", "[::1]")
_log = structlog.get_logger(__name__)


def lets_in(access: Access) -> dict[str, Any]:
    """Return the arguments of a path operation: whom it lets in.

    `public` knows no visitor and sets no cookie; `open` has forms for those who are not signed in.
    """
    return {"openapi_extra": {_ACCESS: access}}


class SignInNeededError(Exception):
    """Nobody is signed in."""


class PageRoute(APIRoute):
    """A route of the page; one that does not say whom it lets in cannot be made."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See APIRoute."""
        handler = super().get_route_handler()
        access: Access = (self.openapi_extra or {})[_ACCESS]

        async def guarded(request: Request) -> Response:
            request.state.visit = Visit(token=new_token(), new=True, person=None)
            try:
                if access != "public":
                    await _admit(request, access)
                response = await handler(request)
            except SignInNeededError:
                response = await _to_sign_in(request)
            except Exception as error:
                problem = _problem(error)
                if problem is None:
                    raise
                response = await error_answer(request, problem)
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            if access != "public":
                _give_cookie(request, response)
            return response

        return guarded


async def _admit(request: Request, access: Access) -> None:
    service = service_of(request)
    cookie = request.cookies.get(COOKIE, "")
    known = is_token(cookie)
    token = cookie if known else new_token()
    person = None
    if service.anonymous:
        _refuse_strange_host(request)
        person = Person.of(ANONYMOUS)
    elif known and access != "open":
        key = await RedisSessions(service.redis).key(token, touch=not wants_stream(request))
        if key is not None:
            person = Person.of(key)
            request.state.visit = Visit(token, new=False, person=person)
            await service.rate_limits.count(key)
    request.state.visit = Visit(token, not known, person, service.anonymous, service.desk.needed)
    if request.method not in {"GET", "HEAD"}:
        await _refuse_foreign_form(request)
    if person is None and access != "open":
        raise SignInNeededError


async def _refuse_foreign_form(request: Request) -> None:
    """Refuse what another site's page has sent in a visitor's name. Raises ProblemError."""
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise ProblemError(403, "foreign", "this form was sent by another site.")
    if site not in {"same-origin", "none"}:
        raise ProblemError(403, "foreign", "this form was sent by another site.")
    given = (await request.form()).get("csrf")
    visit: Visit = request.state.visit
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), visit.csrf.encode()):
        raise ProblemError(
            403, "stale-form", "this form is from an earlier session; please send it once more."
        )


def _refuse_strange_host(request: Request) -> None:
    """Without keys, only this machine may ask: a name that leads here may be another site's."""
    host = request.headers.get("host", "")
    if not host.startswith(_LOOPBACK):
        raise ProblemError(
            403, "wrong-host", "without API keys this page answers at localhost and 127.0.0.1 only."
        )


async def _to_sign_in(request: Request) -> Response:
    if wants_stream(request):
        return ended_stream()
    if request.method == "GET" and not wants_fragment(request):
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/review/sign-in?next={quote(path, safe='')}", 303)
    return await error_answer(
        request, ProblemError(401, "signed-out", "you are signed out. Sign in and send it again.")
    )


def _problem(error: Exception) -> ProblemError | None:
    """Return the problem that stands for an error; None for one that is a bug."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, BenchFillError):
        return translated(error)
    if isinstance(error, RequestValidationError):
        return ProblemError(404, "not-found", "there is nothing at this address.")
    if isinstance(error, HTTPException):
        return ProblemError(error.status_code, "refused", f"{error.detail}.")
    if isinstance(error, RedisError):
        _log.warning("redis did not answer", error=type(error).__name__)
        return ProblemError(503, "store-lost", "the store does not answer; try again soon.")
    return None


def _give_cookie(request: Request, response: Response) -> None:
    visit: Visit = request.state.visit
    if visit.new and COOKIE not in response.headers.get("set-cookie", ""):
        set_cookie(request, response, visit.token)


def set_cookie(request: Request, response: Response, token: str) -> None:
    """Hand the browser a token that no script can read."""
    response.set_cookie(
        COOKIE,
        token,
        path=COOKIE_PATH,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
