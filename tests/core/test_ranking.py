"""Scores, ranks and pairs on the benchmark and under a target."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from benchfill import (
    Beta,
    DifficultyScale,
    Empirical,
    InputError,
    ResponseMatrix,
    Uniform,
    fit_1pl,
    rank_models,
    read_responses,
    target_weights,
)
from benchfill.ranking.bound import lipschitz, rollout_limit, slopes
from benchfill.ranking.pairs import MOST_WORK, chosen_pairs
from benchfill.ranking.resample import Bootstrap, Rows
from benchfill.weights import shared_places
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill import Fit1PL, Ranking
    from benchfill.ranking import Pair
    from benchfill.targets import Target

TARGETS: tuple[Target, ...] = (Uniform(), Beta(2, 5), Empirical(np.array([0.9, 0.2, 0.2, 0.41])))
PLACES = st.lists(st.integers(0, 60).map(lambda at: at / 60), min_size=1, max_size=12)


def fit_of(seed: int, models: int = 6, items: int = 30, k: int = 4) -> Fit1PL:
    rng = np.random.default_rng(seed)
    return fit_1pl(respond(rng, abilities(rng, models), rng.normal(0, 1.5, items), k), engine="map")


def crossing(hard: int = 12, easy: int = 120, k: int = 40) -> Fit1PL:
    """`steady` is worse on the many easy items and far better on the few hard ones."""
    rng = np.random.default_rng(5)
    rates = {
        "brittle": (0.97, 0.02),
        "steady": (0.84, 0.45),
        "weak": (0.75, 0.10),
        "strong": (0.98, 0.60),
    }
    p = np.array([[high] * easy + [low] * hard for high, low in rates.values()])
    items = tuple(f"i{i}" for i in range(easy + hard))
    y = rng.binomial(k, p)
    return fit_1pl(ResponseMatrix(tuple(rates), items, y, np.full(y.shape, k)), engine="map")


def pair_of(ranking: Ranking, *models: str) -> Pair:
    return next(p for p in ranking.likeliest_flips if {p.ahead, p.behind} == set(models))


# weights


@settings(max_examples=40, deadline=None)
@given(PLACES, st.sampled_from(TARGETS))
def test_weights_are_the_target_nearest_to_each_item(z: list[float], target: Target) -> None:
    places = np.array(z)
    weights = target_weights(places, target)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= -1e-12).all()
    for place in set(z):
        shares = weights[places == place]
        np.testing.assert_allclose(shares, shares[0])
    # brute force: each of many equally likely points goes to the nearest place
    points = target.quantile((np.arange(4000) + 0.5) / 4000)
    distinct = np.unique(places)
    nearest = np.abs(points[:, None] - distinct).argmin(1)
    mass = np.bincount(nearest, minlength=len(distinct)) / len(points)
    shared = np.array([weights[places == place].sum() for place in distinct])
    if not isinstance(target, Empirical):  # whose points may lie half way, give or take a rounding
        np.testing.assert_allclose(shared, mass, atol=2e-3)


def test_points_of_a_list_go_to_the_nearest_item_and_to_the_easier_one_half_way() -> None:
    target = Empirical(np.array([0.0, 0.25, 0.5, 1.0]))
    np.testing.assert_allclose(target_weights(np.array([1.0, 0.0]), target), [0.25, 0.75])


def test_items_outside_the_scale_get_what_is_nearest_to_them() -> None:
    weights = target_weights(np.array([-0.4, 0.2, 1.6]), Uniform())
    np.testing.assert_allclose(weights, [0, 0.9, 0.1])


# scores


def test_scores_are_weighted_means_of_observed_rates() -> None:
    fit = fit_of(1)
    rates = fit.responses.correct / fit.responses.n
    weights = target_weights(DifficultyScale.of(fit.b).to_z(fit.b), Beta(2, 5))
    ranking = rank_models(fit, target=Beta(2, 5), replicates=100)
    for one in ranking.scores:
        j = fit.responses.models.index(one.model)
        assert one.benchmark.score.value == pytest.approx(rates[j].mean())
        assert one.target.score.value == pytest.approx(rates[j] @ weights)
        assert one.benchmark.score.q05 <= one.benchmark.score.value <= one.benchmark.score.q95
        assert one.benchmark.rank_q05 <= one.benchmark.rank <= one.benchmark.rank_q95
    assert [one.benchmark.rank for one in ranking.scores] == list(range(1, 7))
    assert ranking.effective_items == pytest.approx(1 / (weights**2).sum())


def test_a_target_like_the_benchmark_itself_changes_nothing() -> None:
    fit = fit_of(2)
    z = DifficultyScale.of(fit.b).to_z(fit.b)
    ranking = rank_models(fit, target=Empirical(z), replicates=100)
    assert ranking.w1 == pytest.approx(0, abs=1e-12)
    for one in ranking.scores:
        assert one.target.score.value == pytest.approx(one.benchmark.score.value)


def test_models_of_crossing_curves_change_places_under_the_target() -> None:
    ranking = rank_models(crossing())
    pair = pair_of(ranking, "brittle", "steady")
    assert (pair.ahead, pair.order) == ("brittle", "opposite")
    assert pair.p_flip > 0.9
    assert pair.d_benchmark.q05 > 0 > pair.d_target.q95
    ranks = {one.model: (one.benchmark.rank, one.target.rank) for one in ranking.scores}
    assert ranks["brittle"] == (2, 3)
    assert ranks["steady"] == (3, 2)
    assert pair_of(ranking, "weak", "strong").order == "same"
    assert ranking.shares is not None
    assert ranking.shares.flipped_by_bootstrap == pytest.approx(1 / 6)
    assert ranking.likeliest_flips[0] == pair


def test_the_fitted_model_itself_flips_nobody() -> None:
    """Responses that are as the fit expects them, give or take a rounding, change no order."""
    rng = np.random.default_rng(3)
    theta, b = abilities(rng, 8), rng.normal(0, 1.5, 40)
    n = np.full((8, 40), 1000)
    expected = np.rint(n * expit(theta[:, None] - b)).astype(np.int64)
    for target in TARGETS:
        fit = fit_1pl(matrix_of(expected, n), engine="map")
        ranking = rank_models(fit, target=target, replicates=100)
        assert ranking.shares is not None
        assert ranking.shares.flipped_as_observed == 0


def test_models_with_the_same_answers_are_tied_and_never_flip() -> None:
    rng = np.random.default_rng(4)
    y = respond(rng, abilities(rng, 3), rng.normal(0, 1.5, 25), 1).correct
    ranking = rank_models(fit_1pl(matrix_of(np.vstack([y, y[:1]]), 1), engine="map"))
    pair = pair_of(ranking, "m0", "m3")
    assert pair.p_flip == 0
    assert pair.order == "open"
    assert not pair.stable_by_bound
    assert pair.d_target.value == pair.d_target.q05 == pair.d_target.q95 == 0
    ranks = {one.model: one.target.rank for one in ranking.scores}
    assert ranks["m0"] == ranks["m3"]


def test_the_same_seed_gives_the_same_ranking() -> None:
    fit = fit_of(6)
    one = rank_models(fit, replicates=100, seed=3)
    assert rank_models(fit, replicates=100, seed=3) == one
    assert rank_models(fit, replicates=100, seed=4) != one


# bootstrap


def test_redrawn_rollouts_vary_as_drawn_ones_do() -> None:
    """The normal draw of all rollouts at once against rollouts drawn one by one."""
    rng = np.random.default_rng(0)
    rate, n, z = rng.random(5), 6, np.array([0.0, 0.1, 0.5, 0.5, 1.0])
    rows = Rows(rate[None], (rate * (1 - rate) / n)[None], None)
    drawn = Bootstrap(z, Uniform(), 10_000, 1).means(rows, 0)[:, 0]
    picked = rng.integers(0, 5, (2500, 5))
    brute = np.empty((2, len(picked)))
    for s, items in enumerate(picked):
        answers = rng.binomial(n, rate[items]) / n
        brute[:, s] = answers.mean(), answers @ target_weights(z[items], Uniform())
    np.testing.assert_allclose(drawn.mean(1), brute.mean(1), atol=0.015)
    np.testing.assert_allclose(np.cov(drawn), np.cov(brute), atol=0.004)


def test_without_repeated_rollouts_only_items_are_drawn() -> None:
    y = np.array([[1, 0, 1, 1], [0, 0, 1, 0]])
    ranking = rank_models(fit_1pl(matrix_of(y, 1), engine="map"), replicates=500)
    scores = {one.benchmark.score.q05 for one in ranking.scores}
    assert all(4 * score == round(4 * score) for score in scores)


# bound


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(-4, 4), min_size=2, max_size=2),
    st.lists(st.floats(-4, 4), min_size=2, max_size=8, unique=True),
    st.sampled_from(TARGETS),
    st.sampled_from([0.0, 0.25]),
)
def test_the_bound_holds_for_fitted_curves(
    theta: list[float], b: list[float], target: Target, guessing: float
) -> None:
    base = fit_of(7, models=2, items=len(b))
    places = np.array(b)
    if np.ptp(places) < 1e-3:
        return
    fit = dataclasses.replace(
        base, theta=np.array(theta), b=places, guessing=np.full(len(b), guessing)
    )
    scale = DifficultyScale.of(places)

    def difference(z: np.ndarray) -> np.ndarray:
        one, other = (expit(a - scale.to_b(z)) for a in theta)
        return np.asarray((1 - guessing) * (one - other))

    one, other = np.array([0]), np.array([1])
    steepest = float(lipschitz(slopes(fit), one, other, fit)[0])
    z = scale.to_z(places)
    dense = np.linspace(0, 1, 5001)
    measured = np.abs(np.diff(difference(dense)) / np.diff(dense)).max()
    assert measured <= steepest + 1e-9
    assert steepest <= measured * 1.01 + 0.02
    under_target = difference(target.quantile((np.arange(20_000) + 0.5) / 20_000)).mean()
    moved = abs(difference(z).mean() - under_target)
    assert moved <= steepest * float(target.wasserstein(np.sort(z))) + 1e-4


def test_hoeffding_is_the_papers_when_all_cells_have_the_same_rollouts() -> None:
    items, k, delta = 50, 4, 0.01
    spread = np.array([items * (1 / k + 1 / k) / items**2])
    expected = np.sqrt(np.log(2 / delta) / (items * k))
    assert rollout_limit(spread, delta)[0] == pytest.approx(expected)


def test_hoeffding_keeps_its_promise_with_unequal_rollouts() -> None:
    rng = np.random.default_rng(8)
    n = rng.integers(1, 9, (2, 20))
    p = rng.random((2, 20))
    limit = rollout_limit(np.array([(1 / n).sum() / 20**2]), 0.1)[0]
    rates = rng.binomial(n, p, (20_000, 2, 20)) / n
    error = (rates[:, 0] - rates[:, 1]).mean(1) - (p[0] - p[1]).mean()
    assert np.mean(np.abs(error) >= limit) <= 0.1


# missing cells and many models


def gappy(seed: int = 9) -> Fit1PL:
    rng = np.random.default_rng(seed)
    n = np.where(rng.random((6, 40)) < 0.3, 0, rng.integers(1, 5, (6, 40)))
    return fit_1pl(respond(rng, abilities(rng, 6), rng.normal(0, 1.5, 40), n), engine="map")


def test_a_pair_is_compared_on_its_common_items() -> None:
    fit = gappy()
    data = fit.responses
    weights = target_weights(DifficultyScale.of(fit.b).to_z(fit.b), Uniform())
    ranking = rank_models(fit, replicates=200)
    assert ranking.pairs == ranking.pairs_compared == len(ranking.likeliest_flips) == 15
    for pair in ranking.likeliest_flips:
        j, k = (data.models.index(name) for name in (pair.ahead, pair.behind))
        there = (data.n[j] > 0) & (data.n[k] > 0)
        d = data.correct[j, there] / data.n[j, there] - data.correct[k, there] / data.n[k, there]
        assert pair.common_items == there.sum()
        assert pair.d_benchmark.value == pytest.approx(d.mean())
        assert pair.d_target.value == pytest.approx(d @ weights[there] / weights[there].sum())
        z = np.sort(DifficultyScale.of(fit.b).to_z(fit.b)[there])
        assert pair.bound.w1 == pytest.approx(float(Uniform().wasserstein(z)))
        spread = (1 / data.n[j, there] + 1 / data.n[k, there]).sum() / there.sum() ** 2
        assert pair.bound.noise == pytest.approx(np.sqrt(np.log(2 * 15 / 0.05) * spread / 2))


def test_one_missing_cell_changes_little() -> None:
    """Both ways of comparing pairs, by scores and by common items, agree where they meet."""
    fit = fit_of(10, k=1)
    n = fit.responses.n.copy()
    n[5, 3] = 0
    y = np.where(n > 0, fit.responses.correct, 0)
    whole = rank_models(fit)
    holed = rank_models(fit_1pl(matrix_of(y, n), engine="map"))
    for pair in whole.likeliest_flips:
        if "m5" not in {pair.ahead, pair.behind}:
            other = pair_of(holed, pair.ahead, pair.behind)
            assert other.d_benchmark.value == pytest.approx(pair.d_benchmark.value)
            assert other.d_benchmark.q05 == pytest.approx(pair.d_benchmark.q05, abs=0.02)
            assert other.p_flip == pytest.approx(pair.p_flip, abs=0.1)


def test_models_that_share_no_item_are_not_compared_and_those_without_answers_not_scored() -> None:
    rng = np.random.default_rng(11)
    n = np.full((6, 20), 2)
    n[0, :10], n[1, 10:], n[5] = 0, 0, 0
    ranking = rank_models(
        fit_1pl(respond(rng, abilities(rng, 6), rng.normal(0, 1, 20), n), engine="map")
    )
    assert ranking.unscored == ("m5",)
    assert len(ranking.scores) == 5
    assert (ranking.pairs, ranking.pairs_without_common_items, ranking.pairs_compared) == (10, 1, 9)
    assert {one.items for one in ranking.scores} == {10, 20}


def test_a_model_with_two_cells_has_an_interval() -> None:
    rng = np.random.default_rng(12)
    n = np.ones((5, 30), dtype=int)
    n[2, 2:] = 0
    ranking = rank_models(
        fit_1pl(respond(rng, abilities(rng, 5), rng.normal(0, 1, 30), n), engine="map")
    )
    (lone,) = [one for one in ranking.scores if one.items == 2]
    assert 0 <= lone.target.score.q05 <= lone.target.score.q95 <= 1
    assert all(np.isfinite(pair.d_target.q05) for pair in ranking.likeliest_flips)


def test_one_model_has_scores_and_no_pairs() -> None:
    rng = np.random.default_rng(13)
    ranking = rank_models(fit_1pl(respond(rng, np.zeros(1), rng.normal(0, 1, 9), 4), engine="map"))
    assert len(ranking.scores) == 1
    assert ranking.shares is None
    assert ranking.likeliest_flips == ()


def test_many_pairs_are_cut_to_neighbours_on_the_leaderboard() -> None:
    ranked = np.arange(100)[::-1]
    first, second, apart = chosen_pairs(ranked, 0)
    assert (len(first), apart) == (4950, 99)
    first, second, apart = chosen_pairs(ranked, MOST_WORK // 300)
    assert apart == 3
    assert len(first) == 99 + 98 + 97
    assert set((first - second).tolist()) == {1, 2, 3}


@pytest.mark.parametrize("replicates", [99, 100_001, -1])
def test_a_number_of_replicates_out_of_range_is_refused(replicates: int) -> None:
    with pytest.raises(InputError, match="replicates"):
        rank_models(fit_of(1), replicates=replicates)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, float("nan")])
def test_a_delta_that_is_no_probability_is_refused(delta: float) -> None:
    with pytest.raises(InputError, match="probability"):
        rank_models(fit_of(1), delta=delta)


@pytest.mark.parametrize(
    ("name", "models", "stable"),
    [("evalperf_100rollouts/responses.csv", 34, 0.45), ("swebench_pro/matrix.csv", 9, 0.89)],
)
def test_real_matrices(shared_data: Path, name: str, models: int, stable: float) -> None:
    ranking = rank_models(fit_1pl(read_responses(shared_data / name), engine="map"))
    assert len(ranking.scores) == models
    assert ranking.shares is not None
    assert ranking.shares.stable_by_bootstrap == pytest.approx(stable, abs=0.06)
    assert ranking.shares.stable_by_bound <= ranking.shares.stable_by_bootstrap


def test_sampled_items_with_the_same_data_share_their_place() -> None:
    rng = np.random.default_rng(14)
    y = respond(rng, abilities(rng, 3), rng.normal(0, 1, 12), 1).correct
    fit = fit_1pl(matrix_of(y, 1), engine="map")
    noisy = dataclasses.replace(fit, engine="plain", b=fit.b + rng.normal(0, 0.01, 12))
    scale = DifficultyScale.of(noisy.b)
    places = shared_places(noisy, scale)
    totals = y.sum(0)
    assert len(np.unique(places)) == len(np.unique(totals))
    for total in totals:
        mean = scale.to_z(noisy.b)[totals == total].mean()
        np.testing.assert_allclose(places[totals == total], mean)
