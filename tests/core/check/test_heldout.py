"""Held-out cells: how they are dealt, what the difference's error is, who wins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.check.cells import Cells, Point
from benchfill.check.heldout import _mean_and_error, assign_folds, compare_held_out
from support.flawed import flawed_matrix


@given(
    st.integers(3, 9), st.integers(3, 30), st.integers(2, 6), st.floats(0, 0.8), st.integers(0, 99)
)
@settings(max_examples=30, deadline=None)
def test_every_cell_is_held_out_once_and_items_keep_data(
    models: int, items: int, folds: int, missing: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n = (rng.random((items, models)) >= missing).astype(float)
    fold = assign_folds(Cells(0 * n, n, np.zeros(items)), folds, rng)
    assert ((fold >= 0) == (n > 0)).all()
    assert fold.max() < folds
    for k in range(folds):
        left = ((fold >= 0) & (fold != k)).sum(1)
        # an item with two cells or more is never without
        assert (left[n.sum(1) >= 2] >= 1).all()


def test_the_error_is_clustered_in_both_directions() -> None:
    rng = np.random.default_rng(1)
    items, models, errors, means = 60, 20, [], []
    for _ in range(300):
        gain = 0.3 * rng.standard_normal((items, 1)) + 0.2 * rng.standard_normal((1, models))
        gain = gain + rng.standard_normal((items, models))
        gain[rng.random(gain.shape) < 0.1] = np.nan
        cells, mean, se, critical = _mean_and_error(gain)
        assert cells == np.count_nonzero(~np.isnan(gain))
        means.append(mean)
        errors.append(se)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)
    assert critical == pytest.approx(2.093, abs=1e-3)  # t of 19 degrees of freedom


@pytest.mark.parametrize(("spread", "better"), [(0.0, False), (0.8, True)])
def test_the_truer_model_predicts_better(spread: float, better: bool) -> None:
    rng = np.random.default_rng(3)
    matrix, _ = flawed_matrix(rng, (12, 60, 6), "none", spread)
    cells = Cells.of(matrix, np.zeros(60))
    start = Point(np.zeros(12), 1.5, 0.0, 1.5, 0.0)
    held = compare_held_out(cells, start, folds=3, rng=rng)
    assert held.cells == 720
    clear = held.difference > held.critical * held.se
    assert clear == better
    assert (held.difference > 0.005) == better
