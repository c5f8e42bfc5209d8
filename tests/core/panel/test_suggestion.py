"""Suggesting a pool on simulated and on real matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import spearmanr

import benchfill as bf
from benchfill.panel.choosing import item_information
from benchfill.panel.stability import RANDOM_PANELS
from benchfill.plots.panel import panel_abilities, panel_stability
from benchfill.plots.style import DARK, png_of
from support.overlap import collisions
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def fit() -> bf.Fit1PL:
    rng = np.random.default_rng(5)
    return bf.fit_1pl(respond(rng, abilities(rng, 10), rng.normal(0, 1.5, 40), 3), engine="map")


@pytest.fixture(scope="module")
def suggestion(fit: bf.Fit1PL) -> bf.PanelSuggestion:
    return bf.suggest_panel(fit, 5)


def test_the_same_seed_gives_the_same_suggestion(
    fit: bf.Fit1PL, suggestion: bf.PanelSuggestion
) -> None:
    assert bf.suggest_panel(fit, 5) == suggestion


def test_what_is_said_of_the_panel_can_be_reckoned_again(
    fit: bf.Fit1PL, suggestion: bf.PanelSuggestion
) -> None:
    chosen = [fit.responses.models.index(one.model) for one in suggestion.chosen]
    assert [one.theta for one in suggestion.chosen] == sorted(fit.theta[chosen])
    ((low, high),) = suggestion.intervals
    told = fit.b[~fit.responses.extreme_items]
    assert (low, high) == (told.min(), told.max())
    places = low + (np.arange(201) + 0.5) / 201 * (high - low)
    information = item_information(fit.theta, places)
    errors = 1 / np.sqrt(16 * information[chosen].sum(0))
    assert suggestion.se_worst == pytest.approx(errors.max())
    assert suggestion.se_median == pytest.approx(np.median(errors))
    assert suggestion.se_worst <= suggestion.random_se_worst.median


def test_a_point_of_the_curve_is_a_fit_of_these_models_alone(
    fit: bf.Fit1PL, suggestion: bf.PanelSuggestion
) -> None:
    point = next(one for one in suggestion.curve if one.size == 5)
    rows = [fit.responses.models.index(one.model) for one in suggestion.chosen]
    alone = bf.fit_1pl(fit.responses.select(models=sorted(rows)), engine="map")
    assert point.spearman == pytest.approx(spearmanr(alone.b, fit.b).statistic, abs=1e-6)
    rest = [j for j in range(10) if j not in rows]
    others = bf.fit_1pl(fit.responses.select(models=rest), engine="map")
    assert point.rest_spearman == pytest.approx(spearmanr(alone.b, others.b).statistic, abs=1e-6)
    assert (point.items, point.panels) == (40, RANDOM_PANELS)


def test_more_models_agree_better_and_what_suffices_follows_from_the_curve(
    fit: bf.Fit1PL, suggestion: bf.PanelSuggestion
) -> None:
    medians = [one.random_spearman.median for one in suggestion.curve if one.random_spearman]
    assert medians[-1] > medians[0] + 0.1
    enough = suggestion.curve[-2].spearman
    found = bf.suggest_panel(fit, 5, enough=min(enough, suggestion.curve[-1].spearman))
    assert found.suffice is not None
    holds = [one.size for one in found.curve if one.size >= found.suffice]
    assert all(one.spearman >= found.enough for one in found.curve if one.size in holds)
    assert bf.suggest_panel(fit, 5, enough=1.0).suffice is None


def test_over_gaps_the_panel_stands_where_the_gaps_are() -> None:
    b = np.concatenate([np.linspace(-3, -1, 20), np.linspace(1.5, 2, 10)])
    theta = np.linspace(-3, 3, 11)
    rng = np.random.default_rng(1)
    fit = bf.fit_1pl(respond(rng, theta, b, 30), engine="map")
    found = bf.suggest_panel(fit, 4, over="gaps")
    assert any(low < 0 < high for low, high in found.intervals)
    assert all(-2 < one.theta < 2.6 for one in found.chosen)


def test_pictures_are_legible(fit: bf.Fit1PL, suggestion: bf.PanelSuggestion) -> None:
    for figure in (
        panel_stability(suggestion, theme=DARK),
        panel_abilities(suggestion, fit.theta, fit.b, theme=DARK),
    ):
        assert collisions(figure) == []
        assert png_of(figure).startswith(b"\x89PNG")


def test_what_cannot_be_done_is_said() -> None:
    two = matrix_of(np.array([[1, 0, 1], [0, 1, 1]]), np.ones((2, 3), int))
    with pytest.raises(bf.FitError, match="2 models, too few to choose from"):
        bf.suggest_panel(bf.fit_1pl(two, engine="map"))
    alike = matrix_of(np.ones((4, 3), int), np.ones((4, 3), int))
    with pytest.raises(bf.FitError, match="fewer than two items are solved by some"):
        bf.suggest_panel(bf.fit_1pl(alike, engine="map"))


@pytest.mark.parametrize("wrong", [{"size": 0}, {"enough": 0.0}, {"over": "everything"}])
def test_wrong_options_are_refused(fit: bf.Fit1PL, wrong: dict[str, object]) -> None:
    with pytest.raises(bf.InputError, match="size must be 1 or more"):
        bf.suggest_panel(fit, **wrong)  # type: ignore[arg-type]


def test_models_on_items_of_their_own_do_not_stop_the_curve(shared_data: Path) -> None:
    """SWE-bench Pro: 9 systems, most cells missing for some of them."""
    fit = bf.fit_1pl(bf.read_responses(shared_data / "swebench_pro/matrix.csv"), engine="map")
    found = bf.suggest_panel(fit, 12)
    assert len(found.chosen) == 9
    assert all(one.items <= 970 for one in found.curve)
    assert [one.size for one in found.curve] == [2, 3, 4, 6, 8]


def test_gsm8k_needs_more_than_a_dozen_models(shared_data: Path) -> None:
    """Real answers, one a cell: the panel beats random ones where its worst place is."""
    fit = bf.fit_1pl(bf.read_responses(shared_data / "zeroeval_gsm8k/matrix.csv"), engine="map")
    found = bf.suggest_panel(fit, 12)
    assert found.se_worst < found.random_se_worst.q05
    assert found.suffice is not None
    assert found.suffice > 12
    twelve = next(one for one in found.curve if one.size == 12)
    assert twelve.random_spearman is not None
    assert twelve.spearman > twelve.random_spearman.median
    assert twelve.rest_spearman is not None
    assert twelve.rest_spearman < twelve.spearman  # a part agrees with its whole
