"""Who is at the desk, and which candidate they mean."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from benchfill.errors import InputError

from ..review.desk import ReviewDesk
from ..review.page.invisible import visible
from ..review.rules import Person
from ..settings import Settings
from ..store.api_keys import RedisApiKeys
from ..store.connection import connect
from ..store.reviews import UnknownCaseError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from redis.asyncio import Redis

T = TypeVar("T")
KEY = "BENCHFILL_API_KEY"
_LEAST = 4  # characters of an id
_SHORT = 8
_LONGEST_NAME = 64


@dataclass(frozen=True)
class Session:
    """A person at the desk of an open store."""

    redis: Redis
    desk: ReviewDesk
    person: Person

    async def candidate(self, given: str) -> str:
        """Return the id of the candidate that begins so.

        Raises
        ------
        InputError
            Too short, or the beginning of several.
        UnknownCaseError
            There is none.
        """
        return meant(given, await self.desk.reviews.ids())


def at_desk(name: str | None, work: Callable[[Session], Awaitable[T]]) -> T:
    """Open the store, find out who asks, and do the work.

    No agent can be asked from here: they are a worker's, and this process ends at once.
    """
    settings = Settings()

    async def opened() -> T:
        url = settings.redis_url.get_secret_value() if settings.redis_url else None
        async with connect(url, settings.data_dir) as redis:
            person = await person_at(redis, settings, name)
            desk = ReviewDesk(redis, needed=settings.reviews_needed)
            return await work(Session(redis, desk, person))

    return asyncio.run(opened())


async def person_at(redis: Redis, settings: Settings, name: str | None) -> Person:
    """Return whoever the API key stands for or, in a store without keys, who they say they are.

    Raises
    ------
    InputError
        The key is wrong, or is missing where there are keys.
    """
    store = RedisApiKeys(redis)
    if settings.api_key is not None:
        if name is not None:
            raise InputError(f"{KEY} says who you are already; leave it out.", field="--as")
        key = await store.authenticate(settings.api_key.get_secret_value())
        if key is None:
            raise InputError("is unknown or revoked; ask for another one.", source=KEY)
        return Person.of(key)
    if await store.list():
        raise InputError(
            "this store has API keys, so put yours into it (`benchfill keys create` makes one)"
            f"{'; --as goes without' if name is not None else ''}.",
            source=KEY,
        )
    if name is None:
        raise InputError("say who you are, such as --as ada.", field="--as")
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError(f"give a name of 1 to {_LONGEST_NAME} printable characters.", field="--as")
    return Person(f"local:{name.strip()}", name.strip(), "operator")


def meant(given: str, ids: Iterable[str]) -> str:
    """Return the id that begins so, or whose last part, the hash of the item, does."""
    shown = visible(given[:80])
    if len(given) < _LEAST:
        raise InputError(
            f"{shown!r} is too short; give {_LEAST} characters or more of the candidate's id.",
            field="CANDIDATE",
        )
    found = [one for one in ids if one.startswith(given) or _item(one).startswith(given)]
    if given in found:
        return given
    if not found:
        raise UnknownCaseError(
            f"no candidate under review has an id that begins with {shown}; see `benchfill review "
            "list`."
        )
    if len(found) > 1:
        raise InputError(
            f"{len(found)} candidates' ids begin with {shown}; give more of it.",
            field="CANDIDATE",
        )
    return found[0]


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Return a short form of each id that means no other; the whole id where there is none."""
    everything = list(ids)
    taken = Counter(_item(one)[:_SHORT] for one in everything)
    taken.update({one[:_SHORT] for one in everything})
    return {
        one: _item(one)[:_SHORT] if taken[_item(one)[:_SHORT]] == 1 else one for one in everything
    }


def _item(candidate: str) -> str:
    return candidate.rpartition(".")[2]
