"""How much a model has gained on some items, with an interval that stays true for few rollouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .result import Gain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .null import TwoTimes


class _Rate(NamedTuple):
    """Mean success rate of items, its Wilson limits, and rollouts an item (harmonic mean)."""

    mean: float
    low: float
    high: float
    rollouts: float


def mean_gain(responses: TwoTimes, critical: float) -> Gain:
    """Return the mean difference in success rate, every item counting the same.

    Parameters
    ----------
    responses
        Responses to at least one item.
    critical
        Normal deviate of the interval: 1.645 for 90%.

    Returns
    -------
    Gain
        In units of success probability, with Newcombe's square-and-add interval for paired
        proportions (1998, method 10, doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>
        3.0.CO;2-C): Wilson limits of both mean rates, joined with the part of their variance that
        is the items' own, estimated by the covariance of before and after over the items. With
        one rollout it is Newcombe's own; for more rollouts the extension is ours.
    """
    before, after = (responses.y0 / responses.n0), (responses.y1 / responses.n1)
    r0, r1 = _rate(before, responses.n0, critical), _rate(after, responses.n1, critical)
    gain = r1.mean - r0.mean
    shared = _shared(before, after, (r0, r1))
    return Gain(
        items=len(responses),
        before=r0.mean,
        after=r1.mean,
        gain=gain,
        low=gain - _joined(r1.mean - r1.low, r0.high - r0.mean, shared),
        high=gain + _joined(r1.high - r1.mean, r0.mean - r0.low, shared),
    )


def best_gain(responses: TwoTimes, critical: float) -> Gain:
    """Return the mean gain of the interval that a scan chose, with limits that allow for that.

    Parameters
    ----------
    responses
        Responses to the items of the interval.
    critical
        Score that the best of all intervals exceeds by chance with probability alpha.

    Returns
    -------
    Gain
        Limits are the gain plus and minus `critical` of its standard deviations if nothing has
        changed, so they hold for all intervals at once, each at level alpha, and leave out 0 when
        the scan is significant. (Newcombe's interval, widened as much, leaves out the true gain in
        20% of nulls with one rollout.)
    """
    found = mean_gain(responses, critical)
    per_success = 1 / responses.n0 + 1 / responses.n1
    sd = float(np.sqrt((responses.variance * per_success**2).sum())) / len(responses)
    return found.model_copy(
        update={
            "low": max(found.gain - critical * sd, -1.0),
            "high": min(found.gain + critical * sd, 1.0),
        }
    )


def _rate(rates: NDArray[np.float64], n: NDArray[np.int64], critical: float) -> _Rate:
    mean, rollouts = float(rates.mean()), float(1 / (1 / n).mean())
    weight = critical**2 / (len(rates) * rollouts)
    middle = (mean + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (mean * (1 - mean) + weight / 4)) / (1 + weight)
    return _Rate(mean, max(middle - half, 0.0), min(middle + half, 1.0), rollouts)


def _shared(
    before: NDArray[np.float64], after: NDArray[np.float64], rates: tuple[_Rate, _Rate]
) -> float:
    """Return the correlation to join the limits with: 0 where an item says all."""
    r0, r1 = rates
    spread = r0.mean * (1 - r0.mean) * r1.mean * (1 - r1.mean)
    if spread <= 0:
        return 0.0
    geometric = np.sqrt(r0.rollouts * r1.rollouts)
    covariance = float(np.mean(before * after)) - r0.mean * r1.mean
    if covariance > 0:  # Newcombe's continuity correction, for rollouts instead of pairs
        covariance = max(covariance - 1 / (2 * len(before) * geometric), 0.0)
    per_rollout = (1 / r0.rollouts + 1 / r1.rollouts) / 2
    return float(np.clip(covariance * per_rollout * geometric / np.sqrt(spread), -1, 1))


def _joined(one: float, other: float, shared: float) -> float:
    return float(np.sqrt(max(one**2 - 2 * shared * one * other + other**2, 0.0)))
