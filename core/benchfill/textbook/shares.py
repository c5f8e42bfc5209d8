"""Shares with their intervals."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field
from scipy.stats import binomtest

from ..errors import InputError
from .frozen import Frozen

LEVEL: Final = 0.95


class Share(Frozen):
    """A share of n with its 95% interval; all None where n is 0."""

    count: int = Field(ge=0)
    n: int = Field(ge=0)
    share: float | None = Field(description="count / n, in [0, 1]")
    low: float | None = Field(description="lower end of the 95% interval")
    high: float | None = Field(description="upper end")


def share(count: int, n: int, method: Literal["wilson", "exact"] = "wilson") -> Share:
    """Return a share with its 95% interval.

    Parameters
    ----------
    count, n
        Successes out of so many.
    method
        ``wilson`` (score interval, covers 95% on average), or ``exact`` (Clopper-Pearson, covers at
        least 95% always; for small counts on which much depends).

    Raises
    ------
    InputError
        `count` is below 0 or above `n`.
    """
    if not 0 <= count <= n:
        raise InputError(f"{count} of {n} is no share.")
    if n == 0:
        return Share(count=0, n=0, share=None, low=None, high=None)
    interval = binomtest(count, n).proportion_ci(LEVEL, method)
    return Share(
        count=count, n=n, share=count / n, low=float(interval.low), high=float(interval.high)
    )


class Difference(Frozen):
    """A difference of two shares with its 95% interval."""

    difference: float | None
    low: float | None
    high: float | None


def difference(a: Share, b: Share) -> Difference:
    """Return a - b with Newcombe's hybrid interval from the two Wilson intervals [1]_.

    Both shares must be Wilson's. None where one of them has no n.

    References
    ----------
    .. [1] Newcombe, R. G. (1998). Interval estimation for the difference between independent
       proportions. Statistics in Medicine, 17(8), 873-890, method 10.
    """
    if a.share is None or b.share is None:
        return Difference(difference=None, low=None, high=None)
    low_a, high_a, low_b, high_b = (one or 0.0 for one in (a.low, a.high, b.low, b.high))
    gap = a.share - b.share
    below = ((a.share - low_a) ** 2 + (high_b - b.share) ** 2) ** 0.5
    above = ((high_a - a.share) ** 2 + (b.share - low_b) ** 2) ** 0.5
    return Difference(difference=gap, low=gap - below, high=gap + above)
