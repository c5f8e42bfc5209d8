"""f and F: what is true of both, what only of F, and how good greedy choices are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchfill.suite.coverage import (
    all_coverages,
    all_log_dets,
    coverage,
    coverages,
    greedy_coverage,
    greedy_log_det,
    log_det,
)
from benchfill.suite.removal import explained
from benchfill.suite.submodularity import submodularity_ratio, violations


def random_correlations(rng: np.random.Generator, k: int, models: int) -> np.ndarray:
    """Correlations of a few factors and noise, of any rank."""
    factors = int(rng.integers(1, 5))
    scores = rng.normal(size=(models, factors)) @ rng.normal(size=(factors, k))
    return np.corrcoef(scores + rng.uniform(0.1, 2) * rng.normal(size=(models, k)), rowvar=False)


def best_of_size(values: np.ndarray, size: int) -> float:
    count = np.array([mask.bit_count() for mask in range(len(values))])
    return float(values[count == size].max())


matrices = st.builds(
    lambda seed, k, models: random_correlations(np.random.default_rng(seed), k, models),
    st.integers(0, 2**31),
    st.integers(2, 6),
    st.integers(3, 30),
)


@settings(max_examples=60, deadline=None)
@given(matrices, st.floats(0.01, 100), st.data())
def test_log_det_is_monotone_and_submodular(matrix, noise, data) -> None:
    k = len(matrix)
    values = all_log_dets(matrix, noise)
    larger = data.draw(st.integers(0, 2**k - 1))
    smaller = larger & data.draw(st.integers(0, 2**k - 1))
    assert values[0] == 0
    for j in range(k):
        if larger >> j & 1:
            continue
        first = values[smaller | 1 << j] - values[smaller]
        second = values[larger | 1 << j] - values[larger]
        assert second >= -1e-9
        assert first >= second - 1e-8


NEARLY_TWINS = np.array([[1.0, 1 - 1.6e-5], [1 - 1.6e-5, 1.0]])


@settings(max_examples=60, deadline=None)
@given(matrices)
@example(NEARLY_TWINS)
def test_f_is_a_monotone_share(matrix) -> None:
    k = len(matrix)
    values = all_coverages(matrix)
    assert values[0] == 0
    assert values[-1] == pytest.approx(1, abs=1e-6)
    for mask in range(2**k):
        for j in range(k):
            assert values[mask | 1 << j] >= values[mask] - 1e-7


@settings(max_examples=60, deadline=None)
@given(matrices, st.data())
def test_no_more_can_be_foretold_than_f(matrix, data) -> None:
    subset = sorted(data.draw(st.sets(st.integers(0, len(matrix) - 1), min_size=1)))
    assert explained(matrix, subset).mean() <= coverage(matrix, subset) + 1e-6


def test_f_is_not_submodular() -> None:
    """A counter-example: the second benchmark adds more beside the first than by itself."""
    matrix = np.array([[1.0, -0.3, -0.6], [-0.3, 1.0, -0.5], [-0.6, -0.5, 1.0]])
    alone = coverage(matrix, [1])
    beside = coverage(matrix, [0, 1]) - coverage(matrix, [0])
    assert beside == pytest.approx(alone + 0.0238, abs=5e-5)
    growing, pairs, _, _ = violations(matrix)
    assert (growing, pairs) == (2, 6)  # the pair in both orders
    assert submodularity_ratio(all_coverages(matrix), [0], 3) < 1
    ld = all_log_dets(matrix, 1.0)
    assert ld[0b011] - ld[0b001] <= ld[0b010]  # but not of F


def test_independent_benchmarks_count_one_each() -> None:
    assert coverage(np.eye(5), [1, 3]) == pytest.approx(0.4)
    assert log_det(np.eye(5), [1, 3], 1.0) == pytest.approx(2 * np.log(2))
    assert violations(np.eye(5))[0] == 0
    assert submodularity_ratio(all_coverages(np.eye(5)), [0, 1], 5) == pytest.approx(1)


def test_duplicates_add_nothing() -> None:
    matrix = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert coverage(matrix, [0, 1]) == pytest.approx(coverage(matrix, [0])) == pytest.approx(2 / 3)
    order, values = greedy_coverage(matrix[None], 3)
    assert order[0].tolist() == [0, 2, 1]
    assert values[0] == pytest.approx([2 / 3, 1, 1])


def test_many_matrices_at_once_give_what_one_does() -> None:
    rng = np.random.default_rng(7)
    stack = np.stack([random_correlations(rng, 6, 20) for _ in range(8)])
    stack[0, 1], stack[0, :, 1] = stack[0, 0], stack[0, :, 0]  # a duplicate
    for subset in ([2], [0, 1, 4], [0, 1, 2, 3, 4, 5]):
        one_by_one = [coverage(matrix, subset) for matrix in stack]
        np.testing.assert_allclose(coverages(stack, subset), one_by_one, atol=1e-8)


def test_greedy_is_what_one_by_one_gives() -> None:
    rng = np.random.default_rng(0)
    for k in (3, 6, 9):
        stack = np.stack([random_correlations(rng, k, 20) for _ in range(5)])
        orders, values = greedy_coverage(stack, k)
        for matrix, order, value in zip(stack, orders, values, strict=True):
            chosen: list[int] = []
            for step in range(k):
                gains = {j: coverage(matrix, [*chosen, j]) for j in range(k) if j not in chosen}
                assert gains[order[step]] == pytest.approx(max(gains.values()), abs=1e-9)
                chosen.append(int(order[step]))
                assert value[step] == pytest.approx(gains[chosen[-1]], abs=1e-9)


def test_lazy_greedy_chooses_as_greedy_does_with_fewer_gains() -> None:
    rng = np.random.default_rng(1)
    spared = 0
    for _ in range(20):
        k = int(rng.integers(2, 14))
        matrix = random_correlations(rng, k, 30)
        order, evaluations = greedy_log_det(matrix, k, 0.5)
        plain: list[int] = []
        for _ in range(k):
            rest = [j for j in range(k) if j not in plain]
            plain.append(max(rest, key=lambda j: log_det(matrix, [*plain, j], 0.5)))
        assert [log_det(matrix, order[:s], 0.5) for s in range(1, k + 1)] == pytest.approx(
            [log_det(matrix, plain[:s], 0.5) for s in range(1, k + 1)]
        )
        assert evaluations <= k * (k + 1) // 2
        spared += k * (k + 1) // 2 - evaluations
    assert spared > 0


def compare_greedy(count: int) -> dict[str, float]:
    """Return how greedy choices fare against the best on random matrices; docs/suite has it."""
    rng = np.random.default_rng(2026)
    ratios: dict[str, list[float]] = {"f": [], "F": [], "bound": []}
    for _ in range(count):
        k = int(rng.integers(5, 10))
        size = int(rng.integers(2, k - 1))
        matrix = random_correlations(rng, k, int(rng.integers(6, 60)))
        noise = float(rng.uniform(0.05, 1))
        f, ld = all_coverages(matrix), all_log_dets(matrix, noise)
        order, values = greedy_coverage(matrix[None], size)
        chosen, _ = greedy_log_det(matrix, size, noise)
        ratios["f"].append(values[0, -1] / best_of_size(f, size))
        ratios["F"].append(log_det(matrix, chosen, noise) / best_of_size(ld, size))
        gamma = submodularity_ratio(f, order[0].tolist(), size)
        ratios["bound"].append(ratios["f"][-1] - (1 - np.exp(-gamma)))
    return {
        "equal_f": sum(one > 1 - 1e-9 for one in ratios["f"]),
        "equal_F": sum(one > 1 - 1e-9 for one in ratios["F"]),
        "least_f": min(ratios["f"]),
        "least_F": min(ratios["F"]),
        "least_over_bound": min(ratios["bound"]),
    }


def test_greedy_on_200_random_matrices() -> None:
    found = compare_greedy(200)
    assert found["least_F"] >= 1 - np.exp(-1)  # the guarantee
    assert found["least_over_bound"] >= 0  # that of the submodularity ratio, for f
    # the counts that docs/suite.md tells
    assert (found["equal_f"], found["equal_F"]) == (64, 65)
    assert found["least_f"] == pytest.approx(0.950, abs=5e-4)
    assert found["least_F"] == pytest.approx(0.935, abs=5e-4)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_gamma_is_the_least_ratio_by_brute_force(size: int) -> None:
    rng = np.random.default_rng(5)
    matrix = random_correlations(rng, 5, 12)
    values = all_coverages(matrix)
    chosen = greedy_coverage(matrix[None], size)[0][0].tolist()
    least = 1.0
    for count in range(size + 1):
        for inside in combinations(chosen, count):
            rest = [j for j in range(5) if j not in inside]
            base = coverage(matrix, inside)
            for added in (s for n in range(1, size + 1) for s in combinations(rest, n)):
                together = coverage(matrix, [*inside, *added]) - base
                singly = sum(coverage(matrix, [*inside, j]) - base for j in added)
                least = min(least, singly / together)
    assert submodularity_ratio(values, chosen, size) == pytest.approx(least)
