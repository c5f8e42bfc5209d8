"""API keys in Redis: only their hashes, so that whoever reads the store cannot use them.

A key reads `bf_ID_SECRET`. The secret is 32 random bytes, so one SHA-256 is enough: there is no
password to guess. It is shown once, when the key is made.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from benchfill.errors import InputError

from .keys import API_KEYS, API_KEYS_REVOKED, API_KEYS_USED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis.asyncio import Redis

Role = Literal["reader", "reviewer", "operator", "admin"]
ROLES: tuple[Role, ...] = ("reader", "reviewer", "operator", "admin")
"""From the fewest rights to all: each role may do what those before it may."""

RATE_PER_MINUTE = 600
_KEY = re.compile(r"bf_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_USED_EVERY = timedelta(minutes=1)  # a write at each request would double its price


class ApiKey(BaseModel):
    """What is known of a key. Times are ISO 8601, UTC."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str = ""
    role: Role
    created_at: str
    rate_per_minute: int = Field(RATE_PER_MINUTE, ge=1, description="requests a minute")
    daily_usd: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="dollars that its fills may spend a day"
    )
    daily_rollouts: int | None = Field(
        None, ge=0, description="rollouts that its fills may use a day"
    )
    last_used_at: str | None = None
    revoked_at: str | None = None

    def may(self, role: Role) -> bool:
        """Whether the key has at least the rights of a role."""
        return ROLES.index(self.role) >= ROLES.index(role)


class RedisApiKeys:
    """All keys of a server."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def create(
        self,
        role: Role,
        *,
        name: str = "",
        rate_per_minute: int = RATE_PER_MINUTE,
        daily_usd: float | None = None,
        daily_rollouts: int | None = None,
    ) -> tuple[ApiKey, SecretStr]:
        """Make a key; return what is kept of it, and the key itself, which is kept nowhere."""
        key = ApiKey(
            id=secrets.token_hex(6),
            name=name,
            role=role,
            created_at=_now(),
            rate_per_minute=rate_per_minute,
            daily_usd=daily_usd,
            daily_rollouts=daily_rollouts,
        )
        secret = secrets.token_urlsafe(32)
        kept = _Kept(key=key, sha256=_hashed(secret)).model_dump_json(exclude_none=True)
        await self._redis.hset(API_KEYS, key.id, kept)
        return key, SecretStr(f"bf_{key.id}_{secret}")

    async def authenticate(self, presented: str) -> ApiKey | None:
        """Return the key that was presented; None for one that is unknown, wrong or revoked."""
        matched = _KEY.fullmatch(presented)
        if matched is None:
            return None
        key_id, secret = matched.groups()
        async with self._redis.pipeline(transaction=False) as pipe:
            for name in (API_KEYS, API_KEYS_USED, API_KEYS_REVOKED):
                pipe.hget(name, key_id)
            kept, used_at, revoked_at = await pipe.execute()
        if kept is None or revoked_at is not None:
            return None
        found = _Kept.model_validate_json(kept)
        if not hmac.compare_digest(found.sha256, _hashed(secret)):
            return None
        now = datetime.now(UTC)
        if used_at is None or now - datetime.fromisoformat(used_at) > _USED_EVERY:
            await self._redis.hset(API_KEYS_USED, key_id, _now())
        return found.key

    async def valid(self, key_id: str) -> ApiKey | None:
        """Return a key by its id; None for one that is unknown or revoked."""
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.hget(API_KEYS, key_id)
            pipe.hget(API_KEYS_REVOKED, key_id)
            kept, revoked_at = await pipe.execute()
        if kept is None or revoked_at is not None:
            return None
        return _Kept.model_validate_json(kept).key

    async def list(self) -> list[ApiKey]:
        """Return all keys, revoked ones too, oldest first."""
        async with self._redis.pipeline(transaction=True) as pipe:
            for name in (API_KEYS, API_KEYS_USED, API_KEYS_REVOKED):
                pipe.hgetall(name)
            replies: Any = await pipe.execute()
        kept, used, revoked = replies
        keys = [
            _Kept.model_validate_json(one).key.model_copy(
                update={"last_used_at": used.get(key_id), "revoked_at": revoked.get(key_id)}
            )
            for key_id, one in kept.items()
        ]
        return sorted(keys, key=lambda key: (key.created_at, key.id))

    async def names(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the names of keys by id; a key without one is named by its id."""
        wanted = sorted(set(ids))
        kept: Any = await self._redis.hmget(API_KEYS, wanted) if wanted else []
        return {
            key_id: (_Kept.model_validate_json(one).key.name or key_id) if one else key_id
            for key_id, one in zip(wanted, kept, strict=True)
        }

    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key: from now on it opens nothing.

        Raises
        ------
        InputError
            There is no such key.
        """
        if not await self._redis.hexists(API_KEYS, key_id):
            raise InputError(f"there is no key {key_id[:20]!r}; see `benchfill keys list`.")
        await self._redis.hsetnx(API_KEYS_REVOKED, key_id, _now())
        return next(key for key in await self.list() if key.id == key_id)

    async def any_valid(self) -> bool:
        """Whether there is a key that opens anything."""
        return any(key.revoked_at is None for key in await self.list())


class _Kept(BaseModel):
    key: ApiKey
    sha256: str


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
