"""The power map: against the exact test, against the theorem, and where it must be honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import (
    Fit1PL,
    FitError,
    InputError,
    PowerSettings,
    find_gaps,
    fit_1pl,
    power_map,
)
from benchfill.progress import power
from benchfill.progress.null import TwoTimes, null_of_sum, upper_p
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from benchfill.progress.power import Detectable, PowerCell, PowerOfRollouts

QUICK = PowerSettings(k=(1, 8), simulations=200)


@pytest.fixture(scope="module")
def fit() -> Fit1PL:
    """40 items with a gap of about .3 in the middle."""
    rng = np.random.default_rng(1)
    b = np.concatenate([np.linspace(-2, -0.6, 20), np.linspace(0.6, 2, 20)])
    return fit_1pl(respond(rng, abilities(rng), b, 64), engine="map")


def cell(one: PowerOfRollouts, width: float, gain: float) -> PowerCell:
    return next(at for at in one.cells if (at.width, at.gain) == (width, gain))


def detectable(one: PowerOfRollouts, width: float) -> Detectable:
    return next(at for at in one.detectable if at.width == width)


def test_up_to_the_widest_gap_the_worst_place_sees_nothing(fit: Fit1PL) -> None:
    found = power_map(fit, QUICK)
    assert found.max_gap.plugin == pytest.approx(find_gaps(fit)[0].width)
    for one in found.maps:
        for at in one.detectable:
            assert at.invisible == (at.width <= found.max_gap.plugin)
        assert all(at.worst == 0 for at in one.cells if at.width <= found.max_gap.plugin)
    # above it more rollouts lead to power 1, as the theorem has it
    wide = cell(power_map(fit, PowerSettings(k=(200,), simulations=100)).maps[0], 0.4, 0.25)
    assert wide.worst == 1.0


def test_power_grows_with_gain_width_and_rollouts(fit: Fit1PL) -> None:
    few, many = power_map(fit, QUICK).maps
    for one in (few, many):
        for width in {at.width for at in one.cells}:
            mean = [at.mean for at in one.cells if at.width == width]
            assert np.diff(mean).min() > -0.03
    assert cell(many, 0.5, 0.2).mean > cell(few, 0.5, 0.2).mean + 0.2
    assert cell(many, 0.75, 0.1).mean > cell(many, 0.2, 0.1).mean
    small = detectable(many, 0.75).mean
    assert small is not None
    assert cell(many, 0.75, 0.2).mean > 0.8
    assert 0.01 < small < 0.2
    # the level holds: a gain of next to nothing is seen in at most five of a hundred
    assert max(at.mean for at in many.cells if at.gain == 0.005) < 0.09


@pytest.mark.parametrize(("k", "gain"), [(1, 0.3), (8, 0.1)])
def test_power_is_that_of_the_exact_test(fit: Fit1PL, k: int, gain: float) -> None:
    """All of the scale is one place, so that the simulation can be done again, test by test."""
    (one,) = power_map(fit, PowerSettings(k=(k,), simulations=500)).maps
    model = int(np.argsort(fit.theta)[(len(fit.theta) - 1) // 2])
    b = np.sort(fit.b)[1:-1]  # the interval is open
    rates = 1 / (1 + np.exp(b - fit.theta[model]))
    rng = np.random.default_rng(3)
    n = np.full(len(b), k)
    seen = []
    for _ in range(200):
        y0, y1 = rng.binomial(k, rates), rng.binomial(k, np.minimum(rates + gain, 1))
        seen.append(upper_p(null_of_sum(TwoTimes(y0, n, y1, n)), int(y1.sum())) <= 0.05)
    mean = cell(one, 1.0, gain).mean
    assert 0.3 < mean < 0.98
    assert mean == pytest.approx(np.mean(seen), abs=3.5 * 0.5 / np.sqrt(200))


def test_a_gain_ends_at_probability_one_and_says_so(fit: Fit1PL) -> None:
    best = fit.responses.models[int(np.argmax(fit.theta))]
    found = power_map(fit, PowerSettings(k=(4,), simulations=100, model=best))
    assert found.model == best
    assert found.score > 0.6
    great = cell(found.maps[0], 0.5, 0.65)
    assert great.fits < 0.5
    assert great.realised is not None
    assert great.realised < 0.5
    little = cell(found.maps[0], 0.1, 0.005)
    assert little.realised == pytest.approx(0.005, abs=1e-4)
    for one in (*found.maps, *power_map(fit, QUICK).maps):
        for at in one.cells:
            if at.worst is not None and at.mean_fitting is not None:
                assert at.worst <= at.mean_fitting + 1e-12
            # where a gain ends at 1 it is smaller, and seen less
            assert (
                at.mean_fitting is None or at.fits < 1 or at.mean_fitting == pytest.approx(at.mean)
            )
    nowhere = cell(found.maps[0], 1.0, 0.8)
    assert (nowhere.fits, nowhere.worst, nowhere.mean_fitting) == (0.0, None, None)


def test_seed_and_names_are_kept_and_strange_wishes_refused(fit: Fit1PL) -> None:
    assert power_map(fit, QUICK) == power_map(fit, QUICK)
    with pytest.raises(InputError, match="'nobody' is none of the 12 models"):
        power_map(fit, PowerSettings(model="nobody"))
    for wrong in ({"k": (0,)}, {"k": ()}, {"k": (1001,)}, {"alpha": 0.0}, {"simulations": 5}):
        with pytest.raises(InputError):
            PowerSettings(**wrong)  # type: ignore[arg-type]
    same = fit_1pl(matrix_of([[1, 1], [0, 0]], 1), engine="map")
    with pytest.raises(FitError, match="same difficulty"):
        power_map(same, QUICK)


def test_two_items_see_next_to_nothing() -> None:
    two = fit_1pl(matrix_of([[4, 2], [3, 1], [2, 0]], 4), engine="map")
    (one,) = power_map(two, PowerSettings(k=(1,), simulations=100)).maps
    assert all(at.mean == 0 for at in one.cells)
    assert all(at.mean is None and at.worst is None for at in one.detectable)
    assert {at.realised for at in one.cells if at.width == 1.0} == {None}


def test_many_items_take_fewer_simulations(fit: Fit1PL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "MOST_RESPONSES", 6000)
    assert power_map(fit, PowerSettings(simulations=1000)).simulations == 150
    monkeypatch.setattr(power, "MOST_RESPONSES", 600)
    assert power_map(fit, PowerSettings(simulations=1000)).simulations == 100
