"""How far raters agree: raw agreement and Cohen's kappa, of one pair of raters and over all pairs.

References
----------
.. [1] Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and
   Psychological Measurement, 20(1), 37-46. doi:10.1177/001316446002000104
.. [2] Fleiss, J. L., Cohen, J., & Everitt, B. S. (1969). Large sample standard errors of kappa and
   weighted kappa. Psychological Bulletin, 72(5), 323-327. doi:10.1037/h0028106
.. [3] Barlow, W., Lai, M.-Y., & Azen, S. P. (1991). A comparison of methods for calculating a
   stratified kappa. Statistics in Medicine, 10(9), 1465-1472. doi:10.1002/sim.4780100913
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

_Z = 1.959963984540054  # 97.5% quantile of the standard normal
NOTHING = "nothing was judged by two raters."
ONE_CATEGORY = "each pair of raters used one category only, so that chance alone agrees fully."
PERFECT = (
    "the raters agree on everything, where the large-sample standard error is 0 and tells nothing."
)


class Kappa(BaseModel):
    """Agreement of raters, and what of it is beyond chance."""

    model_config = ConfigDict(frozen=True)

    n: int = Field(description="judgements of two raters on the same thing")
    raw: float | None = Field(description="share of them that agree")
    kappa: float | None = Field(
        description="Cohen's kappa: 0 is chance, 1 is full agreement; null where it is undefined"
    )
    se: float | None = Field(description="large-sample standard error of kappa")
    low: float | None = Field(description="lower end of its 95% interval")
    high: float | None = Field(description="upper end")
    n_kappa: int = Field(description="judgements that kappa rests on")
    why: str | None = Field(None, description="why kappa or its interval is null")


class _Pair(NamedTuple):
    raw: float
    kappa: float  # NaN where undefined
    influence: NDArray[np.float64]  # (K, K): of one judgement in each cell, times n


def cohen_kappa(table: ArrayLike) -> Kappa:
    """Return the agreement of two raters on nominal categories.

    Parameters
    ----------
    table
        Counts, shape (K, K): rows are the first rater's categories, columns the second's.

    Returns
    -------
    Kappa
        ``kappa = (p_o - p_e) / (1 - p_e)`` [1]_ with the standard error of [2]_ and a normal 95%
        interval, cut at -1 and 1. Undefined, so None, where both used one and the same category
        only (p_e = 1); the interval is None too where they agree on everything.

    Raises
    ------
    InputError
        The table is not square, or holds what is no count.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError(f"a table of two raters is square, not {counts.shape}.", field="table")
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts % 1 != 0).any():
        raise InputError("a table of two raters holds whole counts from 0 up.", field="table")
    n = int(counts.sum())
    if n == 0:
        return _unknown(0, None, NOTHING)
    pair = _pair(counts)
    if np.isnan(pair.kappa):
        return _unknown(n, pair.raw, ONE_CATEGORY)
    variance = float((counts * pair.influence**2).sum()) / n**2
    return _known((n, n), pair.raw, pair.kappa, variance)


def rater_agreement(judgements: Sequence[Mapping[str, str]], *, rater: str | None = None) -> Kappa:
    """Return the agreement of all pairs of raters, each of whom judged some of the things.

    Parameters
    ----------
    judgements
        For each thing that was judged: rater to category. Those with one rater do not count.
    rater
        Only pairs with this rater in them; None for all.

    Returns
    -------
    Kappa
        The stratified kappa: the mean of the pairs' kappas, weighted by the sizes of their tables
        [3]_. Pairs whose kappa is undefined count in `n` and `raw` but not in `n_kappa` and
        `kappa`. The standard error adds up what each thing moves over all pairs that judged it, so
        that three raters of one thing do not pass for independent; with one pair it is that of
        [2]_.

    Notes
    -----
    Kappas of pairs with very few things in common are biased towards 0: a pair that agrees on its
    only thing has none, a pair that does not has 0.
    """
    things: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(judgements):
        for pair in combinations(sorted(one), 2):
            if rater is not None and rater not in pair:
                continue
            things.setdefault(pair, []).append(number)
    total = sum(map(len, things.values()))
    if not total:
        return _unknown(0, None, NOTHING)
    categories = {
        name: k for k, name in enumerate(sorted({c for j in judgements for c in j.values()}))
    }
    agreed, weighted, weight = 0.0, 0.0, 0
    moved = np.zeros(len(judgements))
    for (first, second), numbers in things.items():
        rows = np.array([categories[judgements[k][first]] for k in numbers])
        columns = np.array([categories[judgements[k][second]] for k in numbers])
        counts = np.zeros((len(categories), len(categories)))
        np.add.at(counts, (rows, columns), 1)
        found = _pair(counts)
        agreed += found.raw * len(numbers)
        if not np.isnan(found.kappa):
            weighted += found.kappa * len(numbers)
            weight += len(numbers)
            np.add.at(moved, numbers, found.influence[rows, columns])
    raw = agreed / total
    if not weight:
        return _unknown(total, raw, ONE_CATEGORY)
    return _known((total, weight), raw, weighted / weight, float((moved**2).sum()) / weight**2)


def _pair(counts: NDArray[np.float64]) -> _Pair:
    p = counts / counts.sum()
    first, second = p.sum(1), p.sum(0)
    observed, chance = float(np.trace(p)), float(first @ second)
    if 1 - chance < 1e-12:
        return _Pair(observed, float("nan"), np.full_like(p, np.nan))
    kappa = (observed - chance) / (1 - chance)
    # the delta method of [2]: how one judgement moves p_o and p_e, and they kappa
    on_observed = np.eye(len(p)) - observed
    on_chance = second[:, None] + first[None, :] - 2 * chance
    return _Pair(observed, kappa, (on_observed - (1 - kappa) * on_chance) / (1 - chance))


def _known(n: tuple[int, int], raw: float, kappa: float, variance: float) -> Kappa:
    if variance < 1e-24:
        why = PERFECT if raw > 1 - 1e-12 else "too few judgements for a standard error."
        return Kappa(
            n=n[0], raw=raw, kappa=kappa, se=None, low=None, high=None, n_kappa=n[1], why=why
        )
    se = float(np.sqrt(variance))
    return Kappa(
        n=n[0],
        raw=raw,
        kappa=kappa,
        se=se,
        low=max(kappa - _Z * se, -1.0),
        high=min(kappa + _Z * se, 1.0),
        n_kappa=n[1],
    )


def _unknown(n: int, raw: float | None, why: str) -> Kappa:
    return Kappa(n=n, raw=raw, kappa=None, se=None, low=None, high=None, n_kappa=0, why=why)
