"""What model calls took: by job, and by API key and day.

Both are hashes with the fields ``MODEL:rollouts``, ``MODEL:calls`` (of the agents' own),
``MODEL:prompt_tokens``, ``MODEL:completion_tokens``, ``MODEL:cost`` (US dollars) and
``MODEL:unpriced`` (answers whose price is not known) and ``MODEL:retries`` (calls made for the
answers beyond the first).
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from .keys import usage_day, usage_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    Amounts = Mapping[tuple[str, str], float]

_ADD = """
for k = 1, #KEYS do
    for a = 1, #ARGV, 2 do
        redis.call('HINCRBYFLOAT', KEYS[k], ARGV[a], ARGV[a + 1])
    end
end
"""
# KEYS: the hash of answers, the answer's claim, then the hashes to count in. Keeping and counting
# are one, so neither is done twice.
COUNT_ONCE = """
redis.call('DEL', KEYS[2])
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
for k = 3, #KEYS do
    for a = 3, #ARGV, 2 do
        redis.call('HINCRBYFLOAT', KEYS[k], ARGV[a], ARGV[a + 1])
    end
end
return 1
"""


class ModelUsage(BaseModel):
    """What one model took."""

    model_config = ConfigDict(frozen=True)

    model: str
    rollouts: int = Field(0, description="answers to items; those the ledger had are free")
    calls: int = Field(0, description="replies to agents, who write and judge items")
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = Field(0.0, description="US dollars, by litellm's prices")
    unpriced: int = Field(0, description="answers whose price is not known; they count as free")
    retries: int = Field(0, description="calls for those answers beyond the first")


class RedisUsage:
    """Counts what one job takes; a `Spent` for its allowance."""

    def __init__(self, redis: Redis, job: str, api_key: str) -> None:
        self._redis = redis
        self._job, self._api_key = job, api_key
        self._add = redis.register_script(_ADD)
        self.tokens, self.usd = 0, 0.0
        self._noted: set[asyncio.Task[None]] = set()

    @property
    def hashes(self) -> list[str]:
        """Where it is counted, today."""
        return [usage_job(self._job), usage_day(self._api_key, today())]

    async def load(self) -> None:
        """Take over what the job has taken before."""
        used = await read_usage(self._redis, usage_job(self._job))
        self.tokens = sum(one.prompt_tokens + one.completion_tokens for one in used)
        self.usd = sum(one.cost for one in used)

    def note_call(
        self, model: str, prompt_tokens: int, completion_tokens: int, cost: float | None
    ) -> None:
        """Count a call of an agent, which the ledger does not keep; `settle` waits for it."""
        amounts = _amounts(model, "calls", prompt_tokens, completion_tokens, cost)
        self.note(amounts)
        self._noted.add(asyncio.create_task(self._keep(amounts)))

    async def settle(self) -> None:
        """Wait until all noted calls are counted in Redis."""
        noted, self._noted = self._noted, set()
        await asyncio.gather(*noted)

    async def _keep(self, amounts: Amounts) -> None:
        await self._add(keys=self.hashes, args=fields(amounts))

    def note(self, amounts: Amounts) -> None:
        """Add to this job's own sums."""
        for (_, what), amount in amounts.items():
            if what in {"prompt_tokens", "completion_tokens"}:
                self.tokens += int(amount)
            elif what == "cost":
                self.usd += amount


def rollout_amounts(rollout: Mapping[str, Any]) -> Amounts:
    """Return what an answer took, from its record in the ledger."""
    model = rollout["model_name"]
    amounts = _amounts(
        model,
        "calls" if rollout.get("purpose") == "write" else "rollouts",
        rollout.get("prompt_tokens") or 0,
        rollout.get("completion_tokens") or 0,
        rollout.get("cost"),
    )
    return {**amounts, (model, "retries"): rollout.get("attempts", 1) - 1}


def fields(amounts: Amounts) -> list[str]:
    """Return names and amounts as a script takes them."""
    return [
        word
        for (model, what), amount in amounts.items()
        if amount
        for word in (f"{model}:{what}", repr(amount))
    ]


async def read_usage(redis: Redis, name: str) -> tuple[ModelUsage, ...]:
    """Return what stands in one of the hashes, by model name."""
    kept: Any = await redis.hgetall(name)
    models: dict[str, dict[str, Any]] = {}
    for key, amount in kept.items():
        model, _, what = key.rpartition(":")
        value = float(amount)
        models.setdefault(model, {})[what] = value if what == "cost" else round(value)
    return tuple(ModelUsage(model=model, **models[model]) for model in sorted(models))


def today() -> str:
    """Return the day, UTC, by which budgets are counted."""
    return datetime.now(UTC).date().isoformat()


def _amounts(
    model: str, kind: str, prompt_tokens: int, completion_tokens: int, cost: float | None
) -> Amounts:
    return {
        (model, kind): 1,
        (model, "prompt_tokens"): prompt_tokens,
        (model, "completion_tokens"): completion_tokens,
        (model, "cost"): cost or 0.0,
        (model, "unpriced"): int(cost is None),
    }
