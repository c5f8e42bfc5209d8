"""The seven checks of a fit: four of the responses before it, three of the sampler after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fit import Fit1PL

MIN_INFORMATION = 0.3
MAX_INVERSION = 0.3
MAX_RHAT = 1.02
MIN_ESS_BULK = 400.0
PAIRS = 500_000
_COLUMNS = 1024  # at a time; sums of so few are exact in single precision
_CHEAPER = 100  # times less that a pair and column costs as part of a product of matrices


class Check(BaseModel):
    """One check of a fit."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float | None = Field(description="None where the data or the engine do not give one")
    threshold: float
    passed: bool | None = Field(description="None where there is no value to judge")


def checks(fit: Fit1PL) -> tuple[Check, ...]:
    """Return the seven checks of docs/method, section 2, in order.

    The paper (arXiv 2610.29927, C.3) gives names and thresholds; the formulas are ours.
    """
    data = fit.responses
    rates = np.full(data.n.shape, np.nan)
    np.divide(data.correct, data.n, out=rates, where=data.n > 0)
    return (
        _at_least("model_information", information(data.model_rates), MIN_INFORMATION),
        _at_least("item_information", information(data.item_rates), MIN_INFORMATION),
        _at_most("model_inversion", inversion_rate(rates, data.model_rates), MAX_INVERSION),
        _at_most("item_inversion", inversion_rate(rates.T, data.item_rates), MAX_INVERSION),
        _at_most("max_rhat", fit.max_rhat, MAX_RHAT),
        _at_least("min_ess_bulk", fit.min_ess_bulk, MIN_ESS_BULK),
        _at_most("divergences", fit.divergences, 0),
    )


def information(rates: NDArray[np.float64]) -> float | None:
    """Return the mean of 4 p (1 - p) over success rates p: 1 at p = .5, 0 at 0 and 1."""
    known = rates[~np.isnan(rates)]
    return float(np.mean(4 * known * (1 - known))) if len(known) else None


def inversion_rate(rates: NDArray[np.float64], overall: NDArray[np.float64]) -> float | None:
    """Return how often single cells contradict the order of the aggregates.

    For each pair of rows with different aggregates: the share of its columns in which the row with
    the lower aggregate has the higher rate, columns tied or missing in either row left out; then
    the mean over the pairs that have a column left.

    Parameters
    ----------
    rates
        Success rates, shape (rows, columns); NaN where missing.
    overall
        Aggregate success rates, shape (rows,).

    Returns
    -------
    float or None
        In [0, 1]; None when no pair can be compared. Beyond 1,000 rows 500,000 pairs are drawn
        with a fixed seed, for a standard error below 0.001.
    """
    low, high = _pairs(len(overall))
    swap = overall[low] > overall[high]
    low, high = np.where(swap, high, low), np.where(swap, low, high)
    keep = overall[low] < overall[high]
    low, high = low[keep], high[keep]
    inverted, compared = np.zeros(len(low)), np.zeros(len(low))
    for start in range(0, rates.shape[1], _COLUMNS):
        some = rates[:, start : start + _COLUMNS]
        above, below = _wins(some, low, high)
        inverted += above
        compared += above + below
    counted = compared > 0
    if not counted.any():
        return None
    return float(np.mean(inverted[counted] / compared[counted]))


def _wins(
    rates: NDArray[np.float64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the columns in which the row `low` has the higher rate, and those where `high` has."""
    most = _CHEAPER * len(low) // len(rates) ** 2
    levels = np.unique(rates) if most else rates
    if len(levels) > most:
        wins = np.zeros((2, len(low)), np.int32)
        for column in rates.T:
            first, second = column[low], column[high]
            wins[0] += first > second
            wins[1] += first < second
        return wins[0], wins[1]
    # few rates: for each one, who has it against who has less, as a product of matrices
    matrix = np.zeros((len(rates), len(rates)), np.float32)
    below: NDArray[np.float32] | None = None
    for level in levels[~np.isnan(levels)]:
        reached = (rates == level).astype(np.float32)
        if below is None:
            below = reached
            continue
        matrix += reached @ below.T
        below += reached
    return matrix[low, high], matrix[high, low]


def _pairs(rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if rows * (rows - 1) // 2 <= PAIRS:
        first, second = np.triu_indices(rows, 1)
        return first, second
    rng = np.random.default_rng(0)
    first = rng.integers(rows, size=PAIRS)
    return first, (first + rng.integers(1, rows, size=PAIRS)) % rows


def _at_least(name: str, value: float | None, threshold: float) -> Check:
    passed = None if value is None else value >= threshold
    return Check(name=name, value=value, threshold=threshold, passed=passed)


def _at_most(name: str, value: float | None, threshold: float) -> Check:
    passed = None if value is None else value <= threshold
    return Check(name=name, value=value, threshold=threshold, passed=passed)
