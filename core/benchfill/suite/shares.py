"""Uncertainty of a share that was counted."""

from __future__ import annotations

import math


def share_interval(count: int, trials: int, *, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share, doi:10.1080/01621459.1927.10502953."""
    share = count / trials
    middle = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials)
    half *= math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    return max(middle - half, 0.0), min(middle + half, 1.0)
