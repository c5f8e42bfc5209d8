"""A benchmark whose cells scatter beyond 1PL: what a fill's Bench and anchors make of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchfill import Draws
from benchfill.measure import DifficultyScale
from benchfill_agents.anchors import judge
from benchfill_agents.calibrator import Bench

THETA = np.linspace(-2, 2, 12)
B = np.linspace(-2.5, 2.5, 20)
ITEMS = tuple(f"i{i}" for i in range(20))


def bench(misfit: float) -> Bench:
    draws = Draws(np.tile(THETA, (200, 1)), np.tile(B, (200, 1)), np.zeros(200), np.full(200, 1.5))
    names = tuple(f"m{j}" for j in range(12))
    return Bench(names, names, ITEMS, draws, DifficultyScale.of(B), misfit)


def test_anchors_that_scatter_as_the_benchmark_does_are_no_drift() -> None:
    rng, flagged = np.random.default_rng(0), {0.0: 0, 1.0: 0}
    anchors = list(range(0, 20, 2))[:8]
    n = np.full((12, 8), 30)
    for _ in range(40):
        own = rng.normal(0, 1.0, (12, 8))
        rates = 1 / (1 + np.exp(B[anchors] - THETA[:, None] + own))
        correct = rng.binomial(n, rates).astype(float)
        for misfit in flagged:
            found = judge(bench(misfit), tuple(ITEMS[i] for i in anchors), correct, n)
            flagged[misfit] += sum(one.standing != "kept" for one in found)
    models = 40 * 12
    assert flagged[0.0] > 0.05 * models  # what chance alone would not explain
    assert flagged[1.0] < 0.01 * models


def test_a_model_left_out_keeps_its_say_in_what_difficulty_is() -> None:
    some = bench(1.0).without({"m0", "m5"})
    np.testing.assert_allclose(some.others, THETA[[0, 5]])
    n = np.full(10, 2_000)
    y = np.rint(n / (1 + np.exp(-some.theta))).astype(int)
    without = replace(some, others=np.zeros(0)).posterior(y, n, 0.0)
    assert some.posterior(y, n, 0.0).sd > 2 * without.sd
