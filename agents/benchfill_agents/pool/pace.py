"""How fast a pool is asked: calls and tokens a minute, and the pauses that providers ask for.

docs/decisions/012 says why this is not litellm's Router. The rates count the calls of one process;
who runs several divides them.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limits import RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from .together import identity, levelled

if TYPE_CHECKING:
    from .config import Pool, PoolModel
    from .together import Identity

ROLLOUT, WRITING = "rollout", "writing"
"""What a call is for: an answer to an item, or an item and a judgement."""
_MINUTE = 60  # seconds
_TOKEN_UNITS = 1000  # a window holds an entry a unit, however many tokens a minute allows
_GUESSED_REPLY = 256  # tokens, before the first reply of a model that has no limit
_CHARS_PER_TOKEN = 4
_SHORTEST = 0.01  # seconds


@dataclass
class _Line:
    """Where the calls of one model, or of all that share a key, wait one behind another."""

    name: str
    rpm: int | None
    tpm: int | None
    free_at: float = 0.0  # time.monotonic()
    debt: int = 0  # tokens used beyond those reserved; negative when fewer were
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Pace:
    """Lets calls through as the rates of pools allow, and none during a pause.

    The calls of all pools are counted together, by `levelled` rates. Without a pool each model has
    its own rates, and none are shared. `window` is the number of seconds over which tokens are
    counted.
    """

    def __init__(self, *pools: Pool, window: int = _MINUTE) -> None:
        self._window = window
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._own: dict[Identity, _Line] = {}
        self._shared: dict[str, _Line] = {}
        for pool in levelled(pools):
            for key, rate in pool.rates.items():
                self._shared.setdefault(key, _Line(f"key {key}", rate.rpm, rate.tpm))
            for model in pool.who_may_judge:
                self._line_of(model)
        # tokens and number of replies, by model and use
        self._replies: dict[tuple[Identity, str], tuple[int, int]] = {}

    async def wait(
        self, model: PoolModel, prompt_chars: int, stopping: asyncio.Event, *, use: str = ROLLOUT
    ) -> int:
        """Wait until a call may go out, or the run is stopping; returns the tokens reserved.

        Calls of one use are taken to need what those before them did: writing an item takes more
        than answering one.
        """
        tokens = self._expected(model, prompt_chars, use)
        lines = self._lines_of(model)
        for line in lines:
            async with line.turn:
                await _sit_out(line, stopping)
                await self._reserve(line, tokens, stopping)
        for line in lines:  # a pause may have begun while this call waited
            await _sit_out(line, stopping)
        return tokens

    def settle(
        self, model: PoolModel, reserved: int, used: int | None, *, use: str = ROLLOUT
    ) -> None:
        """Say how many tokens a call took; None where the provider did not tell."""
        if used is None:
            return
        total, replies = self._replies.get((identity(model), use), (0, 0))
        self._replies[identity(model), use] = total + used, replies + 1
        for line in self._lines_of(model):
            line.debt += used - reserved

    def pause(self, model: PoolModel, seconds: float) -> None:
        """Hold back the calls of a model, and of those that share its rate, as a 429 asks."""
        until = time.monotonic() + seconds
        for line in self._lines_of(model):
            line.free_at = max(line.free_at, until)

    def _lines_of(self, model: PoolModel) -> list[_Line]:
        keys = (model.api_key_env, model.api_base)
        shared = [self._shared[key] for key in keys if key is not None and key in self._shared]
        return [*shared, self._line_of(model)]

    def _line_of(self, model: PoolModel) -> _Line:
        name = identity(model)
        if name not in self._own:
            self._own[name] = _Line(f"model {name}", model.rpm, model.tpm)
        return self._own[name]

    def _expected(self, model: PoolModel, prompt_chars: int, use: str) -> int:
        """Tokens of a call: those of the replies so far, else of prompt and limit."""
        total, replies = self._replies.get((identity(model), use), (0, 0))
        if replies:
            return math.ceil(total / replies)
        reply = model.parameters.token_limit or _GUESSED_REPLY
        return math.ceil(prompt_chars / _CHARS_PER_TOKEN) + reply

    async def _reserve(self, line: _Line, tokens: int, stopping: asyncio.Event) -> None:
        if line.tpm is not None:
            owed = tokens + line.debt
            line.debt = min(owed, 0)
            unit = math.ceil(line.tpm / _TOKEN_UNITS)
            limit = RateLimitItemPerSecond(max(1, line.tpm // unit), self._window)
            cost = min(math.ceil(max(owed, 0) / unit), limit.amount)
            await self._hit(limit, (line.name, "tpm"), cost, stopping)
        if line.rpm is not None:
            # 600 a minute are 10 a second: providers count in windows shorter than a minute
            parts = math.gcd(line.rpm, _MINUTE)
            limit = RateLimitItemPerSecond(line.rpm // parts, _MINUTE // parts)
            await self._hit(limit, (line.name, "rpm"), 1, stopping)

    async def _hit(
        self,
        limit: RateLimitItemPerSecond,
        name: tuple[str, str],
        cost: int,
        stopping: asyncio.Event,
    ) -> None:
        while cost and not stopping.is_set():
            if await self._limiter.hit(limit, *name, cost=cost):
                return
            window = await self._limiter.get_window_stats(limit, *name)
            await _rest(max(window.reset_time - time.time(), _SHORTEST), stopping)


async def _sit_out(line: _Line, stopping: asyncio.Event) -> None:
    while (left := line.free_at - time.monotonic()) > 0 and not stopping.is_set():
        await _rest(left, stopping)


async def _rest(seconds: float, stopping: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), timeout=seconds)
