"""A common budget dealt out to jobs that work apart: each gets a share, and what it leaves returns.

Workers know only a job's own budget. So a job is first given an equal share of what nobody holds;
a job that used less gives the rest back, and one that ran out is given more and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..jobs.record import FillBudget

if TYPE_CHECKING:
    from collections.abc import Iterable

AMOUNTS = ("rollouts", "tokens", "usd")
_LEAST = 0.02  # of the whole budget: less is not worth taking a job up again for
_WHOLE = ("rollouts", "tokens")  # there are no parts of one


@dataclass
class _Held:
    own: FillBudget
    grant: FillBudget | None = None
    used: dict[str, float] = field(default_factory=lambda: dict.fromkeys(AMOUNTS, 0.0))
    rests: bool = True


class Grants:
    """Deals a budget out to jobs by name.

    Parameters
    ----------
    total
        Of all jobs together; None bounds nothing.
    own
        Each job's own budget, which no grant exceeds.
    """

    def __init__(self, total: FillBudget, own: dict[str, FillBudget]) -> None:
        self._total = total
        self._jobs = {name: _Held(budget) for name, budget in own.items()}

    def note_used(self, name: str, used: dict[str, float]) -> None:
        """Note what a job has used in all its runs; it rests, so the remainder is free."""
        job = self._jobs[name]
        job.used, job.rests = used, True

    def hold(self, name: str, grant: FillBudget) -> None:
        """Note that a job is at work with what an earlier run gave it."""
        job = self._jobs[name]
        job.grant, job.rests = grant, False

    def grant(self, name: str, waiting: Iterable[str]) -> FillBudget:
        """Give a job an equal share of what is free among those that wait, itself included."""
        job, count = self._jobs[name], len({name, *waiting})
        amounts = {amount: self._amount(amount, job, count) for amount in AMOUNTS}
        job.grant, job.rests = _budget(amounts), False
        return job.grant

    def is_short(self, name: str) -> bool:
        """Whether a job that ran out was given less than its own budget allows."""
        job = self._jobs[name]
        given = job.grant or job.own
        limits = ((amount, getattr(given, amount)) for amount in AMOUNTS)
        return any(
            limit is not None and limit < self._wanted(amount, job) for amount, limit in limits
        )

    def may_have_more(self, name: str, waiting: Iterable[str]) -> bool:
        """Whether a job that ran out would be given enough to go on with."""
        job, count = self._jobs[name], len({name, *waiting})
        given = job.grant
        if given is None:
            return True
        for amount in AMOUNTS:
            limit, total = getattr(given, amount), getattr(self._total, amount)
            if limit is None or total is None:
                continue
            all_of_it = self._amount(amount, job, count) or 0.0
            smallest = 1.0 if amount in _WHOLE else 1e-9
            wanted = self._wanted(amount, job)
            least = smallest if all_of_it >= wanted else max(_LEAST * total, smallest)
            if limit < wanted and all_of_it - limit >= least:
                return True
        return False

    def _amount(self, amount: str, job: _Held, count: int) -> float | None:
        total, own = getattr(self._total, amount), getattr(job.own, amount)
        if total is None:
            return None if own is None else float(own)
        share = job.used[amount] + max(self._free(amount), 0.0) / count
        return share if own is None else min(share, float(own))

    def _free(self, amount: str) -> float:
        """Return what is neither used nor in the hands of a job at work."""
        held = sum(
            job.used[amount]
            if job.rests or job.grant is None
            else max(getattr(job.grant, amount) or 0.0, job.used[amount])
            for job in self._jobs.values()
        )
        return float(getattr(self._total, amount)) - held

    def _wanted(self, amount: str, job: _Held) -> float:
        own = getattr(job.own, amount)
        return float("inf") if own is None else float(own)


def _budget(amounts: dict[str, float | None]) -> FillBudget:
    rollouts, tokens, usd = (amounts[name] for name in AMOUNTS)
    return FillBudget(
        rollouts=None if rollouts is None else int(rollouts),
        tokens=None if tokens is None else int(tokens),
        usd=usd,
    )
