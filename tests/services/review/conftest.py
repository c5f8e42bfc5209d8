"""A fill whose candidates are under review, and whose agents can be asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from support.asked_world import Office, filled, open_office
from support.job_world import JobWorld, job_world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[JobWorld, str]]:
    with job_world(tmp_path_factory.mktemp("asked")) as made:
        yield made, asyncio.run(filled(made))


@pytest.fixture
async def office(asked: tuple[JobWorld, str]) -> AsyncIterator[Office]:
    async with open_office(*asked) as opened:
        yield opened
