"""The scale, the spacings and the mismatch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import beta, wasserstein_distance

from benchfill import Beta, DifficultyScale, Empirical, Uniform, max_gap, spacings, top_k_sum
from benchfill.measure import grid_mismatch, own_scale

UNIT = st.floats(0, 1, width=32)
SAMPLE = st.lists(UNIT, min_size=1, max_size=8).map(lambda values: np.sort(np.array(values)))
DIFFICULTIES = arrays(np.float64, st.integers(2, 8), elements=st.floats(-6, 6, width=16)).filter(
    lambda b: np.ptp(b) > 0.01
)


def w1(z: np.ndarray, other: np.ndarray) -> float:
    return float(Empirical(other).wasserstein(z))


@given(z=SAMPLE, points=SAMPLE)
def test_empirical_target_equals_scipy(z: np.ndarray, points: np.ndarray) -> None:
    assert w1(z, points) == pytest.approx(wasserstein_distance(z, points), abs=1e-12)
    assert w1(z, points) == pytest.approx(w1(points, z), abs=1e-12)
    assert w1(z, z) == 0
    if w1(z, points) == 0:
        assert set(z) == set(points)


@given(a=SAMPLE, b=SAMPLE, c=SAMPLE)
def test_triangle_inequality(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    assert w1(a, c) <= w1(a, b) + w1(b, c) + 1e-12


@given(z=SAMPLE)
def test_uniform_target_equals_scipy_on_a_fine_grid(z: np.ndarray) -> None:
    fine = (np.arange(20_000) + 0.5) / 20_000
    assert float(Uniform().wasserstein(z)) == pytest.approx(wasserstein_distance(z, fine), abs=1e-4)
    exact, _ = quad(
        lambda x: abs(np.mean(z <= x) - x), 0, 1, points=sorted(set(z) - {0, 1}) or None, limit=300
    )
    assert float(Uniform().wasserstein(z)) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("z", "distance"),
    [([0.5], 1 / 4), ([0.0], 1 / 2), ([0.0, 1.0], 1 / 4), ([0.25, 0.75], 1 / 8)],
)
def test_uniform_in_closed_form(z: list[float], distance: float) -> None:
    assert float(Uniform().wasserstein(np.array(z))) == pytest.approx(distance)


@pytest.mark.parametrize(("a", "b"), [(2, 5), (0.5, 0.5), (1, 1), (30, 3)])
def test_beta_target_equals_numerical_integration(a: float, b: float) -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 40):
        z = np.sort(rng.random(n))
        walls = np.concatenate([[0], z, [1]])
        exact = 0.0
        for k in range(n + 1):

            def away(x: float, level: float = k / n) -> float:
                return abs(level - float(beta.cdf(x, a, b)))

            exact += quad(away, walls[k], walls[k + 1], limit=200)[0]
        assert float(Beta(a, b).wasserstein(z)) == pytest.approx(exact, abs=1e-5)


def test_beta_of_one_and_one_is_uniform_and_draws_are_rows() -> None:
    z = np.sort(np.random.default_rng(0).random((5, 9)), axis=1)
    np.testing.assert_allclose(Beta(1, 1).wasserstein(z), Uniform().wasserstein(z))
    for target in (Uniform(), Beta(2, 3), Empirical(np.array([0.1, 0.5, 0.5]))):
        rows = [float(target.wasserstein(row)) for row in z]
        np.testing.assert_allclose(target.wasserstein(z), rows)


def test_grid_version_is_the_papers_formula() -> None:
    z = np.array([0.0, 0.2, 0.9, 1.0])
    assert grid_mismatch(z, Uniform()) == pytest.approx(np.mean([0.125, 0.175, 0.275, 0.125]))
    assert grid_mismatch((np.arange(7) + 0.5) / 7, Uniform()) == pytest.approx(0)


@given(z=arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 8)), elements=UNIT))
def test_spacings_sum_to_one(z: np.ndarray) -> None:
    z = np.sort(z, axis=1)
    widths = spacings(z)
    assert widths.shape == (z.shape[0], z.shape[1] + 1)
    np.testing.assert_allclose(widths.sum(-1), 1)
    assert (widths >= 0).all()
    np.testing.assert_array_equal(max_gap(z), widths.max(-1))
    np.testing.assert_allclose(top_k_sum(z, 1), max_gap(z))
    np.testing.assert_allclose(top_k_sum(z, z.shape[1] + 1), 1)
    np.testing.assert_allclose(top_k_sum(z, 2), np.sort(widths, -1)[:, -2:].sum(-1))


@given(b=DIFFICULTIES, shift=st.floats(-50, 50, width=16), stretch=st.floats(0.25, 8, width=16))
def test_z_does_not_feel_a_shift_or_a_stretch(b: np.ndarray, shift: float, stretch: float) -> None:
    z = DifficultyScale.of(b).to_z(b)
    moved = stretch * b + shift
    np.testing.assert_allclose(DifficultyScale.of(moved).to_z(moved), z, atol=1e-9)
    np.testing.assert_allclose(np.sort(z), own_scale(b), atol=1e-12)
    assert z.min() == 0
    assert z.max() == pytest.approx(1)
    np.testing.assert_allclose(DifficultyScale.of(b).to_b(z), b, atol=1e-9)
