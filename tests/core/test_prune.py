"""Pruning to a target, and the agreement with reference scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linear_sum_assignment

from benchfill import (
    Beta,
    DifficultyScale,
    Empirical,
    InputError,
    Uniform,
    diagnose,
    fit_1pl,
    prune,
    read_responses,
    read_scores,
    reference_agreement,
)
from benchfill.measure import grid_mismatch
from benchfill.quantile_matching import (
    greedy_items,
    optimal_items,
    random_items,
    target_quantiles,
)
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchfill import Fit1PL
    from benchfill.pruning import PruningMethod

TARGETS = (Uniform(), Beta(2, 5), Empirical(np.array([0.1, 0.1, 0.7, 0.9])))
# few distinct values make ties, which is where a matching goes wrong
COARSE = st.lists(st.integers(0, 9).map(lambda one: one / 9), min_size=1, max_size=9)
FINE = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=9)


@st.composite
def matchings(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Items, and no more places than there are items."""
    values = st.one_of(COARSE, FINE)
    z = np.array(draw(values))
    places = np.array(sorted(draw(values)[: len(z)]))
    return z, places


def fit_of(seed: int, items: int = 60, k: int = 8, models: int = 8) -> Fit1PL:
    rng = np.random.default_rng(seed)
    return fit_1pl(respond(rng, abilities(rng, models), rng.normal(0, 1, items), k), engine="map")


# choosing


