"""Leaderboards, flips and prunings: legible at any size, whatever models are called."""

from __future__ import annotations

import numpy as np
import pytest

import benchfill as bf
from benchfill.plots import DARK
from benchfill.plots.flips import flip_map
from benchfill.plots.leaderboard import leaderboard_scores
from benchfill.plots.pruning import pruned_distribution, pruning_curve
from support.fills import HOSTILE
from support.overlap import collisions
from support.simulated import abilities, respond


def _fit(models: int, items: int, prefix: str = "") -> bf.Fit1PL:
    rng = np.random.default_rng(models)
    data = respond(rng, abilities(rng, models), rng.normal(0, 1.5, items), 4)
    names = tuple(f"{prefix}m{j}" for j in range(models))
    return bf.fit_1pl(bf.ResponseMatrix(names, data.items, data.correct, data.n), engine="map")


@pytest.mark.parametrize(("models", "prefix"), [(1, ""), (12, HOSTILE), (42, "a" * 90)])
def test_leaderboards_and_flips_at_any_size(models: int, prefix: str) -> None:
    ranking = bf.rank_models(_fit(models, 40, prefix), replicates=100)
    assert collisions(leaderboard_scores(ranking.scores)) == []
    flips = {(pair.ahead, pair.behind): pair.p_flip for pair in ranking.likeliest_flips}
    figure = flip_map([one.model for one in ranking.scores], flips, theme=DARK)
    assert collisions(figure) == []


def test_the_first_sixty_models_are_drawn() -> None:
    ranking = bf.rank_models(_fit(61, 30), replicates=100)
    figure = leaderboard_scores(ranking.scores)
    assert len(figure.axes[0].lines[0].get_xdata()) == 60
    assert any("best 60" in text.get_text() for text in figure.axes[0].texts)
    assert collisions(figure) == []


def test_a_pair_without_common_items_is_hatched() -> None:
    flips = {("b", "a"): 0.25, ("a", "c"): 0.5}
    figure = flip_map(["a", "b", "c"], flips)
    assert {text.get_text() for text in figure.axes[0].texts} >= {".25", ".50"}
    assert [one.get_hatch() for one in figure.axes[0].collections].count("////") == 1


@pytest.mark.parametrize(("items", "size"), [(2, 1), (12, 4), (4000, 900)])
def test_distributions_before_and_after_at_any_size(items: int, size: int) -> None:
    z = np.random.default_rng(items).random(items)
    figure = pruned_distribution(z, z[:size], bf.Beta(2, 5), theme=DARK)
    assert collisions(figure) == []


@pytest.mark.parametrize(("items", "size"), [(2, 1), (12, 4), (200, 50)])
def test_curves_of_prunings_at_any_size(items: int, size: int) -> None:
    pruning = bf.prune(_fit(4, items), size)
    assert collisions(pruning_curve(pruning.curve, size, pruning.w1_before.plugin)) == []
