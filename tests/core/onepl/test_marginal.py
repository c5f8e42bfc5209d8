"""Marginal and conditional maximum likelihood against published fits and direct computation."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from benchfill import FitError, fit_conditional, fit_marginal
from support.lsat6 import lsat6
from support.simulated import matrix_of, respond

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill import MarginalFit, ResponseMatrix


def direct_log_likelihood(matrix: ResponseMatrix, fit: MarginalFit, guessing: float = 0.0) -> float:
    """By plain summation over 641 abilities."""
    theta = np.linspace(-8, 8, 641)
    weight = norm.pdf(theta) * (theta[1] - theta[0])
    p = guessing + (1 - guessing) * expit(fit.slope[:, None] * (theta - fit.b[:, None]))
    wrong = matrix.n - matrix.correct
    likelihood = np.exp(matrix.correct @ np.log(p) + wrong @ np.log1p(-p))
    return float(np.log(likelihood @ weight).sum())


def test_lsat6_with_a_common_slope() -> None:
    # R: summary(rasch(LSAT)), ltm 1.2-0
    fit = fit_marginal(lsat6(), model="1pl")
    assert fit.slope == pytest.approx([0.7551] * 5, abs=1e-4)
    assert fit.slope_se == pytest.approx([0.0694] * 5, abs=1e-4)
    assert fit.b == pytest.approx([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], abs=1e-4)
    assert fit.b_se == pytest.approx([0.3266, 0.1422, 0.0977, 0.1691, 0.2510], abs=1e-4)
    assert fit.log_likelihood == pytest.approx(-2466.938, abs=5e-4)
    assert fit.parameters == 6
    assert fit.aic == pytest.approx(4945.875, abs=1e-3)
    assert fit.bic() == pytest.approx(4975.322, abs=1e-3)
    assert fit.bic(5000) - fit.bic() == pytest.approx(6 * np.log(5))


def test_lsat6_with_slope_one() -> None:
    # R: summary(rasch(LSAT, constraint = cbind(6, 1)))
    fit = fit_marginal(lsat6(), model="rasch")
    assert fit.b == pytest.approx([-2.8720, -1.0630, -0.2576, -1.3881, -2.2188], abs=1e-4)
    assert fit.b_se == pytest.approx([0.1287, 0.0821, 0.0766, 0.0865, 0.1048], abs=1e-4)
    assert fit.log_likelihood == pytest.approx(-2473.0539, abs=1e-4)
    assert (fit.aic, fit.bic()) == pytest.approx((4956.108, 4980.646), abs=1e-3)


def test_lsat6_with_a_slope_for_each_item() -> None:
    # R: summary(ltm(LSAT ~ z1, IRT.param = TRUE)), ltm 1.2-0; it stops at a gradient of 0.024
    fit = fit_marginal(lsat6(), model="2pl")
    assert fit.slope == pytest.approx([0.8254, 0.7229, 0.8905, 0.6886, 0.6575], abs=1e-3)
    assert fit.slope_se == pytest.approx([0.2581, 0.1867, 0.2326, 0.1852, 0.2100], abs=1e-3)
    assert fit.b == pytest.approx([-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], abs=3e-3)
    assert fit.b_se == pytest.approx([0.8669, 0.3073, 0.0997, 0.4341, 0.8700], abs=3e-3)
    assert fit.log_likelihood == pytest.approx(-2466.653, abs=5e-4)
    assert (fit.aic, fit.bic()) == pytest.approx((4953.307, 5002.384), abs=1e-3)
    assert not fit.at_bound.any()


def test_lsat6_conditional() -> None:
    # eRm 1.0-2: RM(LSAT, sum0 = TRUE); see tests/studies/erm_check.py
    fit = fit_conditional(lsat6())
    assert fit.b == pytest.approx([-1.25613, 0.47491, 1.23598, 0.16841, -0.62317], abs=1e-5)
    assert fit.b_se == pytest.approx([0.104406, 0.069917, 0.068778, 0.072619, 0.085917], abs=1e-5)
    assert fit.log_likelihood == pytest.approx(-1091.56969, abs=1e-5)


@pytest.mark.parametrize("guessing", [0.0, 0.25])
@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_counts_missing_cells_and_guessing(model: str, guessing: float) -> None:
    rng = np.random.default_rng(3)
    n = rng.integers(0, 4, (60, 6))
    matrix = respond(rng, rng.normal(0, 1.2, 60), np.linspace(-1, 1, 6), n, guessing)
    fit = fit_marginal(matrix, model=model, guessing=guessing)  # type: ignore[arg-type]
    # the grid of abilities is fine enough
    assert fit.log_likelihood == pytest.approx(direct_log_likelihood(matrix, fit, guessing))
    # a maximum: nowhere near is the likelihood higher
    for item, size in itertools.product(range(6), (-0.02, 0.02)):
        for changed in ("b", "slope"):
            moved = {"b": fit.b.copy(), "slope": fit.slope.copy()}
            moved[changed][item if model == "2pl" or changed == "b" else slice(None)] += size
            near = replace(fit, **moved)
            assert direct_log_likelihood(matrix, near, guessing) < fit.log_likelihood
    assert np.isfinite(fit.b_se).all()


@pytest.mark.parametrize("guessing", [0.0, 0.2])
def test_standard_errors_are_the_inverse_curvature(guessing: float) -> None:
    rng = np.random.default_rng(5)
    matrix = respond(rng, rng.normal(0, 1, 80), np.array([-1, -0.4, 0.3, 0.9]), 2, guessing)
    fit = fit_marginal(matrix, model="1pl", guessing=guessing)
    point = np.append(fit.b, fit.slope[0])

    def value(x: NDArray[np.float64]) -> float:
        moved = replace(fit, b=x[:4], slope=np.full(4, x[4]))
        return direct_log_likelihood(matrix, moved, guessing)

    steps = 1e-3 * np.eye(5)
    hessian = np.array(
        [
            [
                (value(point + s + t) - value(point + s - t) - value(point - s + t)
                 + value(point - s - t)) / 4e-6
                for t in steps
            ]
            for s in steps
        ]
    )  # fmt: skip
    expected = np.sqrt(np.diag(np.linalg.inv(-hessian)))
    assert np.append(fit.b_se, fit.slope_se[0]) == pytest.approx(expected, rel=1e-4)


def test_merged_items_and_models_change_nothing() -> None:
    """Items with equal totals share a row: estimates and errors are those of single items."""
    rng = np.random.default_rng(7)
    matrix = respond(rng, rng.normal(0, 1, 30), np.repeat([-0.5, 0.5], 10), 1)
    merged = fit_marginal(matrix, model="1pl")
    # a guessing probability too small to matter keeps items with different columns apart
    apart = fit_marginal(matrix, model="1pl", guessing=1e-12)
    assert len(set(merged.b.tolist())) < 20
    assert merged.b == pytest.approx(apart.b, abs=1e-6)
    assert merged.b_se == pytest.approx(apart.b_se, rel=1e-6)
    assert merged.slope_se == pytest.approx(apart.slope_se, rel=1e-6)
    some = respond(rng, rng.normal(0, 1, 80), np.array([-0.5, 0.0, 0.5]), 6)
    copied = matrix_of(np.concatenate([some.correct, some.correct[:, :1]], axis=1), 6)
    two = fit_marginal(copied, model="2pl", guessing=[0.0, 0.0, 0.0, 1e-12])
    assert two.b[3] == pytest.approx(two.b[0], abs=1e-6)
    assert two.b_se[3] == pytest.approx(two.b_se[0], rel=1e-5)
    merged_two = fit_marginal(copied, model="2pl")
    assert merged_two.b == pytest.approx(two.b, abs=1e-6)
    assert merged_two.b_se == pytest.approx(two.b_se, rel=1e-5)


def test_extreme_items_are_infinite_and_cost_no_likelihood() -> None:
    rng = np.random.default_rng(1)
    inner = respond(rng, rng.normal(0, 1, 40), np.array([-0.5, 0.0, 0.5]), 1)
    ends = np.repeat([[1, 0]], 40, axis=0)
    whole = matrix_of(np.concatenate([inner.correct, ends], axis=1), 1)
    for model in ("rasch", "1pl", "2pl"):
        few = fit_marginal(inner, model=model)  # type: ignore[arg-type]
        fit = fit_marginal(whole, model=model)  # type: ignore[arg-type]
        assert fit.log_likelihood == pytest.approx(few.log_likelihood)
        assert fit.b[3:].tolist() == [-np.inf, np.inf]
        assert np.isnan(fit.b_se[3:]).all()
        assert fit.b[:3] == pytest.approx(few.b)
    conditional = fit_conditional(whole)
    assert conditional.b[3:].tolist() == [-np.inf, np.inf]
    assert conditional.b[:3] == pytest.approx(fit_conditional(inner).b)
    # someone who guesses solves a quarter even of an item beyond all
    guessed = fit_marginal(whole, model="rasch", guessing=0.25)
    alone = fit_marginal(inner, model="rasch", guessing=0.25)
    assert guessed.log_likelihood - alone.log_likelihood == pytest.approx(40 * np.log(0.75))


def test_many_items_and_few_models_as_benchmarks_have_them() -> None:
    rng = np.random.default_rng(2)
    theta, b = rng.normal(0, 1.5, 10), rng.normal(0, 2, 200)
    matrix = respond(rng, theta, b, 4)
    fit = fit_marginal(matrix, model="1pl")
    inner = np.isfinite(fit.b)
    assert np.corrcoef(fit.b[inner], b[inner])[0, 1] > 0.97
    two = fit_marginal(matrix, model="2pl", standard_errors=False)
    assert two.log_likelihood > fit.log_likelihood
    assert (two.parameters, fit.parameters) == (400, 201)
    assert np.isnan(two.b_se).all()
    # with ten models some items are step functions, and are said to be
    assert 0 < two.at_bound.sum() < 150
    assert np.abs(two.slope[np.isfinite(two.slope)]).max() <= 10


def test_conditional_fit_of_counts_is_that_of_single_rollouts() -> None:
    """Two rollouts an item are two items of one difficulty, with missing cells too."""
    rng = np.random.default_rng(4)
    n = np.where(rng.random((50, 4)) < 0.2, 0, 2)
    counts = respond(rng, rng.normal(0, 1, 50), np.linspace(-1, 1, 4), n)
    fit = fit_conditional(counts)
    b, total = fit.b, 0.0
    for y, tried in zip(counts.correct, counts.n, strict=True):
        item = np.repeat(np.arange(4), tried)
        patterns = np.array(list(itertools.product((0, 1), repeat=len(item)))).reshape(
            -1, len(item)
        )
        alike = patterns[patterns.sum(1) == y.sum()]
        total += -y @ b - np.log(np.exp(-alike @ b[item]).sum())
    assert fit.log_likelihood == pytest.approx(total)
    assert fit.b.sum() == pytest.approx(0, abs=1e-9)


def test_what_cannot_be_fitted_says_so() -> None:
    with pytest.raises(FitError, match="at least two models"):
        fit_marginal(matrix_of([[1, 0, 1]], 1))
    with pytest.raises(FitError, match="nothing to fit"):
        fit_marginal(matrix_of([[1, 0], [1, 0]], 1))
    with pytest.raises(ValueError, match="guessing"):
        fit_marginal(lsat6(), guessing=1.0)
    with pytest.raises(FitError, match="two items"):
        fit_conditional(matrix_of([[1, 0], [0, 0]], 1))
    apart = matrix_of(
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]],
    )
    with pytest.raises(FitError, match="common scale"):
        fit_conditional(apart)
