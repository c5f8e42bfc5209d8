"""Infit, outfit, item-rest correlations and what chance does to them."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill import fit_1pl
from benchfill.check.cells import Cells, Point
from benchfill.check.reference import (
    FittedModel,
    Simulated,
    discoveries,
    family_chances,
    item_chances,
    pair_products,
)
from benchfill.check.residuals import Residuals, RestScores
from support.simulated import abilities, matrix_of, respond


def test_mean_squares_by_hand() -> None:
    theta, b = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 0.5])
    right, n = np.array([[1.0, 2, 4], [0, 0, 3]]), np.array([[4.0, 4, 4], [0, 2, 4]])
    found = Residuals.of(Cells(right, n - right, np.array([0.0, 0.25])), theta, b)
    expected = []
    for i, g in ((0, 0.0), (1, 0.25)):
        p = g + (1 - g) / (1 + np.exp(b[i] - theta))
        seen = n[i] > 0
        square, variance = (right[i] - n[i] * p) ** 2, n[i] * p * (1 - p)
        expected.append(
            (square[seen].sum() / variance[seen].sum(), (square / variance)[seen].mean())
            if seen.all()
            else (square[1:].sum() / variance[1:].sum(), (square[1:] / variance[1:]).mean())
        )
    assert found.mean_squares(1) == pytest.approx(np.transpose(expected))
    none = Residuals.of(Cells(0 * right, 0 * n, np.zeros(2)), theta, b)
    assert np.isnan(none.mean_squares(0)).all()


def test_item_rest_correlation_is_pearsons() -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(0, 4, (9, 6))
    matrix = matrix_of(rng.binomial(n, 0.6), n)
    cells = Cells.of(matrix, np.zeros(6))
    found = RestScores.of(cells).correlations(cells, np.arange(6))
    for i in range(6):
        seen = n[:, i] > 0
        others = [k for k in range(6) if k != i]
        rest = matrix.correct[:, others].sum(1) / n[:, others].sum(1)
        rate = matrix.correct[seen, i] / n[seen, i]
        assert found[i] == pytest.approx(np.corrcoef(rate, rest[seen])[0, 1])


@pytest.mark.parametrize(
    "correct",
    [
        [[1, 1, 0], [1, 0, 0], [1, 0, 1]],  # the first item is constant
        [[1, 1], [0, 0]],  # two models
        [[1, 0, 1], [1, 0, 1], [0, 0, 1]],
    ],
)
def test_a_constant_has_no_correlation(correct: list[list[int]]) -> None:
    matrix = matrix_of(correct, 1)
    cells = Cells.of(matrix, np.zeros(len(matrix.items)))
    found = RestScores.of(cells).correlations(cells, np.arange(len(matrix.items)))
    for i, column in enumerate(matrix.correct.T):
        if len(set(column.tolist())) == 1 or len(column) < 3:
            assert np.isnan(found[i])


def test_p_values_are_uniform_when_the_model_holds() -> None:
    rng = np.random.default_rng(2)
    matrix = respond(rng, abilities(rng, 12), rng.normal(0, 1, 300), 2)
    fit = fit_1pl(matrix, engine="map")
    at = Point(fit.theta, 1.0, fit.mu_b, fit.s_b, 0.0)
    model = FittedModel(Cells.of(matrix, fit.guessing), at)
    simulated = Simulated.of(model, 100, rng).items
    figures = model.item_figures(model.cells, model.residuals, model.every)
    chances = item_chances(model, figures, simulated, rng)
    assert not chances.misfit_found.any()
    assert not chances.inverted_found.any()
    known = chances.inverted[~np.isnan(chances.inverted)]
    assert np.mean(known < 0.1) == pytest.approx(0.1, abs=0.06)
    assert np.mean(known < 0.5) == pytest.approx(0.5, abs=0.09)


def test_small_p_values_are_made_finer() -> None:
    rng = np.random.default_rng(3)
    matrix = respond(rng, abilities(rng, 20), rng.normal(0, 0.5, 400), 2)
    flipped = matrix.correct.copy()
    flipped[:, 7] = 2 - flipped[:, 7]
    fit = fit_1pl(matrix_of(flipped, 2), engine="map")
    at = Point(fit.theta, 1.0, fit.mu_b, fit.s_b, 0.0)
    model = FittedModel(Cells.of(fit.responses, fit.guessing), at)
    figures = model.item_figures(model.cells, model.residuals, model.every)
    chances = item_chances(model, figures, Simulated.of(model, 20, rng).items, rng)
    # 20 simulations leave 1/21, which no false discovery rate of 400 items would let pass
    assert chances.inverted[7] < 1e-3
    assert chances.inverted_found[7]
    assert chances.inverted_found.sum() <= 2


def test_pair_products_by_hand_and_without_common_items() -> None:
    theta, b = np.array([0.0, 1.0, -1.0]), np.array([0.0, 1.0])
    n = np.array([[1.0, 1, 0], [1, 0, 1]])
    right = np.array([[1.0, 0, 0], [0, 0, 1]])
    found = pair_products(Residuals.of(Cells(right, n - right, np.zeros(2)), theta, b))
    p = 1 / (1 + np.exp(b[:, None] - theta))
    r, v = right - n * p, n * p * (1 - p)
    assert found[0] == pytest.approx(r[0, 0] * r[0, 1] / np.sqrt(v[0, 0] * v[0, 1]))
    assert found[1] == pytest.approx(r[1, 0] * r[1, 2] / np.sqrt(v[1, 0] * v[1, 2]))
    assert np.isnan(found[2])


def test_chance_of_the_largest_of_a_family() -> None:
    rng = np.random.default_rng(4)
    simulated = rng.normal(5, 2, (999, 50))
    observed = np.full(50, 5.0)
    observed[3], observed[4] = 20, np.nan
    z, p = family_chances(observed, simulated)
    assert z[3] == pytest.approx(7.5, abs=0.6)
    assert p[3] == pytest.approx(1 / 1000)
    assert p[0] == pytest.approx(1)
    assert np.isnan(p[4])


def test_discoveries_leave_unknown_ones_out() -> None:
    p = np.array([0.001, np.nan, 0.04, 0.9])
    assert discoveries(p).tolist() == [True, False, False, False]
    assert not discoveries(np.array([np.nan])).any()
