"""Whose turn it is: so many jobs work at a time, and each goes to the end of the line in time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Turns:
    """A line of jobs for `at_once` places, first come first served.

    A job that begins its next gap gives its place to the one that has waited longest and goes to
    the end of the line. So every job has filled a gap before any has filled two, as far as there
    are places, and none waits longer than for one gap of each job before it.
    """

    def __init__(self, at_once: int) -> None:
        # asyncio's semaphore wakes those who wait in their order
        self._places = asyncio.Semaphore(at_once)

    async def take(self) -> None:
        """Wait in the line for a place."""
        await self._places.acquire()

    def give(self) -> None:
        """Give the place back."""
        self._places.release()


class Turn:
    """One job's place; a context manager. `permit` is awaited before each batch of rollouts."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._holds = False
        self._over = False
        self._gap: str | None = None
        self._changing = asyncio.Lock()

    async def __aenter__(self) -> Turn:
        await self._turns.take()
        self._holds = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._give()

    def begins(self, gap: str) -> None:
        """Note the gap that is worked on; with another one than before the turn is over."""
        self._over = self._over or self._gap not in {None, gap}
        self._gap = gap

    async def permit(self) -> None:
        """Go on while the turn lasts, else wait for the next one."""
        if not self._over:
            return
        async with self._changing:  # in case a job asks for several batches at once
            if self._over:
                self._give()
                await self._turns.take()
                self._holds, self._over = True, False

    def _give(self) -> None:
        if self._holds:
            self._holds = False
            self._turns.give()
