"""What a job may spend, and what it has: rollouts, tokens, US dollars."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from benchfill.errors import BudgetExhaustedError


class Spent(Protocol):
    """What a job has paid for so far, all models together."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        ...

    @property
    def usd(self) -> float:
        """US dollars, of the calls whose price is known."""
        ...


@dataclass
class Counted:
    """A `Spent` that is counted in this process."""

    tokens: int = 0
    usd: float = 0.0


@dataclass
class Allowance:
    """What a job may still use. Rollouts count whether they are bought or come from the ledger.

    A rollout budget is never exceeded. Tokens and dollars are known only once they are spent, so
    they stop the job before the first batch that begins with the budget used up.
    """

    rollouts: int | None = None
    tokens: int | None = None
    usd: float | None = None
    spent: Spent = field(default_factory=Counted)
    used: int = 0

    def take(self, count: int) -> None:
        """Count rollouts before they are asked for.

        Raises
        ------
        BudgetExhaustedError
            They would exceed the rollouts, or tokens or dollars are spent.
        """
        if self.rollouts is not None and self.used + count > self.rollouts:
            raise BudgetExhaustedError(
                f"{self.used} rollouts are used and the next {count} would exceed the budget of "
                f"{self.rollouts}; everything measured is kept, raise the rollout budget to go on."
            )
        self.check()
        self.used += count

    def check(self) -> None:
        """Raise BudgetExhaustedError when tokens or dollars are spent."""
        if self.tokens is not None and self.spent.tokens >= self.tokens:
            raise BudgetExhaustedError(
                f"{self.spent.tokens} tokens are spent of {self.tokens}; everything measured is "
                "kept, raise the token budget to go on."
            )
        if self.usd is not None and self.spent.usd >= self.usd:
            raise BudgetExhaustedError(
                f"{self.spent.usd:.2f} US dollars are spent of {self.usd:g}; everything measured "
                "is kept, raise the dollar budget to go on."
            )
