"""What a benchmark can and cannot see: the diagnosis of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from .chance import widest_by_chance
from .fitted import FittedResult, fit_facts
from .gaps import Gap, find_gaps
from .measure import DifficultyScale, grid_mismatch, max_gap, own_scale, top_k_sum
from .onepl import Check, checks
from .targets import Target, Uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .onepl import Fit1PL

TOP_K = 5
_BLOCK = 1 << 21  # difficulties


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Estimate(_Frozen):
    """A figure with its posterior: median, 5% and 95% quantiles, and the plug-in value.

    In each draw difficulties are scaled by that draw's own extremes; the plug-in value is the
    paper's, from posterior means.
    """

    value: float
    q05: float
    q95: float
    plugin: float


class Mismatch(Estimate):
    """Difficulty distribution mismatch (DDM), W1 to the target."""

    grid: float = Field(description="the paper's same-size version, from posterior means")


class TopSum(Estimate):
    """Sum of the k widest gaps."""

    k: int


class WithoutEndItem(_Frozen):
    """What an end item holds up: plug-in figures once it is dropped."""

    item: str
    max_gap: float
    ddm: float


class Scale(_Frozen):
    """The items that pin the frozen z scale, and those whose place is the prior's."""

    min_item: str
    max_item: str
    extreme: tuple[str, ...] = Field(description="items that all rollouts solved, or none")
    without: tuple[WithoutEndItem, ...] = Field(description="after dropping each end item")


class Reach(_Frozen):
    """Whether the best model outruns the hardest item: headroom that min-max scaling hides."""

    best_model: str
    hardest_item: str
    p_above_hardest: float = Field(description="P(best model's ability > hardest difficulty)")
    top_score: float = Field(description="expected score of the best model on the hardest item")


class Ability(_Frozen):
    """A model's ability, logits."""

    model: str
    theta: float
    sd: float


class Difficulty(_Frozen):
    """An item's difficulty in logits and on the z scale."""

    item: str
    b: float
    sd: float
    z: float
    extreme: bool


class Diagnosis(FittedResult):
    """The diagnosis of a response matrix (docs/method, sections 2 and 3)."""

    checks: tuple[Check, ...]
    ddm: Mismatch
    max_gap: Estimate
    top_k_sum: TopSum
    scale: Scale
    reach: Reach
    gaps: tuple[Gap, ...] = Field(description="the widest, widest first")
    chance_width: float | None = Field(
        description="95% quantile of the widest spacing that banks without holes would show"
    )
    abilities: tuple[Ability, ...] = Field(description="best first")
    difficulties: tuple[Difficulty, ...] = Field(description="easiest first")


def diagnose(fit: Fit1PL, *, target: Target | None = None) -> Diagnosis:
    """Diagnose a benchmark from its fit.

    Parameters
    ----------
    fit
        A fit from `fit_1pl`.
    target
        Distribution of difficulty that the benchmark should have; uniform by default.

    Raises
    ------
    FitError
        All items have one difficulty, so that there is no scale.
    """
    wanted = target or Uniform()
    scale = DifficultyScale.of(fit.b)
    z = np.sort(scale.to_z(fit.b))
    k = min(TOP_K, len(z) - 1)
    drawn = _measured(fit.draws.b, wanted, k)
    null = widest_by_chance(fit)
    chance = None if null is None else float(np.quantile(null, 0.95))
    data = fit.responses
    return Diagnosis(
        **fit_facts(fit),
        checks=checks(fit),
        ddm=Mismatch(
            **_posterior(drawn[0], float(wanted.wasserstein(z))),
            grid=grid_mismatch(z, wanted),
        ),
        max_gap=Estimate(**_posterior(drawn[1], float(max_gap(z)))),
        top_k_sum=TopSum(**_posterior(drawn[2], float(top_k_sum(z, k))), k=k),
        scale=_scale(fit, wanted),
        reach=_reach(fit),
        gaps=find_gaps(fit, chance_width=chance),
        chance_width=chance,
        abilities=tuple(
            Ability(model=data.models[j], theta=float(fit.theta[j]), sd=float(fit.theta_sd[j]))
            for j in np.argsort(-fit.theta, kind="stable")
        ),
        difficulties=_difficulties(fit, scale),
    )


def _measured(b: NDArray[np.float64], target: Target, k: int) -> NDArray[np.float64]:
    """Return DDM, widest gap and top-k sum of each draw of b (S, I), shape (3, S).

    Some draws at a time: each measure takes several arrays of their size.
    """
    figures = []
    for block in np.array_split(b, min(len(b), -(-b.size // _BLOCK))):
        z = own_scale(block)
        figures.append([target.wasserstein(z), max_gap(z), top_k_sum(z, k)])
    return np.concatenate(figures, axis=1)


def _posterior(drawn: NDArray[np.float64], plugin: float) -> dict[str, float]:
    q05, value, q95 = (float(q) for q in np.quantile(drawn, [0.05, 0.5, 0.95]))
    return {"value": value, "q05": q05, "q95": q95, "plugin": plugin}


def _scale(fit: Fit1PL, target: Target) -> Scale:
    items = fit.responses.items
    ends = (int(np.argmin(fit.b)), int(np.argmax(fit.b)))
    without = []
    for end in ends:
        rest = np.delete(fit.b, end)
        if rest.max() - rest.min() < 1e-9:
            continue
        z = own_scale(rest)
        without.append(
            WithoutEndItem(
                item=items[end], max_gap=float(max_gap(z)), ddm=float(target.wasserstein(z))
            )
        )
    return Scale(
        min_item=items[ends[0]],
        max_item=items[ends[1]],
        extreme=tuple(items[i] for i in np.flatnonzero(fit.responses.extreme_items)),
        without=tuple(without),
    )


def _reach(fit: Fit1PL) -> Reach:
    best, hardest = int(np.argmax(fit.theta)), int(np.argmax(fit.b))
    ahead = fit.draws.theta[:, best] - fit.draws.b[:, hardest]
    guess = float(fit.guessing[hardest])
    return Reach(
        best_model=fit.responses.models[best],
        hardest_item=fit.responses.items[hardest],
        p_above_hardest=float(np.mean(ahead > 0)),
        top_score=float(np.mean(guess + (1 - guess) / (1 + np.exp(-ahead)))),
    )


def _difficulties(fit: Fit1PL, scale: DifficultyScale) -> tuple[Difficulty, ...]:
    z, extreme = scale.to_z(fit.b), fit.responses.extreme_items
    return tuple(
        Difficulty(
            item=fit.responses.items[i],
            b=float(fit.b[i]),
            sd=float(fit.b_sd[i]),
            z=float(z[i]),
            extreme=bool(extreme[i]),
        )
        for i in np.argsort(fit.b, kind="stable")
    )
