"""The seven checks of a fit: four of the responses before it, three of the sampler after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    rates = data.correct / np.where(data.n > 0, data.n, 1)
    rates = np.where(data.n > 0, rates, np.nan)
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
    inverted, compared = np.zeros(len(low), np.int32), np.zeros(len(low), np.int32)
    for column in rates.T:
        below, above = column[low], column[high]
        inverted += below > above
        compared += (below > above) | (below < above)
    counted = compared > 0
    if not counted.any():
        return None
    return float(np.mean(inverted[counted] / compared[counted]))


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
