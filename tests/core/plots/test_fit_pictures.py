"""Pictures of a fit: curves, posterior of the measures, chains."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from benchfill import Fit1PL, Uniform, fit_1pl
from benchfill.plots import item_curves, measure_posteriors, png_of, pooled_curve, trace_plots
from support.simulated import abilities, matrix_of, respond


def fitted(items: int, guessing: float = 0.0) -> Fit1PL:
    rng = np.random.default_rng(1)
    n = np.where(rng.random((12, items)) < 0.1, 0, 4)
    data = respond(rng, abilities(rng), rng.normal(0, 1.5, items), n, guessing)
    return fit_1pl(data, engine="map", guessing=guessing)


@pytest.mark.parametrize("items", [2, 12, 4000])
def test_every_size_is_drawn(items: int) -> None:
    fit = fitted(items, guessing=0.25 if items == 12 else 0.0)
    for figure in (item_curves(fit), pooled_curve(fit), measure_posteriors(fit, Uniform())):
        assert png_of(figure, dpi=40).startswith(b"\x89PNG")


def test_the_dots_are_the_observed_rates_and_the_curve_is_the_models() -> None:
    fit = fitted(12)
    figure = item_curves(fit, ["i3"])
    ax = figure.axes[0]
    x, p = ax.lines[0].get_data()
    np.testing.assert_allclose(p, 1 / (1 + np.exp(fit.b[3] - x)))
    asked = fit.responses.n[:, 3] > 0
    np.testing.assert_allclose(
        np.asarray(ax.collections[-1].get_offsets()),
        np.stack(
            [fit.theta[asked], fit.responses.correct[asked, 3] / fit.responses.n[asked, 3]], axis=1
        ),
    )
    with pytest.raises(ValueError, match="'nowhere' is not an item"):
        item_curves(fit, ["nowhere"])


def test_pooled_shares_add_up_to_all_successes() -> None:
    fit = fitted(40)
    ax = pooled_curve(fit).axes[0]
    expected, observed = (np.asarray(line.get_ydata()) for line in ax.lines[:2])
    assert len(observed) == 16
    assert np.abs(observed - expected).max() < 0.12
    overall = fit.responses.correct.sum() / fit.responses.n.sum()
    assert observed.mean() == pytest.approx(overall, abs=0.02)


def test_chains_are_drawn_where_there_are_any() -> None:
    fit = fitted(12)
    with pytest.raises(ValueError, match="engine map has no chains"):
        trace_plots(fit)
    sampled = dataclasses.replace(fit, engine="mcmc", max_rhat=1.0)
    figure = trace_plots(sampled)
    assert len(figure.axes) == 10
    assert png_of(figure, dpi=40).startswith(b"\x89PNG")
    one = fit_1pl(matrix_of(np.array([[1, 2, 3]]), 4), engine="map")
    assert len(trace_plots(dataclasses.replace(one, engine="mcmc", max_rhat=1.0)).axes) == 4
