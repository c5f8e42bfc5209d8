"""Plans for simulated banks, held against what the banks truly are."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchfill import DifficultyScale, Uniform, fit_1pl
from benchfill.plan import PlanRequest
from benchfill.plan.coverage import coverage_draws
from benchfill.plan.places import plan_items
from support.banks import Kind, make_bank
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.plan.result import Objective

OBJECTIVES: tuple[Objective, ...] = ("max-gap", "ddm", "top-k")
BANKS: tuple[Kind, ...] = ("uniform", "clumped", "planted")
SIZES = (30, 60)


@dataclass(frozen=True)
class Planned:
    """The true objective of a bank before, with plain midpoints and with the plan."""

    bank: int
    k: int
    count: int
    objective: Objective
    before: float
    plain: float
    plan: float


def plan_on_bank(bank: int, k: int, counts: Sequence[int], models: int = 12) -> list[Planned]:
    """Draw a bank, let models answer k times, plan, and measure the plan by the true places."""
    rng = np.random.default_rng([2027, k, bank])
    truth = make_bank(BANKS[bank % 3], SIZES[bank % 2], rng).b
    fit = fit_1pl(respond(rng, abilities(rng, models), truth, k), engine="map", seed=bank)
    scale = DifficultyScale.of(fit.b)
    z = scale.to_z(truth)[None]
    done = []
    for count in counts:
        for column, objective in enumerate(OBJECTIVES):
            wanted = PlanRequest(items=count, objective=objective)
            plan = plan_items(fit, wanted, np.random.default_rng(bank))
            places = ((), plan.plain.places, [item.z for item in plan.items])
            before, plain, after = (
                float(coverage_draws(z, np.array([at], dtype=float), Uniform())[0, column])
                for at in places
            )
            done.append(Planned(bank, k, count, objective, before, plain, after))
    return done


def difference(done: Sequence[Planned]) -> tuple[float, float]:
    """Return the mean of plan minus plain and half its 95% interval, a bank counting once."""
    by_bank: dict[tuple[int, int], list[float]] = defaultdict(list)
    for one in done:
        by_bank[one.k, one.bank].append(one.plan - one.plain)
    means = np.array([np.mean(values) for values in by_bank.values()])
    return float(means.mean()), float(1.96 * means.std(ddof=1) / np.sqrt(len(means)))
