"""Fixtures that tests of several parts share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def scripted_server() -> Iterator[ScriptedServer]:
    """A provider that follows a script, over real HTTP."""
    with ScriptedServer() as server:
        yield server
