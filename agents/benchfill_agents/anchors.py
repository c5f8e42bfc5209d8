"""Anchors: whether today's models still have the abilities of the fit.

Abilities may come from other prompts, dates and scorers than today's pool. Before a fill every
pool model answers existing items that span z. A model whose answers contradict its fitted ability
is re-estimated from its anchors where they pin it down, else left out; either way it is named
(docs/method, section 6). A model that looks odd after a few answers is asked more before that is
said: a logit's change is seldom seen in 24 answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.special import expit, log_expit, ndtr, ndtri

from benchfill.errors import FitError

from .pool.rollouts import RolloutRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item

    from .calibrator import Bench
    from .pool.rollouts import RolloutRunner
    from .spending import Allowance

ANCHORS = 8
LOOKS = (3, 6, 6)
"""Rollouts on each anchor at each look; after the first only of models that look odd."""
MOST_ROLLOUTS = sum(LOOKS)
ODD = 0.25  # two-sided p-value
LEVEL = 0.01
PRIOR_SD = 2.0
CHEAPEST = 0.1
GRID = np.linspace(-12.0, 12.0, 481)
Standing = Literal["kept", "re-estimated", "left_out"]


class AnchorModel(BaseModel):
    """One model's anchors."""

    model_config = ConfigDict(frozen=True)

    model: str
    theta: float = Field(description="ability in the fit, logits")
    theta_anchors: float | None = Field(description="ability by the anchors alone")
    expected: float = Field(description="expected successes by the fit")
    correct: tuple[int, ...] = Field(description="successes on each anchor")
    n: tuple[int, ...] = Field(description="rollouts on each anchor")
    p_value: float = Field(description="two-sided, of the successes given the fit")
    standing: Standing
    usd: float | None = Field(None, description="US dollars of a rollout; None if not known")


class AnchorReport(BaseModel):
    """The anchors of a fill."""

    model_config = ConfigDict(frozen=True)

    used: bool = Field(description="False under --no-anchors")
    items: tuple[str, ...] = ()
    rollouts: int = 0
    models: tuple[AnchorModel, ...] = ()

    @property
    def drifted(self) -> tuple[str, ...]:
        """Models that were re-estimated or left out."""
        return tuple(one.model for one in self.models if one.standing != "kept")


def anchor_items(bench: Bench, items: Sequence[Item], count: int = ANCHORS) -> tuple[Item, ...]:
    """Choose existing items that span z evenly, among those whose text is at hand."""
    place = dict(zip(bench.items, bench.scale.to_z(bench.draws.b.mean(0)), strict=True))
    known = sorted((item for item in items if item.id in place), key=lambda item: place[item.id])
    if len(known) <= count:
        return tuple(known)
    z = np.array([place[item.id] for item in known])
    chosen: list[int] = []
    for wanted in np.linspace(z[0], z[-1], count):
        nearest = np.argsort(np.abs(z - wanted), kind="stable")
        chosen.append(next(int(k) for k in nearest if int(k) not in chosen))
    return tuple(known[k] for k in sorted(chosen))


async def check_anchors(
    bench: Bench,
    items: Sequence[Item],
    runner: RolloutRunner,
    allowance: Allowance,
    first_sample: int,
) -> AnchorReport:
    """Ask every model the anchor items and judge its standing; ask on where it looks odd.

    `first_sample` is the index of the first rollout: apart from those that made the benchmark's
    responses, whose answers the ledger would otherwise hand out again as if they were new.
    """
    anchors = anchor_items(bench, items)
    names = tuple(item.id for item in anchors)
    correct = np.zeros((len(bench.models), len(anchors)))
    n, asked = correct.astype(np.int64), 0
    paid: list[list[float]] = [[] for _ in bench.models]
    odd = list(range(len(bench.models)))
    judged: tuple[AnchorModel, ...] = ()
    for look, size in enumerate(LOOKS):
        before = first_sample + sum(LOOKS[:look])
        places = [(p, a, k) for a in range(len(anchors)) for k in range(size) for p in odd]
        requests = [RolloutRequest(bench.models[p], anchors[a], before + k) for p, a, k in places]
        allowance.take(len(requests))
        asked += len(requests)
        for (p, a, _), rollout in zip(places, await runner.run(requests), strict=True):
            if rollout.correct is not None:
                correct[p, a] += rollout.correct
                n[p, a] += 1
            if rollout.cost is not None:
                paid[p].append(rollout.cost)
        judged = judge(bench, names, correct, n)
        odd = [p for p, one in enumerate(judged) if one.p_value < ODD]
        if not odd:
            break
    models = tuple(
        one.model_copy(update={"usd": float(np.mean(usd)) if usd else None})
        for one, usd in zip(judged, paid, strict=True)
    )
    return AnchorReport(used=True, items=names, rollouts=asked, models=models)


