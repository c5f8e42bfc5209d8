"""The knowledge gradient of the sequential design."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfill_agents.calibrator.design import (
    Design,
    Standing,
    expected_reduction,
    gain_rates,
)


def child(off: float, own: float, other: float = 0.0, half: float = 0.5) -> Standing:
    value = float(expected_reduction(off, float(np.hypot(own, other)), half))
    return Standing(0.5, value, off, own, other, 0.2)


@given(st.floats(-2, 2), st.floats(0.02, 2), st.floats(0.1, 1))
def test_the_expected_reduction_is_that_of_draws(off: float, sd: float, half: float) -> None:
    drawn = off + sd * np.random.default_rng(0).normal(size=200_000)
    by_draws = np.clip(half - np.abs(drawn), 0, None).mean()
    assert expected_reduction(off, sd, half) == pytest.approx(by_draws, abs=0.01)


@given(
    st.lists(
        st.tuples(st.floats(-2, 2), st.floats(0.05, 1), st.floats(0, 0.5)), min_size=1, max_size=6
    )
)
def test_to_know_more_is_never_expected_to_cost(places) -> None:
    rates = gain_rates([child(*place) for place in places], 0.5)
    assert (rates > -1e-4).all()


def test_what_cannot_win_is_not_asked_about() -> None:
    near, far, vague = child(0.25, 0.1), child(1.5, 0.1), child(0.2, 0.5)
    rates = gain_rates([near, far, vague], 0.5)
    assert rates[1] < 1e-9 < rates[0] < rates[2]


def test_a_child_known_but_for_the_borders_gains_nothing() -> None:
    rates = gain_rates([child(0.1, 1e-4, 0.4), child(0.1, 0.4)], 0.5)
    assert rates[0] < 1e-6 < rates[1]


@given(st.integers(0, 479))
def test_a_step_is_a_share_of_what_was_asked_and_stays_below_the_most(asked: int) -> None:
    design = Design()
    step = design.next(asked)
    assert 1 <= step <= max(design.batch, asked / 4)
    assert asked + step <= design.most
    assert step >= design.batch or asked + step == design.most
