"""A real pool: EvalPerf's 34 models on items held out of the benchmark, their samples drawn again.

The difficulties of all 118 items in the fit to all 100 samples a cell stand for the truth. Half of
the items are the benchmark, with samples of its own; the others are what a rewriter could produce.
The models answer as they did, whether that fits 1PL or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import benchfill as bf
from benchfill_agents.target import FillTarget, targets_of
from support.simulated import matrix_of

from .world import Setting, World, entries_of, fitted_bench

if TYPE_CHECKING:
    from numpy.typing import NDArray


RESPONSES = (
    Path(__file__).resolve().parents[4]
    / "shared"
    / "data"
    / "evalperf_100rollouts"
    / "responses.csv"
)
SETTING = Setting(shape="EvalPerf", items=59, models=34, bench_rollouts=64)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Items (N) that are not in the benchmark."""

    b: NDArray[np.float64]
    rates: NDArray[np.float64]
    """Share of right answers, shape (P, N)."""


@cache
def _real() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return abilities, difficulties and shares of right answers by all samples."""
    matrix = bf.read_responses(RESPONSES)
    fit = bf.fit_1pl(matrix, engine="map", seed=1)
    return fit.theta, fit.b, np.asarray(matrix.correct / matrix.n)


def make_real_world(setting: Setting, rng: np.random.Generator) -> World:
    """Draw which items are the benchmark, measure it, and find gaps that held-out items lie in."""
    theta, b, rates = _real()
    order = rng.permutation(len(b))
    inside, outside = order[: setting.items], order[setting.items :]
    k = setting.bench_rollouts or 64
    fit = bf.fit_1pl(matrix_of(rng.binomial(k, rates[:, inside]), k), engine="map", seed=1)
    names = fit.responses.items
    kept = inside[[int(name[1:]) for name in names]]
    bench = fitted_bench(fit)
    held_out = HeldOut(b[outside], rates[:, outside])
    all_gaps = targets_of(bf.diagnose(fit), max_gaps=len(names), include_unresolved=True)
    world = World(
        theta, b[kept], bench, (), _Real(theta), entries_of(bench), rates[:, kept], fit, False,
        held_out,
    )  # fmt: skip
    return replace(world, targets=_fillable(world, all_gaps)[: setting.targets])


def _fillable(world: World, targets: tuple[FillTarget, ...]) -> tuple[FillTarget, ...]:
    assert world.held_out is not None
    found = []
    for target in targets:
        low, high = world.true_gap(target)
        if ((low < world.held_out.b) & (world.held_out.b < high)).any():
            found.append(target)
    return tuple(found)


@dataclass(frozen=True)
class _Real:
    """In place of `Rate`: items of the benchmark are not asked again here."""

    theta: NDArray[np.float64]

    def child(self, b: float) -> NDArray[np.float64]:
        """Return what 1PL says, for items that nobody has asked these models."""
        return np.asarray(1 / (1 + np.exp(b - self.theta)))
