"""Choosing models by what they tell of difficulties."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from benchfill.panel.choosing import (
    choose_models,
    evenly_placed,
    item_information,
    mean_log_information,
)


@pytest.mark.parametrize("guessing", [0.0, 0.25])
def test_information_is_what_its_definition_says(guessing: float) -> None:
    theta, b, h = np.array([-1.0, 0.3, 2.0]), np.linspace(-3, 3, 7), 1e-6

    def right(at: np.ndarray) -> np.ndarray:
        return np.asarray(guessing + (1 - guessing) * expit(theta[:, None] - at))

    slope = (right(b + h) - right(b - h)) / (2 * h)
    expected = slope**2 / (right(b) * (1 - right(b)))
    assert item_information(theta, b, guessing) == pytest.approx(expected, rel=1e-6)


def test_places_stand_evenly_over_intervals_and_nowhere_else() -> None:
    places = evenly_placed([(-2.0, -1.0), (3.0, 6.0)], 400)
    assert ((places > -2) & (places < -1)).sum() == 100
    assert ((places > 3) & (places < 6)).sum() == 300
    assert np.diff(np.sort(places))[:99] == pytest.approx(0.01)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.floats(-4, 4), min_size=5, max_size=9),
    st.integers(1, 4),
    st.floats(0.1, 4),
    st.sampled_from([0.0, 0.25]),
)
def test_the_choice_is_as_good_as_the_best_of_all_panels(
    theta: list[float], size: int, half: float, guessing: float
) -> None:
    information = item_information(np.array(theta), evenly_placed([(-half, half)], 51), guessing)
    chosen = choose_models(information, size)
    assert len(set(chosen)) == size
    best = max(
        mean_log_information(information, list(panel))
        for panel in combinations(range(len(theta)), size)
    )
    assert mean_log_information(information, chosen) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_among_many_panels_exchanges_find_one_that_is_hardly_worse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1.5, 24)
    information = item_information(theta, evenly_placed([(-3.0, 3.0)], 51))
    assert comb(24, 4) > 2000  # so that not all are tried
    panels = np.array(list(combinations(range(24), 4)))
    best = np.log(information[panels].sum(1)).mean(1).max()
    assert mean_log_information(information, choose_models(information, 4)) >= best - 0.005


def test_one_model_stands_in_the_middle_and_two_on_both_sides() -> None:
    theta = np.linspace(-4, 4, 81)
    information = item_information(theta, evenly_placed([(-4.0, 4.0)]))
    (one,) = choose_models(information, 1)
    assert theta[one] == pytest.approx(0, abs=0.11)
    low, high = sorted(theta[choose_models(information, 2)])
    assert low == pytest.approx(-high, abs=0.11)
    assert low < -1


def test_all_models_are_all_models() -> None:
    information = item_information(np.linspace(-1, 1, 6), evenly_placed([(-1.0, 1.0)]))
    assert sorted(choose_models(information, 6)) == list(range(6))
