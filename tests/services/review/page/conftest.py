"""The page over real HTTP, and people at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill_services.review.desk import ReviewDesk
from support.rest_service import RestService, serving, settings_of
from support.review_cases import make_case, make_person
from support.review_visitor import Visitor
from support.review_world import open_case

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill_services.review.case import Case
    from benchfill_services.review.rules import Person

    MakeVisitor = Callable[..., Visitor]


@pytest.fixture(scope="session")
def service(valkey_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """One service for all tests: it keeps nothing that `valkey` does not empty."""
    with serving(settings_of(valkey_socket, tmp_path_factory.mktemp("page"))) as started:
        yield started


@pytest.fixture
async def people(valkey: Redis) -> dict[str, tuple[Person, str]]:
    roles = {"Ada": "reviewer", "Bob": "reviewer", "Olu": "operator", "Rea": "reader"}
    return {name: await make_person(valkey, name, role) for name, role in roles.items()}


@pytest.fixture
def desk(valkey: Redis) -> ReviewDesk:
    return ReviewDesk(valkey)


@pytest.fixture
async def case(valkey: Redis) -> Case:
    return await open_case(valkey, make_case())


@pytest.fixture
async def visitor(
    service: RestService, people: dict[str, tuple[Person, str]]
) -> AsyncIterator[MakeVisitor]:
    """Sign people in by name; without one it is a stranger."""
    made: list[Visitor] = []

    def make(name: str | None = None, *, base: str = service.base, key: str = "") -> Visitor:
        made.append(Visitor(base, people[name][1] if name else key or None))
        return made[-1]

    yield make
    for one in made:
        one.close()
