"""How much difficulties change when fewer models answer: leave-out stability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from ..errors import FitError
from ..onepl import fit_1pl
from .result import PanelPoint, Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..onepl import Fit1PL

SIZES = (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
RANDOM_PANELS = 20  # of each size, each a fit
_FEWEST_ITEMS = 3


class _Agreement(NamedTuple):
    spearman: float
    pearson: float
    items: int


def stability_curve(
    fit: Fit1PL,
    suggested: Callable[[int], list[int]],
    rng: np.random.Generator,
    size: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[PanelPoint, ...]:
    """Fit again with the suggested and with random panels of several sizes (by ``map``).

    Parameters
    ----------
    fit
        The fit of all models.
    suggested
        Gives the positions of the suggested panel of a size.
    rng
        Draws the random panels.
    size
        A size that is looked at whatever the others are.
    progress
        Called with the fits made and those to come in all.
    """
    models = len(fit.theta)
    sizes = sorted({one for one in (*SIZES, size) if 2 <= one < models})
    total, made = len(sizes) * (RANDOM_PANELS + 1), 0
    points = []
    for count in sizes:
        panel = suggested(count)
        own = _agreement(fit, panel)
        drawn = []
        for _ in range(RANDOM_PANELS):
            drawn.append(_agreement(fit, rng.choice(models, count, replace=False).tolist()))
            made += 1
            if progress is not None:
                progress(made, total)
        made += 1
        if own is not None:
            points.append(_point(fit, panel, own, [one for one in drawn if one is not None]))
    return tuple(points)


def spread_of(values: Sequence[float]) -> Spread:
    """Return median and 90% range of values, of which there is at least one."""
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    return Spread(median=float(middle), q05=float(low), q95=float(high))


def _point(fit: Fit1PL, panel: list[int], own: _Agreement, drawn: list[_Agreement]) -> PanelPoint:
    rest = [j for j in range(len(fit.theta)) if j not in set(panel)]
    return PanelPoint(
        size=len(panel),
        spearman=own.spearman,
        pearson=own.pearson,
        rest_spearman=_with_rest(fit, panel, rest),
        random_spearman=spread_of([one.spearman for one in drawn]) if drawn else None,
        random_pearson=spread_of([one.pearson for one in drawn]) if drawn else None,
        panels=len(drawn),
        items=own.items,
    )


def _agreement(fit: Fit1PL, panel: list[int]) -> _Agreement | None:
    """Compare with the fit of all models; None where a panel alone cannot be fitted."""
    alone = _difficulties(fit, panel)
    return None if alone is None else _compare(alone, fit.b)


def _with_rest(fit: Fit1PL, panel: list[int], rest: list[int]) -> float | None:
    if len(rest) < 2:
        return None
    alone, others = _difficulties(fit, panel), _difficulties(fit, rest)
    if alone is None or others is None:
        return None
    found = _compare(alone, others)
    return None if found is None else found.spearman


def _difficulties(fit: Fit1PL, panel: list[int]) -> NDArray[np.float64] | None:
    """Return b from these models alone, shape (I,), NaN of items that none of them answered."""
    part = fit.responses.select(models=panel)
    answered = part.n.sum(0) > 0
    b = np.full(len(answered), np.nan)
    if answered.sum() < _FEWEST_ITEMS:
        return None
    kept = np.flatnonzero(answered)
    try:
        again = fit_1pl(part.select(items=kept.tolist()), engine="map", guessing=fit.guessing[kept])
    except FitError:  # models on disjoint items, or all answers alike
        return None
    b[kept] = again.b
    return b


def _compare(one: NDArray[np.float64], other: NDArray[np.float64]) -> _Agreement | None:
    both = np.isfinite(one) & np.isfinite(other)
    one, other = one[both], other[both]
    if len(one) < _FEWEST_ITEMS or np.ptp(one) < 1e-12 or np.ptp(other) < 1e-12:
        return None
    return _Agreement(
        float(spearmanr(one, other).statistic), float(np.corrcoef(one, other)[0, 1]), len(one)
    )
