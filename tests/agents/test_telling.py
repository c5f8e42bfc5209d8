"""What rollouts tell about a child, and which models are asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfill_agents.calibrator.telling import Telling, expected_information

NONE = np.zeros(3, np.int64)
INFORMATION = np.array([0.25, 0.2, 0.15])


def test_without_misfit_the_model_that_tells_most_is_asked() -> None:
    assert Telling(INFORMATION, np.zeros(3)).allocate(NONE, 12).tolist() == [12, 0, 0]


def test_an_ability_known_badly_is_no_use_after_a_few() -> None:
    assert (Telling(INFORMATION, np.full(3, 0.5)).allocate(NONE, 12) > 0).all()


def test_with_misfit_all_models_are_asked_by_the_spread_of_their_answers() -> None:
    tells = Telling(INFORMATION, np.zeros(3), misfit=0.5)
    shares = tells.allocate(NONE, 600) / 600  # Neyman's allocation
    np.testing.assert_allclose(shares, np.sqrt(INFORMATION) / np.sqrt(INFORMATION).sum(), atol=0.01)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.floats(0.02, 0.25)), min_size=2, max_size=8),
    st.floats(0.01, 2),
    st.floats(0, 0.2),
    st.lists(st.floats(0.02, 0.25), max_size=5),
)
def test_the_precision_is_that_of_the_normal_model(asked, misfit, variance, others) -> None:
    """By the joint normal of difficulty and deviations, the definition itself."""
    n, information = np.array([k for k, _ in asked], float), np.array([w for _, w in asked])
    every = np.concatenate([information, others])
    share, models = every / every.sum(), len(every)
    # unknowns: level, then each model's own difficulty; rollouts see those of the pool
    prior = np.full((models, models), 1 / 0.5) + misfit * np.eye(models)
    seen = np.flatnonzero(n > 0)
    noise = 1 / (n[seen] * information[seen]) + variance
    gain = prior[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + np.diag(noise))
    left = share @ (prior - gain @ prior[seen]) @ share
    tells = Telling(information, np.full(len(n), variance), misfit, others=np.array(others))
    assert tells.precision(n) == pytest.approx(1 / left, rel=1e-6)


def test_the_rate_is_the_precision_gained_by_a_rollout() -> None:
    tells = Telling(INFORMATION, np.zeros(3))
    assert tells.rate(NONE, np.array([10, 0, 0])) == pytest.approx(0.25)


def test_information_with_guessing_is_less() -> None:
    theta, at = np.array([-1.0, 0.0, 2.0]), (np.array([0.0]), np.ones(1))
    free, guessed = (expected_information(theta, *at, g) for g in (0.0, 0.25))
    np.testing.assert_allclose(free, [0.19661, 0.25, 0.10499], atol=1e-5)
    assert (guessed < free).all()


@pytest.mark.parametrize("misfit", [0.0, 0.5])
def test_a_model_is_chosen_by_what_it_tells_for_its_price(misfit: float) -> None:
    cheap = Telling(INFORMATION, np.zeros(3), misfit, prices=np.array([1.5, 1.2, 0.3]))
    same = Telling(INFORMATION, np.zeros(3), misfit, prices=np.full(3, 0.7))
    if misfit == 0:
        assert cheap.allocate(NONE, 12).tolist() == [0, 0, 12]
    else:
        best = np.sqrt(INFORMATION / cheap.prices)  # Neyman's allocation with costs
        shares = cheap.allocate(NONE, 600) / 600
        np.testing.assert_allclose(shares, best / best.sum(), atol=0.01)
    # prices that are all the same change no choice
    plain = Telling(INFORMATION, np.zeros(3), misfit)
    np.testing.assert_array_equal(same.allocate(NONE, 60), plain.allocate(NONE, 60))


def test_the_rate_is_for_the_price() -> None:
    tells = Telling(INFORMATION, np.zeros(3), prices=np.array([2.0, 0.5, 0.5]))
    assert tells.rate(NONE, np.array([10, 0, 0])) == pytest.approx(0.125)
    assert tells.rate(NONE, np.array([0, 10, 0])) == pytest.approx(0.4)