@settings(deadline=None)
@given(matchings())
def test_the_optimal_choice_is_the_best_assignment(
    matching: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    z, places = matching
    kept = optimal_items(z, places)
    assert len(set(kept.tolist())) == len(places)
    assert (np.diff(z[kept]) >= 0).all()
    cost = np.abs(z[:, None] - places)
    least = cost[linear_sum_assignment(cost)].sum()
    assert np.abs(z[kept] - places).sum() == pytest.approx(least, abs=1e-12)


@settings(deadline=None)
@given(matchings())
def test_the_greedy_choice_takes_the_nearest_item_left_place_by_place(
    matching: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    z, places = matching
    kept = greedy_items(z, places)
    assert len(set(kept.tolist())) == len(places)
    free = set(range(len(z)))
    for item, place in zip(kept.tolist(), places, strict=True):
        nearest = min(abs(z[i] - place) for i in free)
        assert abs(z[item] - place) == pytest.approx(nearest, abs=1e-15)
        free.remove(item)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.data(), st.sampled_from(TARGETS))
def test_optimal_is_never_farther_from_the_quantiles_than_greedy(
    seed: int, items: int, data: st.DataObject, target: Uniform
) -> None:
    z = np.random.default_rng(seed).beta(2, 3, items)
    places = target_quantiles(data.draw(st.integers(1, items)), target)
    optimal, greedy = (
        grid_mismatch(np.sort(z[choose(z, places)]), target)
        for choose in (optimal_items, greedy_items)
    )
    assert optimal <= greedy + 1e-12


def test_many_items_are_matched_as_plain_dynamic_programming_does() -> None:
    rng = np.random.default_rng(0)
    z, places = np.sort(rng.beta(2, 6, 3000)), target_quantiles(700, Uniform())
    cost = np.zeros(len(z) + 1)  # of the first i items, no place matched
    for place in places:
        last = cost
        cost = np.full(len(z) + 1, np.inf)
        cost[1:] = last[:-1] + np.abs(z - place)
        cost = np.minimum.accumulate(cost)
    assert np.abs(z[optimal_items(z, places)] - places).sum() == pytest.approx(cost[-1])


def test_random_prunings_are_distinct_items_by_seed() -> None:
    trials = random_items(20, 7, 3)
    assert len(trials) == 30
    assert all(len(set(one.tolist())) == 7 for one in trials)
    assert len({tuple(one) for one in trials}) > 20
    np.testing.assert_array_equal(trials, random_items(20, 7, 3))


# pruning


@pytest.mark.parametrize(
    ("method", "target"), [("optimal", TARGETS[0]), ("greedy", TARGETS[0]), ("optimal", TARGETS[2])]
)
def test_kept_items_stay_on_the_scale_of_the_whole_benchmark(
    method: PruningMethod, target: Uniform
) -> None:
    fit = fit_of(1)
    z = DifficultyScale.of(fit.b).to_z(fit.b)
    pruning = prune(fit, 20, target=target, method=method)
    kept = [fit.responses.items.index(one.item) for one in pruning.kept]
    assert len(set(kept)) == 20
    np.testing.assert_array_equal([one.z for one in pruning.kept], z[kept])
    assert (np.diff(z[kept]) >= 0).all()
    assert pruning.w1_after.plugin == pytest.approx(float(target.wasserstein(z[kept])))
    assert pruning.w1_after.plugin < min(pruning.w1_before.plugin, pruning.random.min)
    assert pruning.w1_after.q05 <= pruning.w1_after.value <= pruning.w1_after.q95
    (here,) = [point for point in pruning.curve if point.size == 20]
    assert getattr(here, method) == pruning.w1_after.plugin
    assert here.random == pruning.random


def test_the_distance_before_is_the_mismatch_of_the_diagnosis() -> None:
    fit = fit_of(2)
    pruning, diagnosis = prune(fit, 5), diagnose(fit)
    for name in ("value", "q05", "q95", "plugin"):
        assert getattr(pruning.w1_before, name) == pytest.approx(getattr(diagnosis.ddm, name))


def test_p_closer_tells_a_choice_that_rests_on_guessed_places() -> None:
    """Of many all-wrong items the places are guesses: spreading the estimates helps little."""
    rng = np.random.default_rng(3)
    theta = abilities(rng, 4, sd=0.7)
    vague = fit_1pl(respond(rng, theta, rng.normal(3, 1.5, 80), 1), engine="map")
    known = fit_1pl(respond(rng, theta, rng.normal(0, 1, 80), 200), engine="map")
    assert prune(known, 25).p_closer > 0.99
    assert prune(vague, 25).p_closer < 0.99


def test_the_curve_runs_over_all_sizes() -> None:
    sizes = [point.size for point in prune(fit_of(4), 33).curve]
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (2, 59)
    assert 33 in sizes
    assert 15 <= len(sizes) <= 21


def test_the_same_seed_gives_the_same_pruning() -> None:
    fit = fit_of(5)
    assert prune(fit, 9, seed=1) == prune(fit, 9, seed=1)
    assert prune(fit, 9, seed=1).random != prune(fit, 9, seed=2).random


def test_two_items_can_be_pruned_to_one() -> None:
    fit = fit_1pl(matrix_of([[3, 1], [4, 2]], 4), engine="map")
    pruning = prune(fit, 1)
    assert len(pruning.kept) == 1
    assert [point.size for point in pruning.curve] == [1]


@pytest.mark.parametrize("size", [0, -3, 60, 61, 10**12])
def test_a_size_that_prunes_nothing_or_all_is_refused(size: int) -> None:
    with pytest.raises(InputError) as caught:
        prune(fit_of(6), size)
    assert caught.value.field == "--size"


# reference


def test_agreement_is_scipys_before_and_after() -> None:
    fit = fit_of(7)
    data = fit.responses
    rng = np.random.default_rng(8)
    reference = {model: float(rng.normal()) for model in (*data.models[:6], "other")}
    kept = {one.item for one in prune(fit, 15).kept}
    found = reference_agreement(data, reference, kept)
    assert found.common == 6
    assert found.only_in_reference == ("other",)
    assert found.only_in_responses == data.models[6:]
    rates = data.correct / data.n
    stay = [item in kept for item in data.items]
    wanted = list(reference.values())[:6]
    for name, correlate in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        one = getattr(found, name)
        before = correlate(rates[:6].mean(1), wanted).statistic
        after = correlate(rates[:6, stay].mean(1), wanted).statistic
        assert one.before == pytest.approx(before)
        assert one.after == pytest.approx(after)
        assert one.change.value == pytest.approx(after - before)
        assert one.change.q05 <= one.change.value <= one.change.q95
        assert one.random.min <= one.random.mean <= one.random.max


def test_pruning_can_bring_the_order_nearer_to_what_matters() -> None:
    """One model is good at easy items only; there are many, and the reference has none."""
    rng = np.random.default_rng(9)
    rates = np.array([[0.95, 0.05], [0.85, 0.6], [0.8, 0.4], [0.75, 0.2], [0.7, 0.1]])
    p = np.repeat(rates, [120, 30], axis=1)
    fit = fit_1pl(matrix_of(rng.binomial(20, p), 20), engine="map")
    reference = {f"m{j}": hard for j, hard in enumerate(rates[:, 1])}
    found = reference_agreement(fit.responses, reference, {one.item for one in prune(fit, 40).kept})
    assert found.spearman.before is not None
    assert found.spearman.after is not None
    assert found.spearman.after > found.spearman.before
    assert found.kendall.random is not None
    assert found.kendall.after is not None
    assert found.kendall.after > found.kendall.random.mean


def test_equal_scores_have_no_correlation() -> None:
    data = fit_of(10).responses
    found = reference_agreement(data, dict.fromkeys(data.models, 1.0), data.items[:5])
    assert (found.spearman.before, found.spearman.after) == (None, None)
    assert (found.kendall.change, found.kendall.random) == (None, None)


def test_a_model_without_answers_to_kept_items_is_left_out_of_them() -> None:
    rng = np.random.default_rng(11)
    n = np.full((6, 30), 4)
    n[0, :10] = 0
    fit = fit_1pl(respond(rng, abilities(rng, 6), rng.normal(0, 1, 30), n), engine="map")
    data = fit.responses
    found = reference_agreement(data, {f"m{j}": float(j) for j in range(6)}, data.items[:10])
    rates = data.correct[1:, :10].mean(1)
    assert found.spearman.after == pytest.approx(stats.spearmanr(rates, range(5)).statistic)


def test_fewer_than_three_common_models_are_one_sentence() -> None:
    data = fit_of(12).responses
    with pytest.raises(InputError, match=r"2 of 3 models .* at least 3") as caught:
        reference_agreement(data, {"m0": 1, "m1": 2, "M2": 3}, data.items[:5])
    assert "'M2'" in str(caught.value)
    assert "'m2'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("model,score\n", "no data line"),
        ("name,score\na,1\n", "line 1: lacks the column model"),
        ("model,accuracy\na,1\n", "line 1: lacks the column score; .* 'accuracy'"),
        ("model,score\na,1\na,2\n", "line 3: model 'a' stands on an earlier line"),
        ("model,score\na,high\n", "line 2, score: 'high' is no number"),
        ("model,score\na,85%\n", "line 2, score: '85%' is no number"),
        ("model,score\na,\n", "line 2, score: '' is no score; leave the line out"),
        ("model,score\na,nan\n", "line 2, score: 'nan' is no number"),
        ("model,score\na,inf\n", "line 2, score: 'inf' is no number"),
        ("model,score\n ,1\n", "line 2, model: the model has no name"),
        ("model,score\na,1,2\n", "line 2: has 3 fields where the header has 2"),
        ("\x00", "binary"),
    ],
)
def test_reference_files_that_cannot_be_used(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        read_scores(path)


def test_reference_files_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes('\ufeffrank;model;score\r\n1;Gemma ∞;85.5\r\n2;"a\nb";-1e-3\r\n'.encode())
    assert read_scores(path) == {"Gemma ∞": 85.5, "a\nb": -0.001}


def test_a_missing_reference_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape("cannot be read (no such file")):
        read_scores(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("name", ["evalperf_100rollouts/responses.csv", "swebench_pro/matrix.csv"])
def test_real_matrices(shared_data: Path, name: str) -> None:
    fit = fit_1pl(read_responses(shared_data / name), engine="map")
    pruning = prune(fit, len(fit.responses.items) // 3)
    assert pruning.w1_after.plugin < 0.4 * pruning.w1_before.plugin
    for point in pruning.curve:
        assert point.optimal <= point.greedy + 1e-3
        assert point.optimal <= point.random.min + 1e-9
    # 490 of the 970 tasks of SWE-bench Pro were solved by all or by none: their places are guesses
    assert (pruning.p_closer > 0.99) == (name.startswith("evalperf"))
