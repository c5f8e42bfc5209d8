"""Where a rewriter's children come to lie, learned from few answers."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill import Draws
from benchfill.measure import DifficultyScale
from benchfill_agents.calibrator import Bench, Measurement, RewriterHabits

MODELS = 12
THETA = np.linspace(-2.5, 2.5, MODELS)
B = np.linspace(-3, 3, 20)


@pytest.fixture
def bench() -> Bench:
    names = tuple(f"m{j}" for j in range(MODELS))
    draws = Draws(
        theta=np.tile(THETA, (200, 1)),
        b=np.tile(B, (200, 1)),
        mu_b=np.zeros(200),
        s_b=np.full(200, 1.8),
    )
    return Bench(names, names, tuple(f"i{i}" for i in range(20)), draws, DifficultyScale.of(B))


def measured(item: str, b: float, n: int, rng: np.random.Generator) -> Measurement:
    trials = np.full(MODELS, n)
    correct = rng.binomial(trials, 1 / (1 + np.exp(b - THETA)))
    return Measurement(item, 0.0, correct, trials, trials)


def test_shift_and_pull_are_found_and_strays_do_not_spoil_them(bench: Bench) -> None:
    rng = np.random.default_rng(1)
    habits, target = RewriterHabits(), 0.5
    children = []
    for k in range(60):
        parent = rng.uniform(-2, 3)
        b = target + 0.4 + 0.5 * (parent - target) + rng.normal(0, 0.3)
        b = 4.5 if k % 12 == 0 else b  # a wrong key
        children.append((measured(f"c{k}", b, 6, rng), parent))
    habits.note(bench, target, children)
    for parent in (-1.0, 0.5, 2.0):
        found = habits.expected(target, parent)
        assert found is not None
        assert found.mean == pytest.approx(target + 0.4 + 0.5 * (parent - target), abs=0.25)
        assert 0.2 < found.sd < 0.6
    # for another gap of the same run, as far from its own target
    assert habits.expected(-1.0, -1.0).mean == pytest.approx(-0.6, abs=0.25)


def test_nothing_is_expected_without_experience(bench: Bench) -> None:
    rng = np.random.default_rng(2)
    habits = RewriterHabits()
    assert habits.expected(0.0, 0.0) is None
    habits.note(bench, 0.0, [(measured(f"c{k}", 0.0, 3, rng), 0.5) for k in range(5)])
    assert habits.expected(0.0, 0.0) is None
    habits.note(bench, 0.0, [(measured("c5", 0.0, 3, rng), 0.5)])
    few = habits.expected(0.0, 0.0)
    assert few is not None
    far = habits.expected(0.0, 3.0)
    assert far.sd > few.sd  # farther than any parent seen: its own error counts


def test_who_looks_twice_learns_once(bench: Bench) -> None:
    rng = np.random.default_rng(3)
    children = [(measured(f"c{k}", 0.3, 4, rng), 1.0) for k in range(8)]
    once, twice = RewriterHabits(), RewriterHabits()
    once.note(bench, 0.0, children)
    twice.note(bench, 0.0, children)
    twice.note(bench, 0.0, children)
    assert once.expected(0.0, 1.0) == twice.expected(0.0, 1.0)
