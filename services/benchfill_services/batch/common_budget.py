"""A budget of all jobs together: each job's allowance also asks what the others have used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchfill.errors import BudgetExhaustedError
from benchfill_agents.spending import Allowance

if TYPE_CHECKING:
    from ..fill_request import FillRequest
    from ..jobs.record import FillBudget
    from ..store.usage import RedisUsage


@dataclass(eq=False)
class CommonBudget:
    """What all jobs may use. It counts what earlier runs of the same jobs bought, too."""

    limit: FillBudget
    _shares: dict[str, Share] = field(default_factory=dict)

    def share(
        self, name: str, usage: RedisUsage, *, used_before: int, request: FillRequest
    ) -> Share:
        """Give a job its allowance; `used_before` are the rollouts of its earlier runs."""
        share = Share(
            request.budget_rollouts,
            request.budget_tokens,
            request.budget_usd,
            usage,
            common=self,
            usage=usage,
            used_before=used_before,
        )
        self._shares[name] = share
        return share

    def of(self, name: str) -> Share:
        """Return the allowance of a job."""
        return self._shares[name]

    def check(self, count: int, asking: Share) -> None:
        """Raise BudgetExhaustedError when `count` rollouts more are not to be had."""
        if self.limit.rollouts is not None:
            # a resumed job counts its recorded rounds again before it buys: not twice here
            used = sum(one.counted for one in self._shares.values())
            more = max(asking.used + count, asking.counted) - asking.counted
            if used + more > self.limit.rollouts:
                raise BudgetExhaustedError(
                    f"the jobs of the batch have used {used} rollouts and the next {count} would "
                    f"exceed their budget of {self.limit.rollouts}; raise it to go on."
                )
        tokens = sum(one.spent.tokens for one in self._shares.values())
        if self.limit.tokens is not None and tokens >= self.limit.tokens:
            raise BudgetExhaustedError(
                f"the jobs of the batch have used {tokens} tokens of {self.limit.tokens}; raise "
                "the budget to go on."
            )
        usd = sum(one.spent.usd for one in self._shares.values())
        if self.limit.usd is not None and usd >= self.limit.usd:
            raise BudgetExhaustedError(
                f"the jobs of the batch have used {usd:.2f} US dollars of {self.limit.usd:g}; "
                "raise the budget to go on."
            )


@dataclass(kw_only=True)
class Share(Allowance):
    """The allowance of one job, within its own budget and that of all."""

    common: CommonBudget
    usage: RedisUsage
    used_before: int = 0

    @property
    def counted(self) -> int:
        """Rollouts of this job that the common budget counts."""
        return max(self.used, self.used_before)

    def take(self, count: int) -> None:
        """See `Allowance.take`."""
        self.common.check(count, self)
        super().take(count)

    def check(self) -> None:
        """See `Allowance.check`."""
        self.common.check(0, self)
        super().check()
