"""A model tested twice on items of known difficulty, and what the tests of progress say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchfill.progress.gain import best_gain
from benchfill.progress.null import TwoTimes, null_of_sum, upper_p
from benchfill.progress.scan import scan_intervals, windows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.progress import ProgressTest
    from benchfill.progress.scan import Windows


@dataclass(frozen=True)
class Setting:
    """Items uniform over 4 logits, rollouts before and after, and a gain on the z in between."""

    items: int
    n0: int
    n1: int
    gain: float = 0.0
    between: tuple[float, float] = (0.5, 0.7)


def simulate(
    setting: Setting, rng: np.random.Generator
) -> tuple[NDArray[np.float64], TwoTimes, NDArray[np.float64]]:
    """Return z (sorted), the responses, and the true gain of each item; each (I,)."""
    z = np.sort(rng.random(setting.items))
    p0 = 1 / (1 + np.exp(4 * (z - 0.5)))
    left, right = setting.between
    p1 = np.minimum(p0 + setting.gain * ((z > left) & (z < right)), 1.0)
    n0, n1 = (np.full(setting.items, n) for n in (setting.n0, setting.n1))
    return z, TwoTimes(rng.binomial(n0, p0), n0, rng.binomial(n1, p1), n1), p1 - p0


def interval_p(
    z: NDArray[np.float64],
    responses: TwoTimes,
    between: tuple[float, float],
    u: float | None = None,
) -> float:
    """Return the p-value of the test on one interval."""
    inside = responses.take((z > between[0]) & (z < between[1]))
    return upper_p(null_of_sum(inside), int(inside.y1.sum()), u) if len(inside) else 1.0


def scan_p(
    windows: Windows, responses: TwoTimes, test: ProgressTest, rng: np.random.Generator
) -> float:
    """Return the p-value of a scan."""
    return scan_intervals(responses, windows, test, rng).p


def means_instead(windows: Windows) -> Windows:
    """Score intervals by their mean difference, whatever its variance: what not to do."""
    scales = []
    for width, scale in zip(windows.widths, windows.scale, strict=True):
        inside = windows.first[width:] - windows.first[:-width]
        scales.append(np.where(scale > 0, 1 / inside, 0.0))
    return replace(windows, scale=tuple(scales))


def selected_limits(
    setting: Setting, test: ProgressTest, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """Return lower limit, true mean gain and upper limit of the interval that a scan chose."""
    z, responses, gains = simulate(setting, rng)
    scan = scan_intervals(responses, windows_of(z, responses.variance), test, rng)
    if scan.items is None:
        return None
    chosen = slice(*scan.items)
    found = best_gain(responses.take(chosen), scan.critical)
    return found.low, float(gains[chosen].mean()), found.high


def place_by(source: str, models: int, tests: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return p-values of the hard third of 120 items, no model having changed, shape (tests,).

    The items are placed by their totals, in whose order a fit places them: those before alone,
    before and after pooled, or of the other models.
    """
    p = np.empty(tests)
    for number in range(tests):
        theta = np.sort(rng.normal(0, 1.5, models))
        rates = 1 / (1 + np.exp(rng.normal(0, 1.5, 120) - theta[:, None]))
        before, after = rng.random(rates.shape) < rates, rng.random(rates.shape) < rates
        tested = models // 2
        total = {
            "before alone": before.sum(0),
            "before and after pooled": before.sum(0) + after.sum(0),
            "other models": before.sum(0) - before[tested],
        }[source]
        z = np.empty(120)
        z[np.argsort(-(total + 0.5 * rng.random(120)))] = np.linspace(0, 1, 120)
        one = np.ones(120, dtype=np.int64)
        responses = TwoTimes(before[tested].astype(int), one, after[tested].astype(int), one)
        p[number] = interval_p(z, responses, (2 / 3, 2.0))
    return p
