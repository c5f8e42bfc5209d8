"""Simulated fills: children of known difficulty, measured against a benchmark that was fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchfill import child_mle, child_posterior, find_gaps, fit_1pl
from support.banks import make_bank
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from benchfill.onepl.fit import Engine

MODELS, ITEMS, DRAWS = 12, 40, 400


@dataclass(frozen=True)
class Measured:
    """One child after its measurement."""

    rollouts: int
    p_in_gap: float
    inside: bool
    covered: bool
    covered_at_fixed_theta: bool | None
    sd: float


def measure_children(
    rng: np.random.Generator,
    bench_rollouts: int,
    *,
    child_rollouts: tuple[int, ...],
    children: int,
    engine: Engine = "map",
) -> list[Measured]:
    """Fit a bank with a planted gap; measure children in and around the widest gap of the fit.

    Their true difficulties are uniform over twice the width of the gap *as it was estimated*, since
    that is all that whoever writes children can aim at. A child is truly inside when it lies
    between the *true* difficulties of the two items that border the gap.
    """
    bank, theta = make_bank("planted", ITEMS, rng), abilities(rng, MODELS)
    fit = fit_1pl(respond(rng, theta, bank.b, bench_rollouts), engine=engine, seed=1)
    gap = find_gaps(fit, count=1)[0]
    draws = fit.draws.thin(DRAWS)
    left, right = (fit.responses.items.index(i) for i in (gap.left_item, gap.right_item))
    low, high = fit.b[left], fit.b[right]
    spare = (high - low) / 2
    measured = []
    for truth in rng.uniform(low - spare, high + spare, children):
        p = 1 / (1 + np.exp(truth - theta))
        for n in child_rollouts:
            y, trials = rng.binomial(n, p), np.full(MODELS, n)
            posterior = child_posterior(y, trials, draws)
            point = child_mle(y, trials, fit.theta)
            known = bool(np.isfinite(point.b[0]))
            measured.append(
                Measured(
                    rollouts=n,
                    p_in_gap=posterior.p_between(draws.b[:, left], draws.b[:, right]),
                    inside=bool(bank.b[left] < truth < bank.b[right]),
                    covered=posterior.quantile(0.05) <= truth <= posterior.quantile(0.95),
                    covered_at_fixed_theta=(
                        bool(abs(point.b[0] - truth) <= 1.645 * point.se[0]) if known else None
                    ),
                    sd=posterior.sd,
                )
            )
    return measured
