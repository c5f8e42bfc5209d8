"""What an expansion does next: which gaps it tries, or why it stops."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill_agents.target import targets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.diagnosis import Diagnosis
    from benchfill_agents.target import FillTarget

    from ..jobs.record import FillBudget
    from .record import Round, Spent, StopReason

_TRIES_AFTER_REJECTION = 3
_MOST = 1000  # gaps of a benchmark that are looked at


@dataclass(frozen=True)
class Wanted:
    """How far the benchmark is to grow."""

    items: int
    max_gap: float
    gaps_per_round: int


@dataclass(frozen=True)
class Stop:
    """That nothing more is done, and why."""

    reason: StopReason
    why: str


def next_targets(
    diagnosis: Diagnosis, wanted: Wanted, rounds: Sequence[Round]
) -> tuple[FillTarget, ...] | Stop:
    """Return the widest empty gaps that are worth a try, or why there is none.

    A gap between the same two items is tried once; again, twice at most, if experts rejected what
    was found for it.
    """
    if diagnosis.items >= wanted.items:
        return Stop("size", f"the benchmark has the {wanted.items:,} items that were asked for.")
    empty = targets_of(diagnosis, max_gaps=_MOST, include_unresolved=False)
    wide = [one for one in empty if one.width > wanted.max_gap]
    if not wide:
        return _no_gap(diagnosis, wanted, bool(empty))
    tries = [gap for one in rounds for gap in one.gaps if gap.outcome != "budget_exhausted"]
    rejected = Counter(one.borders for one in tries if one.outcome == "rejected")
    given_up = {one.borders: one.outcome for one in tries if one.outcome != "rejected"}
    open_gaps = [
        one
        for one in wide
        if (one.left_item, one.right_item) not in given_up
        and rejected[one.left_item, one.right_item] < _TRIES_AFTER_REJECTION
    ]
    if not open_gaps:
        reasons = Counter(given_up.get((one.left_item, one.right_item), "rejected") for one in wide)
        return Stop("unfillable", _unfillable(len(wide), reasons))
    count = min(wanted.gaps_per_round, wanted.items - diagnosis.items)
    chosen = open_gaps[:count]
    return tuple(
        one.model_copy(update={"id": f"gap-{number}"}) for number, one in enumerate(chosen, 1)
    )


def _no_gap(diagnosis: Diagnosis, wanted: Wanted, any_empty: bool) -> Stop:
    left = f"{diagnosis.items:,} of the {wanted.items:,} items that were asked for"
    if any_empty:
        return Stop("narrow", f"no empty gap is wider than {wanted.max_gap:g}; {left}.")
    if diagnosis.gaps:
        return Stop(
            "no_gap",
            f"no gap is surely empty any more: those left may hold items, and only more answers "
            f"can tell ({left}).",
        )
    return Stop("no_gap", f"there is no gap any more ({left}).")


_WORDS = {
    "resolution_limited": "the borders of {} are too uncertain to place an item between them",
    "not_found": "for {} no item was found that surely lies inside",
    "rejected": "for {} experts rejected what was found",
    "left_out": "for {} the item that was found could not enter",
    "entered": "{} stayed between the same two items after an item had entered",
}


def _unfillable(count: int, reasons: Counter[str]) -> str:
    parts = "; ".join(_WORDS[name].format(number) for name, number in sorted(reasons.items()))
    gaps = "one empty gap is" if count == 1 else f"{count:,} empty gaps are"
    return f"{gaps} left, and none of them can be filled: {parts}."


def left_of(budget: FillBudget, spent: Spent) -> FillBudget:
    """Return what is left of a budget."""
    return budget.model_copy(
        update={
            name: None if limit is None else max(limit - getattr(spent, name), 0)
            for name in ("rollouts", "tokens", "usd")
            for limit in (getattr(budget, name),)
        }
    )


def is_spent(budget: FillBudget, spent: Spent) -> bool:
    """Whether one of the amounts is used up."""
    left = left_of(budget, spent)
    return any(one is not None and one <= 0 for one in (left.rollouts, left.tokens, left.usd))
