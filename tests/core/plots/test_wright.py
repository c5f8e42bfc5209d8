"""The Wright map."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill.plots import wright_map
from benchfill.plots.labels import spread
from support.fills import HOSTILE
from support.overlap import collisions


@pytest.mark.parametrize("models", [1, 12, 40])
@pytest.mark.parametrize("name", ["model", HOSTILE], ids=["plain", "hostile"])
def test_names_never_overlap_even_of_equal_models(models: int, name: str) -> None:
    rng = np.random.default_rng(1)
    theta = {f"{name}-{j}": float(t) for j, t in enumerate(rng.normal(0, 0.01, models))}
    assert collisions(wright_map(theta, rng.normal(0, 2, 500))) == []


def test_many_models_become_bars() -> None:
    rng = np.random.default_rng(1)
    theta = {f"m{j}": float(t) for j, t in enumerate(rng.normal(0, 1, 41))}
    figure = wright_map(theta, rng.normal(0, 2, 4000))
    assert collisions(figure) == []
    assert sum(bar.get_width() for bar in figure.axes[1].patches) == 41


def test_labels_move_no_more_than_they_must() -> None:
    apart = spread(np.array([0.0, 0.05, 2.0]), 0.3, (-1.0, 3.0))
    assert np.diff(apart).min() >= 0.3 - 1e-12
    assert apart == pytest.approx([-0.125, 0.175, 2.0])


def test_labels_stay_inside() -> None:
    places = spread(np.zeros(10), 0.2, (-0.1, 2.0))
    assert places.min() >= -0.1
    assert places.max() <= 2.0
