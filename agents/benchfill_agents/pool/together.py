"""Pools that are asked at the same time: what bounds one bounds all that ask in the same place.

Two pools ask in the same place where they name the same model (name, id and address), the same
address, or the same variable of a key. The smallest limit and the smallest rate hold there.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from .config import LOCAL, Rate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from .config import Pool, PoolModel

LOCAL_SLOTS = 12
"""Calls at a time that a local server takes where the pool does not say."""
Identity = tuple[str, str, str]


def identity(model: PoolModel) -> Identity:
    """Return what makes models of two pools one: name, id and address."""
    return model.name, model.litellm_id, model.api_base or ""


def places(pool: Pool) -> set[Identity | str]:
    """Return the models, bounded addresses and keys of a pool: who has one in common shares it."""
    return {identity(model) for model in pool.who_may_judge} | {*pool.limits} | {*pool.rates}


def levelled(pools: Iterable[Pool]) -> tuple[Pool, ...]:
    """Return the pools, each with the smallest limits and rates of all in the places it asks."""
    pools = tuple(pools)
    calls: dict[Identity, int | None] = {}
    own: dict[Identity, Rate] = {}
    limits: dict[str, int | None] = {}
    rates: dict[str, Rate] = {}
    for pool in pools:
        for model in pool.who_may_judge:
            name, rate = identity(model), Rate(rpm=model.rpm, tpm=model.tpm)
            calls[name] = _smaller(calls.get(name), model.max_concurrency)
            own[name] = _lower(own.get(name), rate)
        for base, limit in _limits(pool).items():
            limits[base] = _smaller(limits.get(base), limit)
        for key, rate in pool.rates.items():
            rates[key] = _lower(rates.get(key), rate)
    return tuple(_bounded(pool, calls, own, limits, rates) for pool in pools)


def _limits(pool: Pool) -> dict[str, int]:
    return ({LOCAL: LOCAL_SLOTS} if pool.needs_local_server else {}) | pool.limits


def _bounded(
    pool: Pool,
    calls: dict[Identity, int | None],
    own: dict[Identity, Rate],
    limits: dict[str, int | None],
    rates: dict[str, Rate],
) -> Pool:
    def bounded(model: PoolModel) -> PoolModel:
        name = identity(model)
        return model.model_copy(
            update={"max_concurrency": calls[name], **own[name].model_dump()},
        )

    bases = {model.api_base for model in pool.who_may_judge}
    keys = bases | {model.api_key_env for model in pool.who_may_judge}
    return pool.model_copy(
        update={
            "models": tuple(bounded(model) for model in pool.models),
            "judges": tuple(bounded(model) for model in pool.judges),
            "limits": {base: limit for base, limit in limits.items() if base in bases},
            "rates": {key: rate for key, rate in rates.items() if key in keys},
        }
    )


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _lower(one: Rate | None, other: Rate) -> Rate:
    if one is None:
        return other
    return Rate(rpm=_smaller(one.rpm, other.rpm), tpm=_smaller(one.tpm, other.tpm))


class CallLimits:
    """How many calls may be out at a time, by model and by address, of all that share this.

    Whoever has waited longest goes first, so that the calls of those who share it alternate.
    """

    def __init__(self, *pools: Pool) -> None:
        self._by_model: dict[Identity, asyncio.Semaphore] = {}
        bases: dict[str, int] = {}
        for pool in levelled(pools):
            bases |= pool.limits
            for model in pool.who_may_judge:
                self._line_of(model)
        self.local_slots = bases.get(LOCAL, LOCAL_SLOTS)
        """Calls at a time that a local server has to take."""
        self._by_base = {base: asyncio.Semaphore(limit) for base, limit in bases.items()}

    @contextlib.asynccontextmanager
    async def place(self, model: PoolModel) -> AsyncIterator[None]:
        """Wait for a place for a call to a model, and hold it."""
        shared = self._by_base.get(model.api_base or "")
        async with self._line_of(model), shared or contextlib.nullcontext():
            yield

    def _line_of(self, model: PoolModel) -> asyncio.Semaphore:
        name = identity(model)
        if name not in self._by_model:
            self._by_model[name] = asyncio.Semaphore(model.max_concurrency)
        return self._by_model[name]
