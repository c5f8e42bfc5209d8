"""Sessions of reviewers in Redis: what the cookie holds is kept nowhere but in the browser."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ...store.api_keys import RedisApiKeys
from ...store.keys import review_session

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from ...store.api_keys import ApiKey

LONGEST_SECONDS = 12 * 3600
IDLE_SECONDS = 2 * 3600
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class _Session(BaseModel):
    model_config = ConfigDict(frozen=True)

    key: str
    began: float


def new_token() -> str:
    """Return 32 random bytes: nobody guesses them."""
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Whether a cookie can be one of ours."""
    return _TOKEN.fullmatch(text) is not None


def csrf_token(token: str) -> str:
    """Return what forms send back; it comes from the cookie, which other sites cannot read."""
    return hmac.new(token.encode(), b"benchfill form", hashlib.sha256).hexdigest()


class RedisSessions:
    """Who is signed in."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._keys = RedisApiKeys(redis)

    async def begin(self, key: ApiKey) -> str:
        """Begin a session and return its token."""
        token = new_token()
        kept = _Session(key=key.id, began=time.time()).model_dump_json()
        await self._redis.set(_name(token), kept, ex=IDLE_SECONDS)
        return token

    async def key(self, token: str, *, touch: bool = True) -> ApiKey | None:
        """Return the key of a session; None when it has ended or the key was revoked.

        `touch` notes that somebody is there, which puts off the end of an idle session.
        """
        kept = await self._redis.get(_name(token))
        if kept is None:
            return None
        session = _Session.model_validate_json(kept)
        left = session.began + LONGEST_SECONDS - time.time()
        key = await self._keys.valid(session.key)
        if left <= 0 or key is None:
            await self.end(token)
            return None
        if touch:
            await self._redis.expire(_name(token), max(1, int(min(left, IDLE_SECONDS))))
        return key

    async def end(self, token: str) -> None:
        """End a session."""
        await self._redis.delete(_name(token))


def _name(token: str) -> str:
    return review_session(hashlib.sha256(token.encode()).hexdigest())
