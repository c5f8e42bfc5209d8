"""The checks' formulas, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill import checks, fit_1pl
from benchfill.onepl.checks import information, inversion_rate
from support.simulated import matrix_of

NAN = float("nan")


def test_information_by_hand() -> None:
    # 4 p (1 - p): 1, 0, 0.75, missing left out
    assert information(np.array([0.5, 1.0, 0.25, NAN])) == pytest.approx(1.75 / 3)
    assert information(np.array([NAN])) is None


def test_inversion_rate_by_hand() -> None:
    rates = np.array([[0.0, 0.5, 1.0, NAN], [1.0, 0.5, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]])
    overall = np.array([0.5, 0.6, 0.75])
    # rows 0 and 1: column 0 in order, 1 tied, 2 inverted, 3 missing: 1 of 2
    # rows 0 and 2: 0 and 1 in order, 2 tied, 3 missing: 0 of 2
    # rows 1 and 2: 0 tied, 1 and 2 in order, 3 inverted: 1 of 3
    expected = (1 / 2 + 0 + 1 / 3) / 3
    assert inversion_rate(rates, overall) == pytest.approx(expected)
    order = [2, 0, 1]
    assert inversion_rate(rates[order], overall[order]) == pytest.approx(expected)


def test_pairs_that_cannot_be_compared_do_not_count() -> None:
    assert inversion_rate(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0.4, 0.6])) is None
    assert inversion_rate(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5])) is None
    assert inversion_rate(np.array([[0.0, 1.0]]), np.array([0.5])) is None
    assert inversion_rate(np.array([[0.0], [1.0]]), np.array([0.5, NAN])) is None


def test_many_rows_are_sampled_close_to_all_pairs() -> None:
    rng = np.random.default_rng(0)
    rates = rng.random((1500, 5)).round(1)
    overall = rates.mean(1)
    total = count = 0.0
    for row in range(1499):
        sign = np.sign(overall[row + 1 :] - overall[row])[:, None]
        away = np.sign(rates[row + 1 :] - rates[row]) * sign
        compared = (away != 0).sum(1)
        keep = compared > 0
        total += ((away < 0).sum(1)[keep] / compared[keep]).sum()
        count += keep.sum()
    assert inversion_rate(rates, overall) == pytest.approx(total / count, abs=0.003)


def test_checks_of_a_fit_by_hand() -> None:
    fit = fit_1pl(matrix_of([[4, 2, 0], [3, 4, 1]], 4), engine="map")
    found = {check.name: check for check in checks(fit)}
    p = np.array([6, 8]) / 12
    assert found["model_information"].value == pytest.approx(np.mean(4 * p * (1 - p)))
    q = np.array([7, 6, 1]) / 8
    assert found["item_information"].value == pytest.approx(np.mean(4 * q * (1 - q)))
    assert found["model_inversion"].value == pytest.approx(1 / 3)
    # items 2 < 1 < 0: (2,1) in order twice, (2,0) twice, (1,0): in order on m0, inverted on m1
    assert found["item_inversion"].value == pytest.approx(0.5 / 3)
    assert [check.passed for check in found.values()] == [True, True, False, True, None, None, None]
    assert [check.threshold for check in found.values()] == [0.3, 0.3, 0.3, 0.3, 1.02, 400, 0]