def judge(
    bench: Bench,
    anchors: tuple[str, ...],
    correct: NDArray[np.float64],
    n: NDArray[np.int64],
) -> tuple[AnchorModel, ...]:
    """Compare each model's successes (P, A) with what the fit expects of it.

    The statistic is the total, standardised by binomial and posterior variance; a model drifted
    when it lies beyond the two-sided 1% point, divided by the number of models and of looks
    (Bonferroni).
    """
    columns = [bench.items.index(item) for item in anchors]
    b = bench.draws.b[:, columns]
    limit = float(ndtri(1 - LEVEL / 2 / len(bench.models) / len(LOOKS)))
    judged = []
    for p, name in enumerate(bench.models):
        rate = expit(bench.draws.theta[:, p, None] - b)
        totals = rate @ n[p]
        scatter = rate * (1 - rate)
        own = (scatter * n[p] * bench.misfit) ** 2  # of each item, beyond ability and difficulty
        spread = float(np.sqrt(totals.var() + (scatter @ n[p] + own.sum(1)).mean()))
        away = (float(correct[p].sum()) - float(totals.mean())) / max(spread, 1e-9)
        standing: Standing = "kept"
        pinned = 0 < correct[p].sum() < n[p].sum()
        if abs(away) > limit:
            standing = "re-estimated" if pinned else "left_out"
        judged.append(
            AnchorModel(
                model=name,
                theta=float(bench.theta[p]),
                theta_anchors=_mode(b.mean(0), correct[p], n[p]) if pinned else None,
                expected=float(totals.mean()),
                correct=tuple(int(y) for y in correct[p]),
                n=tuple(int(trials) for trials in n[p]),
                p_value=float(2 * ndtr(-abs(away))),
                standing=standing,
            )
        )
    return tuple(judged)


def relative_prices(report: AnchorReport) -> NDArray[np.float64] | None:
    """Return what a rollout of each model costs as multiples of the mean, shape (P,).

    A model whose price is not known is taken to cost the mean of the others; None where no price is
    known or nothing costs anything. No price counts as less than a tenth of the mean, since every
    rollout takes time.
    """
    usd = np.array([np.nan if one.usd is None else one.usd for one in report.models])
    if not np.nansum(usd) > 0:
        return None
    mean = float(np.nanmean(usd))
    return np.maximum(np.where(np.isnan(usd), mean, usd) / mean, CHEAPEST)


def adjusted(bench: Bench, report: AnchorReport, rng: np.random.Generator) -> Bench:
    """Return the bench with drifted models re-estimated from their anchors or left out, and priced.

    A re-estimated ability is drawn, for each draw of the difficulties, from its posterior given the
    anchors' answers, with the prior N(0, 2).

    Raises
    ------
    FitError
        Fewer than half of the models still fit.
    """
    left_out = {one.model for one in report.models if one.standing == "left_out"}
    if report.models and len(left_out) > len(bench.models) / 2:
        raise FitError(
            f"{len(left_out)} of {len(bench.models)} pool models no longer answer as in the "
            f"responses ({', '.join(sorted(left_out))}); measure the benchmark again with "
            "`benchfill rollouts`, or see whether the pool asks as it was asked then."
        )
    columns = [bench.items.index(item) for item in report.items]
    b = bench.draws.b[:, columns]
    again = {
        one.model: _drawn_abilities(b, np.array(one.correct), np.array(one.n), rng)
        for one in report.models
        if one.standing == "re-estimated"
    }
    priced = replace(bench, known_prices=relative_prices(report))
    return priced.with_abilities(again).without(left_out)


def _log_likelihood(
    b: NDArray[np.float64], correct: NDArray[np.float64], n: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the log likelihood of abilities on the grid, shape (..., G), for b (..., A)."""
    logit = GRID[:, None] - b[..., None, :]
    return np.asarray(log_expit(logit) @ correct + log_expit(-logit) @ (n - correct))


def _mode(b: NDArray[np.float64], correct: NDArray[np.float64], n: NDArray[np.int64]) -> float:
    return float(GRID[np.argmax(_log_likelihood(b, correct, n))])


def _drawn_abilities(
    b: NDArray[np.float64],
    correct: NDArray[np.float64],
    n: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    log_mass = _log_likelihood(b, correct, n) - 0.5 * (GRID / PRIOR_SD) ** 2
    mass = np.exp(log_mass - log_mass.max(1, keepdims=True))
    upto = np.cumsum(mass, axis=1)
    cell = (upto < rng.random((len(b), 1)) * upto[:, -1:]).sum(1)
    return np.asarray(GRID[np.minimum(cell, len(GRID) - 1)])
