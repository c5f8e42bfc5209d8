"""Tails of the null distribution by the million, as a simulation of power needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr
from scipy.stats import hypergeom

if TYPE_CHECKING:
    from numpy.typing import NDArray


def lattice_tail(
    excess: NDArray[np.float64], variance: NDArray[np.float64], cumulant: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Approximate P(sum >= observed) where before and after have equally many rollouts.

    The null is symmetric then, so that the normal tail with continuity, fourth-cumulant and
    lattice correction (Kolassa & McCullagh 1990, doi:10.1214/aos/1176347637) is within .002 of
    the exact one; for simulations, which need millions of them.

    Parameters
    ----------
    excess, variance, cumulant
        Sum less its mean, variance and fourth cumulant of the sum; any one shape. Where the
        variance is 0 the result is 1.
    """
    known = variance > 1e-9
    sd = np.sqrt(np.where(known, variance, 1.0))
    x = (excess - 0.5) / sd
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    kurtosis = cumulant / sd**4
    tail = ndtr(-x) + density * (kurtosis * (x**3 - 3 * x) - x / sd**2) / 24
    return np.where(known, np.clip(tail, 0, 1), 1.0)


def even_moments(k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return variance and fourth cumulant of the successes after, by total 0..2k; (2k + 1,) each.

    For k rollouts before and k after.
    """
    totals = np.arange(2 * k + 1)[:, None]
    successes = np.arange(k + 1)
    mass = hypergeom.pmf(successes, 2 * k, totals, k)
    away = successes - totals / 2
    variance = (mass * away**2).sum(1)
    return variance, (mass * away**4).sum(1) - 3 * variance**2
