"""A plan for the difficulty structure of a benchmark: new items, and items to run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..fitted import fit_facts
from ..measure import DifficultyScale
from .places import plan_items
from .reruns import plan_reruns
from .result import Plan

if TYPE_CHECKING:
    from ..onepl import Fit1PL
    from .request import PlanRequest


def make_plan(fit: Fit1PL, request: PlanRequest, *, seed: int = 0) -> Plan:
    """Plan where new items go and which items to run again, each within its own budget.

    Parameters
    ----------
    fit
        A fit of at least two items that differ.
    request
        Budgets and objective.
    seed
        Of errors of placement and simulated rollouts; the same seed and fit give the same plan.

    Returns
    -------
    Plan
        New items: the places in [0, 1] on the frozen scale whose expected objective over joint
        posterior draws is smallest, held against plain midpoints on other draws. Items to run
        again: the (item, model) cells that most raise the chance that the widest undecided gaps
        are decided. The two do not know of one another: what reruns show may move the places.

    Raises
    ------
    FitError
        All items have one difficulty, so that there is no scale.

    Notes
    -----
    The design of the difficulty structure is what the paper leaves to future work (arXiv
    2610.29927, section A.2); the method is ours.
    """
    DifficultyScale.of(fit.b)
    rng = np.random.default_rng(seed)
    return Plan(
        **fit_facts(fit),
        new_items=plan_items(fit, request, rng) if request.items else None,
        reruns=plan_reruns(fit, request.rollouts, seed) if request.rollouts else None,
    )
