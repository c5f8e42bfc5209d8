"""Whether abilities that no benchmark measures would swap the best two models.

docs/suite; paper arXiv 2606.05169, corollary 1 and proposition 2. A model's hidden score is
``sum_i e_i g_i^2``, g standard normal, e the hidden spectrum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from .result import HiddenSwap, Resampled
from .shares import share_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .result import Prior

DIMENSIONS = (10, 20, 50, 100)
PAIRS = 4000


def hidden_spectra(
    eigenvalues: Sequence[float], hidden: int
) -> Mapping[Prior, NDArray[np.float64]]:
    """Return the hidden spectrum under each prior, shape (h,), each with sum h.

    `empirical` has the shape of the observed eigenvalues (k of them), interpolated; `Pareto 1.5`
    the quantiles of that distribution.
    """
    i = np.arange(1, hidden + 1)
    share = (i - 0.5) / hidden
    k = len(eigenvalues)
    shapes: dict[Prior, NDArray[np.float64]] = {
        "isotropic": np.ones(hidden),
        "empirical": np.interp(share, (np.arange(k) + 0.5) / k, eigenvalues),
        "1/i": 1 / i,
        "1/i^2": 1 / i**2,
        "Pareto 1.5": share ** (-1 / 1.5),
        "one direction": np.where(i == 1, 1.0, 0.0),
    }
    return {name: e * hidden / e.sum() for name, e in shapes.items()}


def swap_probability(gap: float, observed_sd: float, spectrum: NDArray[np.float64]) -> float:
    """Return the paper's closed form ``Phi(-gap / (2 s_h))``.

    ``s_h = s_obs sqrt(4 sum e^2) / (D - d)``, e the hidden spectrum with sum D - d, shape (D - d,).
    """
    spread = observed_sd * np.sqrt(4 * (spectrum**2).sum()) / len(spectrum)
    return float(ndtr(-gap / (2 * spread))) if spread > 0 else 0.0


def hidden_swaps(
    gap: float,
    observed_sd: float,
    eigenvalues: Sequence[float],
    leading: int,
    rng: np.random.Generator,
) -> tuple[HiddenSwap, ...]:
    """Return the probability of a swap by prior and dimension, closed form and simulated.

    Parameters
    ----------
    gap
        Runner-up gap: mean z-score of the best model less the second's.
    observed_sd
        Standard deviation of the models' mean z-scores.
    eigenvalues
        Observed ones, largest first, shape (k,).
    leading
        Measured dimensions d; priors of no more dimensions than that are left out.
    rng
        For 4,000 pairs of models.

    Notes
    -----
    The simulation draws the hidden scores of two models and scales them to the *observed* variance;
    it counts how often the second overtakes the first. The closed form lets the hidden variance
    follow from the prior instead, which is where all its differences between priors come from.
    """
    found = []
    for dimension in DIMENSIONS:
        hidden = dimension - leading
        if hidden < 1:
            continue
        squares = rng.standard_normal((2, PAIRS, hidden)) ** 2
        for prior, spectrum in hidden_spectra(eigenvalues, hidden).items():
            scale = observed_sd / np.sqrt(2 * (spectrum**2).sum())
            first, second = scale * (squares @ spectrum)
            overtaken = int((second - first > gap).sum())
            low, high = share_interval(overtaken, PAIRS)
            found.append(
                HiddenSwap(
                    prior=prior,
                    dimension=dimension,
                    closed_form=swap_probability(gap, observed_sd, spectrum),
                    simulated=Resampled(value=overtaken / PAIRS, q025=low, q975=high),
                )
            )
    return tuple(found)
