"""Where on the difficulty scale a gain leaves no trace, since no item lies there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..gaps import MIN_P_HOLE, covering_widths
from ..measure import DifficultyScale
from .result import BlindZone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Fit1PL

LEAST_DRAWS = 100
MOST_DRAWN = 20_000_000  # difficulties looked at: a thousand draws up to 20,000 items


def blind_zones(fit: Fit1PL, items: NDArray[np.int64], *, count: int = 5) -> tuple[BlindZone, ...]:
    """Return the widest stretches of the scale without any of the given items, widest first.

    A gain of any size on an open interval inside one is invisible, however many rollouts are taken
    (paper arXiv 2610.29927, section 2.2).

    Parameters
    ----------
    fit
        The fit whose frozen scale is meant.
    items
        Positions in the fit of the items in use, sorted by difficulty, shape (M,).
    count
        How many to return at most.
    """
    scale = DifficultyScale.of(fit.b)
    z = scale.to_z(fit.b[items])
    edges = np.concatenate([[0.0], z, [1.0]])
    widths = np.diff(edges)
    widest = np.argsort(-widths, kind="stable")[:count]
    widest = widest[widths[widest] > 0]
    draws = fit.draws.thin(max(LEAST_DRAWS, MOST_DRAWN // len(items)))
    drawn = scale.to_z(draws.b[:, items])
    covering = covering_widths(drawn, edges[widest] + widths[widest] / 2)
    return tuple(
        _judge(fit, items, (float(edges[at]), float(edges[at + 1])), (int(at), covering[:, t]))
        for t, at in enumerate(widest)
    )


def _judge(
    fit: Fit1PL,
    items: NDArray[np.int64],
    ends: tuple[float, float],
    place: tuple[int, NDArray[np.float64]],
) -> BlindZone:
    at, covering = place
    # spacing `at` lies between items at - 1 and at; beyond the first or last is the scale's end
    borders = [items[i] if 0 <= i < len(items) else None for i in (at - 1, at)]
    known = [int(i) for i in borders if i is not None]
    width = ends[1] - ends[0]
    p_hole = float(np.mean(covering >= width / 2))
    # the place of an item that all solved, or none, is the prior's
    sure = p_hole >= MIN_P_HOLE and not fit.responses.extreme_items[known].any()
    names = [None if i is None else fit.responses.items[int(i)] for i in borders]
    return BlindZone(
        z_left=ends[0],
        z_right=ends[1],
        width=width,
        left_item=names[0],
        right_item=names[1],
        p_hole=p_hole,
        verdict="empty" if sure else "unresolved",
    )
