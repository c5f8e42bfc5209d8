"""The way out for a model's calls that are no rollouts: those that write, judge and explain.

They wait in the same lines as rollouts do: calls at a time, calls and tokens a minute, and the
pauses that a provider asks for.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .pace import WRITING, Pace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from .config import PoolModel

    Settle = Callable[[int | None], None]
    """Is told how many tokens a call took; None where the provider did not say."""


@dataclass(frozen=True, eq=False)
class Door:
    """Lets one model's calls out.

    `place` gives a call its place among those that may be out at a time; None is no bound.
    """

    model: PoolModel
    pace: Pace
    place: Callable[[PoolModel], AbstractAsyncContextManager[None]] | None = None

    @classmethod
    def of_its_own(cls, model: PoolModel) -> Door:
        """Return a door that a model shares with nobody, at its own rates."""
        return cls(model, Pace())

    @contextlib.asynccontextmanager
    async def passing(self, prompt_chars: int) -> AsyncIterator[Settle]:
        """Wait until a call may go out; it goes out within, and the tokens are told."""
        model = self.model
        async with self.place(model) if self.place is not None else contextlib.nullcontext():
            # who waits here is cancelled, not stopped
            reserved = await self.pace.wait(model, prompt_chars, asyncio.Event(), use=WRITING)
            yield lambda used: self.pace.settle(model, reserved, used, use=WRITING)

    def pause(self, seconds: float) -> None:
        """Hold back all calls of the model, rollouts too, as a 429 asks."""
        self.pace.pause(self.model, seconds)
