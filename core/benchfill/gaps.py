"""Gaps of a benchmark's difficulty coverage, and whether they are real.

With few models and rollouts point estimates sit on a lattice and leave holes in which many items
may truly lie; a verdict therefore looks at the posterior (docs/method, section 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from .measure import DifficultyScale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .onepl import Fit1PL

MIN_P_HOLE = 0.95
Verdict = Literal["empty", "unresolved"]


class Decision(BaseModel):
    """What would decide an unresolved gap: run these items again, on these models, so often."""

    model_config = ConfigDict(frozen=True)

    items: tuple[str, ...] = Field(description="items that may lie in the gap, likeliest first")
    models: tuple[str, ...] = Field(description="models that tell most about this difficulty")
    rollouts: int = Field(
        description="further rollouts an item and model for a standard error of a quarter width"
    )


class Gap(BaseModel):
    """A spacing between neighbouring items, on the frozen z scale."""

    model_config = ConfigDict(frozen=True)

    left_item: str
    right_item: str
    z_left: float
    z_right: float
    width: float
    width_q05: float = Field(description="5% posterior quantile of the spacing over the midpoint")
    midpoint: float
    p_hole: float = Field(description="P(spacing over the midpoint >= half the width)")
    occupancy: float = Field(description="expected number of other items inside; not used")
    verdict: Verdict
    wider_than_chance: bool | None = Field(
        default=None,
        description="wider than the widest of 95% of banks without holes would look; an annotation",
    )
    depends_on_item: str | None = Field(description="end item of the benchmark that borders it")
    extreme_border: bool = Field(description="a border item is solved by all or by none")
    decide: Decision | None = Field(description="what would decide it; None when it is empty")


def find_gaps(
    fit: Fit1PL, *, count: int = 20, chance_width: float | None = None
) -> tuple[Gap, ...]:
    """Return the widest spacings between items with their verdicts, widest first.

    Parameters
    ----------
    fit
        A fit of at least two items that differ.
    count
        How many to return at most.
    chance_width
        What a gap must be wider than to be called wider than chance, see `widest_by_chance`.

    Returns
    -------
    tuple of Gap
        ``empty`` when P(hole) >= .95 and neither border is an all-right or all-wrong item,
        whose place is the prior's; else ``unresolved``.

    Raises
    ------
    FitError
        The benchmark has no difficulty scale.
    """
    scale = DifficultyScale.of(fit.b)
    z = scale.to_z(fit.b)
    order = np.argsort(z, kind="stable")
    widths = np.diff(z[order])
    widest = np.argsort(-widths, kind="stable")[:count]
    widest = widest[widths[widest] > 0]
    left, right = order[widest], order[widest + 1]
    drawn = scale.to_z(fit.draws.b)
    covering = covering_widths(drawn, (z[left] + z[right]) / 2)
    return tuple(
        _judge(fit, (z, drawn), (int(a), int(b)), covering[:, t], chance_width)
        for t, (a, b) in enumerate(zip(left, right, strict=True))
    )


def covering_widths(z: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each draw and point, the width of the spacing of the draw that covers the point.

    Parameters
    ----------
    z
        Difficulties of all items in each draw, shape (S, I), in any order.
    points
        Places on the same scale, shape (T,).

    Returns
    -------
    Shape (S, T). Infinite where a point lies beyond all items of the draw: no item closes it in.
    """
    widths = np.empty((len(z), len(points)))
    for s, drawn in enumerate(z):
        places = np.concatenate([[-np.inf], np.sort(drawn), [np.inf]])
        above = np.searchsorted(places, points)
        widths[s] = places[above] - places[above - 1]
    return widths


def _judge(
    fit: Fit1PL,
    on_scale: tuple[NDArray[np.float64], NDArray[np.float64]],
    border: tuple[int, int],
    covering: NDArray[np.float64],
    chance_width: float | None,
) -> Gap:
    left, right = border
    z, drawn = on_scale
    items = fit.responses.items
    z_left, z_right = float(z[left]), float(z[right])
    width = z_right - z_left
    p_hole = float(np.mean(covering >= width / 2))
    extreme = bool(fit.responses.extreme_items[[left, right]].any())
    verdict: Verdict = "empty" if p_hole >= MIN_P_HOLE and not extreme else "unresolved"
    inside = ((drawn > z_left) & (drawn < z_right)).mean(0)
    inside[[left, right]] = 0
    ends = {int(np.argmin(fit.b)), int(np.argmax(fit.b))} & {left, right}
    return Gap(
        left_item=items[left],
        right_item=items[right],
        z_left=z_left,
        z_right=z_right,
        width=width,
        width_q05=float(np.quantile(covering, 0.05, method="inverted_cdf")),
        midpoint=(z_left + z_right) / 2,
        p_hole=p_hole,
        occupancy=float(inside.sum()),
        verdict=verdict,
        wider_than_chance=None if chance_width is None else width > chance_width,
        depends_on_item=items[min(ends)] if ends else None,
        extreme_border=extreme,
        decide=None if verdict == "empty" else _decision(fit, border, inside),
    )


def _decision(fit: Fit1PL, border: tuple[int, int], inside: NDArray[np.float64]) -> Decision:
    """Name the items that may lie in the gap and the models that tell most about its middle.

    The rollouts are those that bring an item's standard error to a quarter of the gap's width, were
    it asked of the named models only: 1 / se^2 = (sum of p (1 - p) over them) per rollout.
    """
    b_left, b_right = fit.b[border[0]], fit.b[border[1]]
    chance = inside.copy()
    chance[list(border)] = 1.0
    likely = [int(i) for i in np.argsort(-chance, kind="stable")[:12] if chance[i] >= 0.05]
    p = 1 / (1 + np.exp((b_left + b_right) / 2 - fit.theta))
    best = np.argsort(-p * (1 - p), kind="stable")[:6]
    wanted = (4 / (b_right - b_left)) ** 2
    rollouts = int(np.ceil(wanted / (p[best] * (1 - p[best])).sum()))
    return Decision(
        items=tuple(fit.responses.items[i] for i in likely),
        models=tuple(fit.responses.models[int(j)] for j in best),
        rollouts=rollouts,
    )
