"""What an outside benchmark would add to a suite.

docs/suite; paper arXiv 2606.05169, section on counterfactuals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .models_in_use import standardise
from .result import Novelty, Resampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_MODELS = 10
_FLAT = 1e-12


def novelty_of(
    name: str,
    z: NDArray[np.float64],
    outside: NDArray[np.float64],
    leading: int,
    picks: NDArray[np.int64],
) -> Novelty | None:
    """Return the share of an outside column's variance that the leading components leave.

    Parameters
    ----------
    name
        Of the outside benchmark.
    z
        Standardised scores of the suite, whole rows, shape (n, k).
    outside
        Its scores on the same models, shape (n,); NaN where missing.
    leading
        Components of the suite.
    picks
        How often each model was drawn in each resample, shape (B, n).

    Returns
    -------
    None when fewer than 10 models have its score, or all the same.
    """
    known = ~np.isnan(outside)
    if known.sum() < LEAST_MODELS or np.ptp(outside[known]) == 0:
        return None
    left, lengths, _ = np.linalg.svd(z - z.mean(0), full_matrices=False)
    parts = left[:, :leading][:, lengths[:leading] > 1e-9 * lengths[0]]
    design = np.column_stack([np.ones(len(parts)), parts])[known]
    y, times = standardise(outside[known, None])[:, 0], picks[:, known].astype(np.float64)
    drawn = [_unexplained(design, y, weight) for weight in times]
    return Novelty(
        benchmark=name,
        models=int(known.sum()),
        novelty=Resampled.of(
            _unexplained(design, y, np.ones(len(y))),
            np.array([one for one in drawn if np.isfinite(one)]),
        ),
        by_chance=float(1 - parts.shape[1] / (known.sum() - 1)),
    )


def _unexplained(
    design: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    root = np.sqrt(weight)
    mean = (weight @ y) / max(weight.sum(), 1)
    whole = float(weight @ (y - mean) ** 2)
    if whole < _FLAT:
        return float("nan")
    fit = design @ np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    return float(weight @ (y - fit) ** 2) / whole
