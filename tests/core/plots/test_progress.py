"""The pictures of progress and of power."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill import (
    DifficultyScale,
    Fit1PL,
    PowerSettings,
    ProgressTest,
    fit_1pl,
    measure_progress,
    power_map,
)
from benchfill.plots import DARK, png_of
from benchfill.plots.power import power_picture
from benchfill.plots.progress import progress_picture
from support.overlap import collisions
from support.simulated import abilities, respond


def fit_of(items: int) -> Fit1PL:
    rng = np.random.default_rng(items)
    return fit_1pl(respond(rng, abilities(rng), rng.normal(0, 1.5, items), 2), engine="map")


@pytest.mark.parametrize(
    ("items", "interval"), [(3, None), (12, (0.1, 0.9)), (300, None), (4000, (0.1, 0.9))]
)
def test_progress_is_legible_at_any_size(items: int, interval: tuple[float, float] | None) -> None:
    fit = fit_of(items)
    before, after = (fit.responses.select(models=[j]) for j in (2, 3))
    test = ProgressTest(interval=interval, permutations=99)
    found = measure_progress(fit, before, after, test)
    z = DifficultyScale.of(fit.b).to_z(fit.b)
    figure = progress_picture(z, found.tests[0], found.blind, title="Before and after", theme=DARK)
    assert collisions(figure) == []
    rates = figure.axes[0]
    # two lines a band: before and after
    assert len(rates.get_lines()) == 2 * len(found.tests[0].bands)
    assert png_of(figure) == png_of(figure)


@pytest.mark.parametrize(("items", "k"), [(2, (1,)), (12, (1, 8)), (60, (1, 2, 8, 64, 100))])
def test_power_is_legible_for_one_to_many_maps(items: int, k: tuple[int, ...]) -> None:
    found = power_map(fit_of(items), PowerSettings(k=k, simulations=100))
    figure = power_picture(found)
    assert collisions(figure) == []
    # two panels a map, at most four maps; the heading, the scale and the keys
    assert len(figure.axes) == 2 * min(len(k), 4) + 3
