"""What the fills of an API key may use on one day.

A fill is promised its whole budget before it starts; once it rests, only what it has used counts.
So fills that run side by side cannot spend together what none of them may spend alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill.errors import BenchFillError

from ..jobs.record import RESTING
from . import keys
from .usage import today

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from ..jobs.record import FillBudget
    from .api_keys import ApiKey

_KEPT_SECONDS = 3 * 24 * 3600
# KEYS: the day's promises (job -> what it may use, and what it had used before, of each amount).
# ARGV: job, prefixes of jobs and of their usage, statuses at rest (comma on both sides), seconds to
# keep, then for rollouts and for dollars: name in the usage, budget and limit ('' for no limit).
_PROMISE = """
local function used(job)
    local sums = {}
    local kept = redis.call('HGETALL', ARGV[3] .. job)
    for k = 1, #kept, 2 do
        local what = string.match(kept[k], '([a-z_]+)$')
        sums[what] = (sums[what] or 0) + tonumber(kept[k + 1])
    end
    return sums
end
local mine = {}
local before = used(ARGV[1])
local others = {}
local kept = redis.call('HGETALL', KEYS[1])
for k = 1, #kept, 2 do
    local promise = cjson.decode(kept[k + 1])
    if kept[k] == ARGV[1] then
        for name, amounts in pairs(promise) do before[name] = amounts[2] end
    else
        local status = redis.call('HGET', ARGV[2] .. kept[k], 'status') or 'queued'
        local rests = string.find(ARGV[4], ',' .. status .. ',', 1, true)
        local spent = rests and used(kept[k])
        for name, amounts in pairs(promise) do
            local counted = amounts[1]
            if spent then counted = math.max((spent[name] or 0) - amounts[2], 0) end
            others[name] = (others[name] or 0) + counted
        end
    end
end
for a = 6, #ARGV, 3 do
    if ARGV[a + 2] ~= '' then
        local name = ARGV[a]
        local had = before[name] or 0
        local wanted = math.max(tonumber(ARGV[a + 1]) - had, 0)
        local left = tonumber(ARGV[a + 2]) - (others[name] or 0)
        if wanted > left + 1e-9 then return {name, tostring(math.max(left, 0))} end
        mine[name] = {wanted, had}
    end
end
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(mine))
redis.call('EXPIRE', KEYS[1], ARGV[5])
return {}
"""


class DailyBudgetError(BenchFillError):
    """The day's budget of the API key does not hold what the fill may use.

    Parameters
    ----------
    message
        One sentence for the user.
    of
        `rollouts` or `cost`: which budget it is.
    left
        What the day still holds of it.
    """

    def __init__(self, message: str, *, of: str = "", left: float = 0.0) -> None:
        super().__init__(message)
        self.of, self.left = of, left


async def promise(redis: Redis, key: ApiKey, job_id: str, budget: FillBudget) -> None:
    """Take a fill's budget out of the day's; again for the same fill, it takes the former's place.

    Raises
    ------
    DailyBudgetError
        The fill has no budget where the key has one, or the day's rest is less.
    """
    amounts = (
        ("rollouts", budget.rollouts, key.daily_rollouts, "budget.rollouts"),
        ("cost", budget.usd, key.daily_usd, "budget.usd"),
    )
    if all(limit is None for _, _, limit, _ in amounts):
        return
    for _, wanted, limit, field in amounts:
        if limit is not None and wanted is None:
            raise DailyBudgetError(
                f"this API key has a budget of {limit:g} a day; set {field} of the fill."
            )
    said = await redis.register_script(_PROMISE)(
        keys=[keys.daily_promises(key.id, today())],
        args=[
            job_id,
            keys.job(""),
            keys.usage_job(""),
            f",{','.join(sorted(RESTING))},",
            _KEPT_SECONDS,
            *(
                word
                for name, wanted, limit, _ in amounts
                for word in (name, wanted or 0, "" if limit is None else limit)
            ),
        ],
    )
    if said:
        field = next(field for name, _, _, field in amounts if name == said[0])
        raise DailyBudgetError(
            f"{float(said[1]):g} of this API key's daily budget is left; lower {field}, or wait "
            "until midnight UTC.",
            of=str(said[0]),
            left=float(said[1]),
        )


async def take_back(redis: Redis, key: ApiKey, job_id: str) -> None:
    """Give a promise back: the fill was not made after all."""
    await redis.hdel(keys.daily_promises(key.id, today()), job_id)
