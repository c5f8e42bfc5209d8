"""Who asks, and whether they may: bearer keys and their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from ..store.api_keys import ApiKey
from .problem import ProblemError
from .service import service_of

if TYPE_CHECKING:
    from ..store.api_keys import Role

bearer = HTTPBearer(
    auto_error=False, scheme_name="api_key", description="a key of `benchfill keys create`"
)
ANONYMOUS = ApiKey(id="anonymous", role="admin", created_at="1970-01-01T00:00:00+00:00")
_CHALLENGE = 'Bearer realm="benchfill"'


async def authorise(request: Request, role: Role) -> None:
    """Let a request pass, or refuse it before its body is read.

    Raises
    ------
    ProblemError
        401 without a valid key, 403 when its role has not this right, 429 when it asks too often.
    """
    service = service_of(request)
    if service.anonymous:
        request.state.caller = ANONYMOUS
        return
    given = await bearer(request)
    if given is None:
        raise ProblemError(
            401,
            "no-key",
            "this needs an API key: Authorization: Bearer bf_...",
            headers={"WWW-Authenticate": _CHALLENGE},
        )
    key = await service.api_keys.authenticate(given.credentials)
    if key is None:
        raise ProblemError(
            401,
            "wrong-key",
            "this API key is unknown or revoked.",
            headers={"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'},
        )
    if not key.may(role):
        raise ProblemError(
            403, "wrong-role", f"this needs the role {role} or higher; the API key has {key.role}."
        )
    await service.rate_limits.count(key)
    request.state.caller = key


def _caller(request: Request) -> ApiKey:
    key: ApiKey = request.state.caller
    return key


Caller = Annotated[ApiKey, Depends(_caller)]
"""The key of whoever asks."""
