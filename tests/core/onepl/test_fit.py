"""Fits recover the truth, agree with one another, and survive degenerate data."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill import (
    FitError,
    InputError,
    ResponseMatrix,
    checks,
    diagnose,
    fit_1pl,
    fit_conditional,
)
from benchfill.onepl.map import fit_map
from benchfill.onepl.model import ItemPatterns, guessing_vector
from support.lsat6 import lsat6
from support.simulated import abilities, matrix_of, respond


def estimate(data: ResponseMatrix, guessing: object = 0.0) -> tuple[np.ndarray, np.ndarray]:
    patterns = ItemPatterns.of(data, guessing_vector(data, guessing))
    found = fit_map(patterns)
    return found.parameters.theta, found.b[patterns.row]


@pytest.mark.parametrize("guessing", [0.0, 0.25])
@pytest.mark.parametrize("n", [8, np.random.default_rng(0).choice([0, 1, 5], (6, 20))])
def test_map_does_not_depend_on_the_order_of_models_and_items(guessing: float, n: object) -> None:
    rng = np.random.default_rng(1)
    data = respond(rng, abilities(rng, 6), rng.normal(0, 1.5, 20), n, guessing)
    theta, b = estimate(data, guessing)
    rows, columns = rng.permutation(6), rng.permutation(20)
    moved_theta, moved_b = estimate(data.select(models=rows, items=columns), guessing)
    np.testing.assert_allclose(moved_theta, theta[rows], atol=1e-9)
    np.testing.assert_allclose(moved_b, b[columns], atol=1e-9)


@pytest.mark.parametrize("items", [30, 500])
def test_difficulties_correlate_with_the_truth(items: int) -> None:
    r = []
    for seed in range(50):
        rng = np.random.default_rng([items, seed])
        b = rng.normal(0, 1.5, items)
        _, found = estimate(respond(rng, abilities(rng), b, 8))
        r.append(np.corrcoef(b, found)[0, 1])
    assert np.mean(r) >= 0.98
    assert np.min(r) >= 0.94


def test_many_persons_with_five_answers_each_converge() -> None:
    # a test's usual shape, a third of LSAT-6: most of the spread of abilities is noise
    data = lsat6()
    data = data.select(models=range(0, 1000, 3))
    fit = fit_1pl(data, engine="map")
    apart = fit_conditional(data).b
    np.testing.assert_allclose(fit.b - fit.b.mean(), apart, atol=0.12)


def test_intervals_cover_the_truth_and_the_seed_fixes_the_draws() -> None:
    rng = np.random.default_rng(3)
    theta, b = abilities(rng), rng.normal(0, 1.5, 200)
    data = respond(rng, theta, b, 8)
    fit, again = fit_1pl(data, engine="map", seed=4), fit_1pl(data, engine="map", seed=4)
    np.testing.assert_array_equal(fit.draws.b, again.draws.b)
    low, high = np.quantile(fit.draws.b, [0.05, 0.95], axis=0)
    assert 0.85 < np.mean((low <= b) & (b <= high)) < 0.95
    np.testing.assert_allclose(fit.draws.b.mean(0), fit.b, atol=0.15)
    np.testing.assert_allclose(fit.draws.b.std(0), fit.b_sd, rtol=0.15)
    np.testing.assert_allclose(fit.draws.theta.sum(1), 0, atol=1e-9)
    assert fit.draws.b.shape == (1000, 200)
    assert np.abs(fit.theta - theta).max() < 4 * fit.theta_sd.max()


def test_guessing_is_taken_out_of_difficulties() -> None:
    rng = np.random.default_rng(3)
    b = rng.normal(0, 1.5, 200)
    g = np.where(np.arange(200) % 2, 0.25, 0.0)
    theta = abilities(rng)
    p = g + (1 - g) / (1 + np.exp(b - theta[:, None]))
    data = matrix_of(rng.binomial(64, p), 64)
    _, found = estimate(data, g)
    assert np.abs(found - b).max() < 1.5
    assert abs(np.mean((found - b)[g > 0])) < 0.1
    # left in, it makes the same items look easier
    assert np.mean((estimate(data)[1] - b)[g > 0]) < -0.3


@pytest.fixture(scope="module")
def both():
    rng = np.random.default_rng(6)
    n = np.where(rng.random((12, 40)) < 0.1, 0, 8)
    data = respond(rng, abilities(rng), rng.normal(0, 1.5, 40), n)
    return fit_1pl(data, engine="plain", seed=1), fit_1pl(data, engine="map", seed=1)


def test_map_and_posterior_means_agree(both) -> None:
    mcmc, mode = both
    assert np.corrcoef(mcmc.b, mode.b)[0, 1] >= 0.999
    assert np.corrcoef(mcmc.theta, mode.theta)[0, 1] >= 0.999
    np.testing.assert_allclose(mode.b, mcmc.b, atol=0.15)
    np.testing.assert_allclose(mode.theta_sd, mcmc.theta_sd, rtol=0.15)
    np.testing.assert_allclose(mode.b_sd, mcmc.b_sd, rtol=0.2)
    assert mode.s_b == pytest.approx(mcmc.s_b, rel=0.1)
    # joint draws, not only margins: the spread of differences between items
    for pair in ((0, 1), (5, 20)):
        spread = [np.ptp(fit.draws.b[:, pair], axis=1).std() for fit in both]
        assert spread[0] == pytest.approx(spread[1], rel=0.15)


def test_mcmc_passes_its_checks(both) -> None:
    named = {check.name: check for check in checks(both[0])}
    assert list(named) == [
        "model_information",
        "item_information",
        "model_inversion",
        "item_inversion",
        "max_rhat",
        "min_ess_bulk",
        "divergences",
    ]
    assert all(named[name].passed for name in ("max_rhat", "min_ess_bulk", "divergences"))
    assert both[0].draws.b.shape == (2000, 40)
    by_map = {check.name: check for check in checks(both[1])}
    assert by_map["max_rhat"].value is None
    assert by_map["max_rhat"].passed is None


RNG = np.random.default_rng(9)
ITEM, MODEL = np.arange(20), np.arange(12)[:, None]
SOME = RNG.integers(0, 9, (12, 20))
DISJOINT = np.kron(np.eye(2, dtype=int), np.full((3, 5), 8))
SPARSE = np.where(RNG.random((12, 20)) < 0.3, 0, 8)
TWO_CELLS = np.where((np.arange(12) == 4)[:, None] & (np.arange(20) > 1), 0, 8)
DEGENERATE = {
    "one model": (SOME[:1], 8),
    "two models": (SOME[:2], 8),
    "all wrong and all right columns": (
        np.where(ITEM < 3, 0, np.where(ITEM > 16, 8, SOME)), 8,
    ),
    "a constant column": (np.where(ITEM == 3, 4, SOME), 8),
    "a model that solves all, one that solves none": (
        np.concatenate([SOME, np.full((1, 20), 8), np.zeros((1, 20), int)]), 8,
    ),
    "duplicated models": (np.concatenate([SOME, SOME]), 8),
    "models on disjoint items": (np.minimum(RNG.integers(0, 9, (6, 10)), DISJOINT), DISJOINT),
    "30% missing": (np.minimum(SOME, SPARSE), SPARSE),
    "a model with two cells": (np.minimum(SOME, TWO_CELLS), TWO_CELLS),
    "an item without rollouts": (np.where(ITEM == 5, 0, SOME), np.where(ITEM == 5, 0, 8)),
    "a model without rollouts": (np.where(MODEL == 5, 0, SOME), np.where(MODEL == 5, 0, 8)),
    "two items": (SOME[:, :2], 8),
    "very many rollouts": (SOME * 1000, 8000),
}  # fmt: skip


@pytest.mark.parametrize("guessing", [0.0, 0.25])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_give_finite_answers(name: str, guessing: float) -> None:
    correct, n = DEGENERATE[name]
    fit = fit_1pl(matrix_of(correct, n), engine="map", guessing=guessing)
    for values in (fit.theta, fit.theta_sd, fit.b, fit.b_sd, *fit.draws):
        assert np.isfinite(values).all()
    assert fit.theta.sum() == pytest.approx(0, abs=1e-8)
    found = diagnose(fit)
    assert 0 <= found.ddm.plugin <= 1
    assert found.max_gap.q05 <= found.max_gap.value <= found.max_gap.q95


@pytest.mark.parametrize("right", [0, 8])
def test_all_right_or_all_wrong_has_no_scale(right: int) -> None:
    fit = fit_1pl(matrix_of(np.full((12, 20), right), 8), engine="map")
    assert np.isfinite(fit.b).all()
    assert (np.sign(fit.b) == (1 if right == 0 else -1)).all()
    assert all(check.passed in (False, None) for check in checks(fit)[:4])
    with pytest.raises(FitError, match="same difficulty"):
        diagnose(fit)


def test_one_item_has_no_scale() -> None:
    with pytest.raises(FitError, match="only one item"):
        diagnose(fit_1pl(matrix_of(SOME[:, :1], 8), engine="map"))


def test_no_rollout_at_all_is_told() -> None:
    with pytest.raises(FitError, match="holds a rollout"):
        fit_1pl(matrix_of(0 * SOME, 0), engine="map")


def test_an_item_without_rollouts_lies_at_the_mean_and_is_extreme() -> None:
    correct, n = DEGENERATE["an item without rollouts"]
    fit = fit_1pl(matrix_of(correct, n), engine="map")
    assert fit.b[5] == pytest.approx(fit.mu_b, abs=1e-3)
    assert fit.b_sd[5] >= fit.s_b * 0.99
    assert "i5" in diagnose(fit).scale.extreme


def test_equal_models_get_equal_abilities() -> None:
    theta, _ = estimate(matrix_of(*DEGENERATE["duplicated models"]))
    np.testing.assert_allclose(theta[:12], theta[12:], atol=1e-9)


@pytest.mark.parametrize("guessing", [-0.1, 1.0, float("nan"), [0.0, 0.1]])
def test_guessing_that_is_no_probability_is_refused(guessing: object) -> None:
    with pytest.raises(ValueError, match="guessing"):
        fit_1pl(matrix_of(SOME, 8), engine="map", guessing=guessing)  # type: ignore[arg-type]


def test_matrices_that_cannot_be_are_refused() -> None:
    for correct, n, words in (
        (np.array([[3]]), np.array([[2]]), "3 successes of 2"),
        (np.array([[-1]]), np.array([[2]]), "-1 successes"),
        (np.zeros((1, 2), int), np.zeros((1, 1), int), "shape"),
    ):
        with pytest.raises(InputError, match=words):
            ResponseMatrix(("m",), ("i",), correct, n)
    with pytest.raises(InputError, match="'m' stands twice"):
        ResponseMatrix(("m", "m"), ("i",), np.zeros((2, 1), int), np.zeros((2, 1), int))
    with pytest.raises(InputError, match="at least one"):
        ResponseMatrix((), ("i",), np.zeros((0, 1), int), np.zeros((0, 1), int))
