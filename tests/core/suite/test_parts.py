"""The parts of an analysis that have an answer of their own to compare with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, spearmanr

import benchfill as bf
from benchfill.suite.clusters import cluster_order
from benchfill.suite.correlation import correlations, nearest_correlation, pairwise
from benchfill.suite.directions import covering_radii, covering_radius, loadings, unit_rows
from benchfill.suite.hidden import hidden_spectra, hidden_swaps, swap_probability
from benchfill.suite.linearity import linearity_of
from benchfill.suite.models_in_use import standardise
from benchfill.suite.removal import association, disruptions, explained, irreplaceability
from benchfill.suite.shares import share_interval
from benchfill.suite.swaps import random_halves, split_swaps, swaps_of

# Higham (2002), section 1: the nearest correlation matrix of a tridiagonal one, four digits
TRIDIAGONAL = np.eye(3) + np.diag([1.0, 1], 1) + np.diag([1.0, 1], -1)
NEAREST = np.array([[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]])
ONE = bf.SuiteRequest(frontier=1, replicates=40)


def table(values: np.ndarray, prefix: str = "b") -> bf.ScoreTable:
    names = [f"{prefix}{k}" for k in range(values.shape[1])]
    return bf.ScoreTable([f"m{j}" for j in range(len(values))], names, values)


def factors(models: int, benchmarks: int, seed: int = 0, noise: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    loading = rng.uniform(0.3, 1, (2, benchmarks)) * rng.choice([0.2, 1], (2, benchmarks))
    return rng.normal(size=(models, 2)) @ loading + noise * rng.normal(size=(models, benchmarks))


def test_the_nearest_correlation_matrix_of_the_paper() -> None:
    found = nearest_correlation(TRIDIAGONAL)
    np.testing.assert_allclose(found, NEAREST, atol=5e-5)
    assert np.linalg.eigvalsh(found)[0] > -1e-12
    np.testing.assert_allclose(nearest_correlation(NEAREST), NEAREST, atol=1e-3)


def test_pairs_of_columns_with_holes() -> None:
    rng = np.random.default_rng(1)
    values = factors(50, 4)
    values[rng.random(values.shape) < 0.3] = np.nan
    matrix, common = pairwise(values)
    for i in range(4):
        for j in range(i):
            both = ~np.isnan(values[:, [i, j]]).any(1)
            assert common[i, j] == both.sum()
            wanted = np.corrcoef(values[both][:, [i, j]], rowvar=False)[0, 1]
            assert matrix[i, j] == pytest.approx(wanted)


def test_a_broken_pairwise_matrix_is_repaired_and_told() -> None:
    """Three benchmarks, each pair on models of its own: together they cannot be."""
    t = np.arange(10.0)
    values = np.full((30, 3), np.nan)
    values[:10, 0], values[:10, 1] = t, t
    values[10:20, 1], values[10:20, 2] = t, t
    values[20:, 0], values[20:, 2] = t, -t
    found = bf.analyse_suite(table(values), bf.SuiteRequest(frontier=1, missing="pairwise"))
    assert found.data.smallest_eigenvalue == pytest.approx(-1)
    assert found.data.repair > 0.5
    assert found.data.d_eff_complete is None
    assert found.swaps is None
    assert found.linearity == ()
    assert found.blind_spot.bound is None
    assert all(value >= 0 for value in found.spectrum.eigenvalues)
    assert sum(found.spectrum.eigenvalues) == pytest.approx(3)
    assert "NaN" not in found.model_dump_json()


def test_two_benchmarks_without_common_models_are_named() -> None:
    values = np.full((20, 3), np.nan)
    rng = np.random.default_rng(0)
    values[:10, :2], values[10:, 1:] = rng.random((10, 2)), rng.random((10, 2))
    with pytest.raises(
        bf.InputError, match="'b0' and 'b2' cannot be correlated: models that have both: 0"
    ):
        bf.analyse_suite(table(values), bf.SuiteRequest(frontier=1, missing="pairwise"))
    with pytest.raises(bf.InputError, match="0 models of 20 have all scores"):
        bf.analyse_suite(table(values), ONE)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_covering_radius_of_the_axes(d: int) -> None:
    """From the axes the diagonal is farthest: arccos(1 / sqrt d); by signed ones its opposite."""
    rng = np.random.default_rng(0)
    found, there = covering_radius(np.eye(d), rng)
    assert found == pytest.approx(np.arccos(1 / np.sqrt(d)), abs=2e-3)
    np.testing.assert_allclose(np.abs(there), 1 / np.sqrt(d), atol=0.02)
    signed, _ = covering_radius(np.eye(d), rng, signed=True)
    assert signed == pytest.approx(np.arccos(-1 / np.sqrt(d)), abs=2e-3)


def test_many_covering_radii_at_once() -> None:
    rng = np.random.default_rng(3)
    rows = unit_rows(rng.standard_normal((4, 6, 3)))
    together, there = covering_radii(rows, rng)
    for one, angle, point in zip(rows, together, there, strict=True):
        assert angle == pytest.approx(covering_radius(one, rng)[0], abs=2e-3)
        assert np.arccos(np.abs(one @ point).max()) == pytest.approx(angle)


def test_one_dimension_has_no_blind_direction() -> None:
    found, _ = covering_radius(np.ones((4, 1)), np.random.default_rng(0))
    assert found == 0


def test_loadings_rebuild_the_matrix() -> None:
    matrix = np.corrcoef(factors(60, 5), rowvar=False)
    rows = loadings(matrix, 5)
    np.testing.assert_allclose(rows @ rows.T, matrix, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(unit_rows(rows), axis=1), 1)


def test_the_bound_with_a_constant_that_is_known() -> None:
    request = bf.SuiteRequest(frontier=1, replicates=20, constant=0.7)
    found = bf.analyse_suite(table(factors(60, 5)), request)
    spot, d_eff = found.blind_spot, found.spectrum.d_eff.value
    shrunk = 0.7 * spot.radius * 5 ** (-1 / (d_eff - 1))
    assert spot.bound == pytest.approx(spot.epsilon + shrunk)
    assert spot.constant == 0.7
    z = standardise(factors(60, 5))
    assert spot.radius == pytest.approx(np.sqrt((z**2).sum(1)).max())
    assert spot.epsilon == pytest.approx(
        np.abs(linearity_of(z, list("abcde"), spot.leading)[1]).max()
    )


def test_linearity_of_a_line_and_of_a_parabola() -> None:
    rng = np.random.default_rng(0)
    ability = rng.normal(size=300)
    values = np.column_stack([ability + 0.1 * rng.normal(size=300) for _ in range(4)])
    values = np.column_stack([values, ability**2 + 0.1 * rng.normal(size=300)])
    found, residuals = linearity_of(standardise(values), list("abcde"), 1)
    straight, bent = found[0], found[4]
    assert straight.r2 > 0.98
    assert straight.quadratic_gain < 0.005
    assert bent.r2 < 0.1
    assert bent.quadratic_gain > 0.9
    assert bent.quadratic_p < 1e-6
    np.testing.assert_allclose((residuals**2).mean(0), [1 - one.r2 for one in found])


def test_quadratic_gain_of_a_linear_suite_is_that_of_chance() -> None:
    """What the paper takes for curvature is there without any: 15 terms on 148 models gain .1."""
    gains, chances, low = [], [], 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = standardise(rng.normal(size=(80, 8)))
        for one in linearity_of(z, list("abcdefgh"), 4)[0]:
            gains.append(one.quadratic_gain)
            chances.append(one.quadratic_by_chance)
            low += one.quadratic_p < 0.05
    error = np.std(gains) / np.sqrt(160)
    assert abs(np.mean(gains) - np.mean(chances)) < 3 * error < 0.02
    assert np.mean(chances) > 0.1
    assert low / 160 == pytest.approx(0.05, abs=0.04)


def test_explained_is_r_squared_and_irreplaceability_the_inverse() -> None:
    values = factors(80, 5)
    matrix = np.corrcoef(values, rowvar=False)
    z = standardise(values)
    fit = z[:, :3] @ np.linalg.lstsq(z[:, :3], z[:, 4], rcond=None)[0]
    assert explained(matrix, [0, 1, 2])[4] == pytest.approx(1 - np.mean((z[:, 4] - fit) ** 2))
    np.testing.assert_allclose(irreplaceability(matrix), 1 / np.diag(np.linalg.inv(matrix)))
    twins = np.array([[1.0, 1, 0.2], [1, 1, 0.2], [0.2, 0.2, 1]])
    alone = irreplaceability(np.stack([np.eye(3), twins]))
    np.testing.assert_allclose(alone, [[1, 1, 1], [0, 0, 0.96]], atol=1e-8)
    many = explained(np.stack([matrix, np.eye(5)]), [0, 1])
    np.testing.assert_allclose(many[0], explained(matrix, [0, 1]))
    np.testing.assert_allclose(many[1], [1, 1, 0, 0, 0])


def test_what_is_unique_has_an_interval_and_a_null() -> None:
    rng = np.random.default_rng(0)
    found = bf.analyse_suite(table(rng.normal(size=(400, 5))), ONE)
    unique = [one.irreplaceability for one in found.places]
    assert all(one.q025 < one.value < one.q975 + 0.01 for one in unique)
    chance = found.removal.irreplaceability_by_chance
    assert chance == 1 - 4 / 399
    assert np.mean([one.value for one in unique]) == pytest.approx(chance, abs=0.01)
    outside = [one.mass_outside for one in found.places]
    assert np.mean(outside) == pytest.approx(found.removal.mass_by_chance)


def test_disruption_counts_places() -> None:
    z = np.array([[2.0, 0], [1, 1.5], [0, 0]])  # ranks by mean 2, 3, 1
    first, second = disruptions(z)
    assert first.value == pytest.approx((0.5 + 0 + 0.5) / 3)  # without it: 1.5, 3, 1.5
    assert second.value == pytest.approx((1 + 1 + 0) / 3)  # without it: 3, 2, 1


def test_association_is_spearmans() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        first, second = rng.integers(0, 5, (2, 12)).astype(float)
        found = association(first, second)
        wanted = spearmanr(first, second)
        assert (found.rho, found.p) == pytest.approx((wanted.statistic, wanted.pvalue))
    assert association(np.ones(5), np.arange(5.0)).rho is None
    assert association(np.arange(5.0), np.arange(5.0)).p == 0


def test_halves_and_swaps() -> None:
    halves = random_halves(7, 200, np.random.default_rng(0))
    assert set(halves.sum(0)) == {3}
    assert np.unique(halves, axis=1).shape[1] > 30
    alike = np.outer(np.arange(20.0), np.ones(6))
    first, changed = split_swaps(alike, random_halves(6, 50, np.random.default_rng(0)), 5)
    assert not first.any()
    assert not changed.any()
    opposed = np.column_stack([np.arange(20.0)] * 3 + [-np.arange(20.0)] * 3)
    visible = np.array([True] * 3 + [False] * 3)[:, None]
    first, changed = split_swaps(opposed, visible, 5)
    assert first.all()
    assert changed.tolist() == [5]


def test_the_null_of_swaps_is_met_by_models_of_that_kind() -> None:
    """Models drawn as the null has them are not called odd."""
    rng = np.random.default_rng(4)
    p = []
    for _ in range(12):
        z = standardise(factors(40, 6, seed=int(rng.integers(2**31))))
        p.append(swaps_of(z, np.corrcoef(z, rowvar=False), rng).p_gaussian)
    assert min(p) < 0.6
    assert max(p) > 0.3
    assert sum(one < 0.05 for one in p) <= 3


def test_hidden_spectra_share_their_sum_and_isotropy_is_the_least() -> None:
    spectra = hidden_spectra([4.0, 2, 1, 1], 45)
    assert len(spectra) == 6
    for spectrum in spectra.values():
        assert spectrum.sum() == pytest.approx(45)
        assert swap_probability(0.1, 0.5, spectrum) >= swap_probability(
            0.1, 0.5, spectra["isotropic"]
        )
    # isotropic: s_h = 2 s / sqrt(D - d)
    wanted = norm.cdf(-0.1 / (2 * 2 * 0.5 / np.sqrt(45)))
    assert swap_probability(0.1, 0.5, spectra["isotropic"]) == pytest.approx(wanted)


def test_simulated_swaps_have_the_observed_variance() -> None:
    """With many hidden directions alike both scores are normal: Phi(-gap / (sqrt 2 s))."""
    found = hidden_swaps(0.3, 0.5, [2.0, 1, 1], 3, np.random.default_rng(0))
    one = next(one for one in found if one.prior == "isotropic" and one.dimension == 100)
    wanted = norm.cdf(-0.3 / (np.sqrt(2) * 0.5))
    assert one.simulated.q025 - 0.005 < wanted < one.simulated.q975 + 0.005


def test_wilsons_interval() -> None:
    for count, trials in ((9, 10), (250, 500), (499, 500)):
        wanted = binomtest(count, trials).proportion_ci(method="wilson")
        assert share_interval(count, trials) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    assert share_interval(0, 10)[0] == 0


def test_like_stands_beside_like() -> None:
    matrix = np.eye(4)
    matrix[0, 2] = matrix[2, 0] = 0.9
    matrix[1, 3] = matrix[3, 1] = -0.9
    order = cluster_order(matrix)
    assert abs(order.index(0) - order.index(2)) == 1
    assert abs(order.index(1) - order.index(3)) == 1


def test_spearman_by_ranks() -> None:
    values = factors(40, 3)
    found = correlations(np.exp(3 * values), tuple("abc"), spearman=True).matrix
    np.testing.assert_allclose(found, correlations(values, tuple("abc"), spearman=True).matrix)


def test_novelty_of_a_mixture_and_of_noise() -> None:
    rng = np.random.default_rng(2)
    values = factors(200, 6, noise=0.1)
    whole = np.column_stack([values, values.mean(1), rng.normal(size=200)])
    request = bf.SuiteRequest(frontier=1, replicates=60, outside=("b6", "b7"))
    found = bf.analyse_suite(table(whole), request)
    mixture, noise = found.novelty
    assert found.data.benchmarks == 6
    assert mixture.novelty.value < 0.02
    assert noise.novelty.value > 0.95
    assert noise.by_chance == pytest.approx(noise.novelty.value, abs=0.05)
    assert noise.novelty.q025 < noise.novelty.value < 1


def test_transfer_between_equal_dates_is_whole() -> None:
    values = factors(100, 7)
    same = bf.analyse_suite(table(values), ONE, later=table(values)).transfer
    assert same.ratio.value == 1
    assert same.chosen_now == same.chosen_later
    assert same.ratio_random.value < 1
    assert same.only_now == same.only_later == ()


def test_transfer_uses_what_both_dates_have() -> None:
    now, then = factors(100, 6), factors(80, 6, seed=0)
    later = bf.ScoreTable(
        [f"n{j}" for j in range(80)], ["b5", "b4", "b1", "b0", "new"],
        np.column_stack([then[:, [5, 4, 1, 0]], np.arange(80.0)]),
    )  # fmt: skip
    request = bf.SuiteRequest(frontier=1, replicates=40, select=2)
    one = bf.analyse_suite(table(now), request, later=later).transfer
    assert one.benchmarks == 4
    assert one.only_now == ("b2", "b3")
    assert one.only_later == ("new",)
    assert one.size == 2
    assert one.ratio.q025 < 1
    assert one.ratio.value == pytest.approx(one.f_transferred / one.f_own)
    with pytest.raises(bf.InputError, match="--later: has 0 of the 6 benchmarks"):
        bf.analyse_suite(table(now), ONE, later=table(then, prefix="x"))
    with pytest.raises(bf.InputError, match="--later: the scores are of 1 model"):
        bf.analyse_suite(table(now), ONE, later=table(then[:1]))


def test_items_stand_beside_their_benchmark() -> None:
    rng = np.random.default_rng(0)
    values = factors(60, 4)
    cells = (rng.random((8, 20)) < 1 / (1 + np.exp(np.linspace(-2, 2, 20)))).astype(int)
    names = [f"m{j}" for j in range(8)], [f"i{i}" for i in range(20)]
    some = bf.ResponseMatrix(*map(tuple, names), cells, np.ones_like(cells))
    flat = bf.ResponseMatrix(*map(tuple, names), np.ones_like(cells), np.ones_like(cells))
    found = bf.analyse_suite(table(values), ONE, responses={"b1": flat, "b2": some})
    best, none = found.items
    assert (best.benchmark, none.benchmark) == ("b2", "b1")
    diagnosis = bf.diagnose(bf.fit_1pl(some, engine="map"))
    assert best.widest_gap.value == diagnosis.max_gap.value
    assert best.ddm.value == diagnosis.ddm.value
    place = next(one for one in found.places if one.benchmark == "b2")
    assert best.help == pytest.approx(place.irreplaceability.value * best.widest_gap.value)
    assert "A new item would help most in b2" in found.answer[-1]
    assert "all items have the same difficulty" in none.problem
    with pytest.raises(bf.InputError, match="--responses: there is no benchmark 'zz'"):
        bf.analyse_suite(table(values), ONE, responses={"zz": some})
