"""Which items to run again on which models, so that undecided gaps become decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from ..gaps import find_gaps
from .cells import Cells
from .outlook import MAX_P_HOLE, OpenGap, Outlook
from .result import GapOutlook, Rerun, RerunPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..gaps import Gap
    from ..onepl import Draws, Fit1PL
    from .outlook import Allocation, Decided

MOST_GAPS = 5
PARTS = 8  # of the budget, that gaps are given
EVEN_CHANCE = 0.5
MOST_DOUBLINGS = 6
DRAWS = 400
QUICK, FULL = (128, 64), (300, 150)  # truths, and draws of each posterior, of a simulation


def plan_reruns(fit: Fit1PL, budget: int, seed: int) -> RerunPlan:
    """Spend a budget of rollouts so that as many of the widest undecided gaps get decided.

    Parameters
    ----------
    fit
        The fit so far.
    budget
        Rollouts, at least 1.
    seed
        Of the simulated rollouts.

    Returns
    -------
    RerunPlan

    Raises
    ------
    FitError
        The benchmark has no difficulty scale.

    Notes
    -----
    The chance that a gap is decided is no concave function of what is spent on it, so the budget is
    cut into eight parts, the chance is simulated for each number of parts, and the best split is
    found by dynamic programming. Within a gap, rollouts go in batches to the cell that lowers the
    preposterior variance of "is it a hole" most.
    """
    found = find_gaps(fit)
    undecided = [gap for gap in found if is_undecided(gap)]
    empty = sum(gap.verdict == "empty" for gap in found)
    draws = fit.draws.thin(DRAWS)
    open_gaps = [_Candidate.of(fit, draws, gap) for gap in undecided[:MOST_GAPS]]
    quick = Outlook(fit, draws, *QUICK, seed)
    steps = _steps(budget)
    trials = [[one.after(quick, rollouts) for rollouts in steps] for one in open_gaps]
    given = [steps[part] for part in _best_split(_values(trials))]
    if given:
        given[0] += budget - sum(given)  # what rounding to parts left over
    allocation: Allocation = {}
    for one, rollouts in zip(open_gaps, given, strict=True):
        for cell, count in one.cells.spend(rollouts).items():
            allocation[cell] = allocation.get(cell, 0) + count
    full = Outlook(fit, draws, *FULL, seed + 1)
    judged = full.judge([one.gap for one in open_gaps], allocation)
    return RerunPlan(
        budget=budget,
        empty=empty,
        occupied=len(found) - len(undecided) - empty,
        undecided=len(undecided),
        gaps=tuple(
            _outlook(one.gap.gap, rollouts, decided, one.even_chance(quick, steps, tried))
            for one, rollouts, decided, tried in zip(open_gaps, given, judged, trials, strict=True)
        ),
        reruns=_reruns(fit, allocation),
        expected_decided=float(sum(decided.chance for decided in judged)),
    )


def is_undecided(gap: Gap) -> bool:
    """Whether a gap is neither surely empty nor surely occupied."""
    return gap.verdict == "unresolved" and gap.p_hole > MAX_P_HOLE


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A gap that rollouts may decide, and the cells to spend them on."""

    gap: OpenGap
    cells: Cells

    @classmethod
    def of(cls, fit: Fit1PL, draws: Draws, gap: Gap) -> _Candidate:
        of = OpenGap.of(fit, draws, gap)
        return cls(of, Cells.of(fit, draws, of))

    def after(self, outlook: Outlook, rollouts: int) -> Decided:
        """Judge the gap after so many rollouts on it alone."""
        (judged,) = outlook.judge([self.gap], self.cells.spend(rollouts))
        return judged

    def even_chance(self, outlook: Outlook, steps: list[int], tried: list[Decided]) -> int | None:
        """Return the rollouts that decide it with even odds: of the steps, then by doubling."""
        for rollouts, judged in zip(steps[1:], tried[1:], strict=True):
            if judged.chance >= EVEN_CHANCE:
                return rollouts
        for doublings in range(1, MOST_DOUBLINGS + 1):
            rollouts = steps[-1] << doublings
            if self.after(outlook, rollouts).chance >= EVEN_CHANCE:
                return rollouts
        return None


def _steps(budget: int) -> list[int]:
    """Return the rollouts that a gap may be given, from none to all."""
    parts = min(PARTS, budget)
    return [budget * part // parts for part in range(parts + 1)]


def _values(trials: list[list[Decided]]) -> NDArray[np.float64]:
    """Return what each step is worth for each gap, shape (G, P + 1).

    The chance that the gap is decided, without rollouts none; of equal chances, what leaves it less
    uncertain is better. More rollouts never tell less: what falls is simulation noise.
    """
    chance = np.array([[0.0, *(one.chance for one in tried[1:])] for tried in trials])
    left = np.array([[one.uncertainty for one in tried] for tried in trials])
    return np.array([isotonic_regression(row).x for row in chance - 1e-3 * left])


def _best_split(value: NDArray[np.float64]) -> list[int]:
    """Return how many parts each gap gets, so that the summed values (G, P + 1) are largest."""
    if not len(value):
        return []
    parts = value.shape[1] - 1
    best, taken = np.zeros(parts + 1), []
    for row in value:
        # options[total, own]: what the gaps so far are worth with `own` parts for this one
        options = np.full((parts + 1, parts + 1), -np.inf)
        for own in range(parts + 1):
            options[own:, own] = best[: parts + 1 - own] + row[own]
        taken.append(options.argmax(1))
        best = options.max(1)
    left, split = parts, []
    for own in reversed(taken):
        split.append(int(own[left]))
        left -= split[-1]
    return split[::-1]


def _outlook(gap: Gap, rollouts: int, judged: Decided, even_chance: int | None) -> GapOutlook:
    return GapOutlook(
        **gap.model_dump(include=set(GapOutlook.model_fields)),
        rollouts=rollouts,
        p_empty=float(judged.empty.mean()),
        p_occupied=float(judged.occupied.mean()),
        rollouts_for_even_chance=even_chance,
    )


def _reruns(fit: Fit1PL, allocation: Allocation) -> tuple[Rerun, ...]:
    """List the cells item by item, the item with most rollouts first."""
    of_item: dict[int, int] = {}
    for (item, _), count in allocation.items():
        of_item[item] = of_item.get(item, 0) + count
    ranked: Sequence[tuple[int, int]] = sorted(
        allocation, key=lambda cell: (-of_item[cell[0]], cell[0], -allocation[cell], cell[1])
    )
    data = fit.responses
    return tuple(
        Rerun(model=data.models[model], item=data.items[item], rollouts=allocation[item, model])
        for item, model in ranked
    )
