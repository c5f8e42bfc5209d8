"""The leaderboard that a benchmark gives, and the one that its target would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ..errors import InputError
from ..fitted import fit_facts
from ..measure import DifficultyScale
from ..targets import Target, Uniform
from ..weights import shared_places, target_weights
from .pairs import PairFigures, Scores, chosen_pairs, compare
from .resample import Bootstrap, model_rows
from .result import (
    Bound,
    HeavyItem,
    Interval,
    Order,
    Pair,
    RankedModel,
    Ranking,
    Shares,
    Standing,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Fit1PL
    from ..responses import ResponseMatrix

FEWEST_REPLICATES, MOST_REPLICATES = 100, 100_000
MOST_SCORES = 20_000_000  # of all models in all replicates, 320 MB for both distributions
MOST_LISTED = 1000
HEAVIEST = 10
_FLOATS = 1 << 23  # of one array of a block of models
_ORDERS: dict[int, Order] = {1: "same", -1: "opposite", 0: "open"}


def rank_models(
    fit: Fit1PL,
    *,
    target: Target | None = None,
    replicates: int = 1000,
    delta: float = 0.05,
    seed: int = 0,
) -> Ranking:
    """Rank the models on the benchmark and under a target distribution of difficulty.

    Both scores are means of observed rates: on the benchmark each item has one weight, under the
    target the mass that is nearest to it (`target_weights`). The fit only places the items. Its own
    curves could flip nobody: of two models the abler is better on every item, whatever the weights.

    Parameters
    ----------
    fit
        A fit from `fit_1pl`.
    target
        Distribution of difficulty that scores should refer to; uniform by default.
    replicates
        Bootstrap replicates, 100 to 100,000, fewer for more than 200 models. Each draws items with
        replacement, weights those that it drew, and draws each one's rollouts anew, with
        replacement too.
    delta
        Probability, in (0, 1), that any pair's bound fails; divided by the number of pairs.
    seed
        Seed of all draws.

    Returns
    -------
    Ranking
        Scores and ranks with 90% intervals, and pairs, the likeliest to flip first.

    Raises
    ------
    FitError
        All items have one difficulty, so that there is no scale.
    InputError
        `replicates` or `delta` out of range.

    Notes
    -----
    docs/method, section 4; paper arXiv 2610.29927, section 2.1.

    A model's score is over the items it answered, the weights renormalised over them; a pair's
    differences D_B and D_mu are over the items that both answered. So with missing cells two
    scores may stand in another order than their pair.

    P(flip) is the share of replicates in which D_B and D_mu, of the same replicate, have strictly
    opposite signs; a tie in either is no flip. It holds the noise of the answers as well as the
    mismatch, so it is large for two models that are close, and should be read as a ceiling: in
    simulations 14% of the pairs with P(flip) of .35 or more truly flipped.

    A pair is stable by bootstrap when the 90% intervals of both differences lie on the same side
    of 0, and stable by bound when ``|D_B| > L W1 + Hoeffding's limit`` (`ranking.bound`), with W1
    plug-in, of the pair's common items.

    In the same simulations (models whose curves cross; tests/studies/ranking.py) 90% intervals
    cover, with four or more rollouts a cell, 92-95% of the differences on the benchmark and 90-97%
    of those under the target: what rollouts drawn anew count twice is on the safe side. With one
    rollout a cell they cover 89-90% and, since places are rough and the fit saw the very same
    answers, only 75-87% under the target. 0.1% of the pairs called stable were not.

    With more than 500,000 pairs, or where cells are missing and pairs x items x replicates exceed
    5e10, only pairs near one another on the leaderboard are compared (`places_apart`).
    """
    most = min(MOST_REPLICATES, MOST_SCORES // len(fit.responses.models))
    if not FEWEST_REPLICATES <= replicates <= most:
        raise InputError(
            f"{replicates:,} is no number of replicates from {FEWEST_REPLICATES} to {most:,}, the "
            f"most for {len(fit.responses.models):,} models.",
            field="--bootstrap",
        )
    if not 0 < delta < 1:
        raise InputError(f"{delta} is no probability above 0 and below 1.", field="--delta")
    wanted = target or Uniform()
    scale = DifficultyScale.of(fit.b)
    z = shared_places(fit, scale)
    weights = target_weights(z, wanted)
    bootstrap = Bootstrap(z, wanted, replicates, seed)
    scores = _scores(fit.responses, bootstrap)
    scored = ~np.isnan(scores.observed).any(0)
    ranked = np.argsort(-np.where(scored, scores.observed[0], -1), kind="stable")[: scored.sum()]
    items = fit.responses.items
    return Ranking(
        **fit_facts(fit),
        replicates=replicates,
        delta=delta,
        mean_rollouts=float(fit.responses.n.sum() / np.count_nonzero(fit.responses.n)),
        w1=float(wanted.wasserstein(np.sort(z))),
        effective_items=float(1 / np.square(weights).sum()),
        extreme_weight=float(weights[fit.responses.extreme_items].sum()),
        heaviest=tuple(
            HeavyItem(item=items[i], z=float(z[i]), weight=float(weights[i]))
            for i in np.argsort(-weights, kind="stable")[:HEAVIEST]
        ),
        scores=_standings(fit.responses, scores, ranked),
        unscored=tuple(fit.responses.models[j] for j in np.flatnonzero(~scored)),
        **_compared(fit, bootstrap, scores, ranked, delta),
    )


def _scores(data: ResponseMatrix, bootstrap: Bootstrap) -> Scores:
    """Score all models, a block at a time."""
    size = max(1, _FLOATS // len(data.items))
    observed, drawn = [], []
    for start in range(0, len(data.models), size):
        rows = model_rows(data, slice(start, start + size))
        observed.append(bootstrap.observed(rows))
        drawn.append(bootstrap.means(rows, start))
    # equal answers make equal scores, in whatever order they were summed
    return Scores(np.concatenate(observed, 1).round(12), np.concatenate(drawn, 1).round(12))


def _standings(
    data: ResponseMatrix, scores: Scores, ranked: NDArray[np.int64]
) -> tuple[RankedModel, ...]:
    """Rank the scored models among themselves, in each replicate too."""
    answered = (data.n > 0).sum(1)
    boards = [
        _board(observed[ranked], drawn[ranked])
        for observed, drawn in zip(scores.observed, scores.replicates, strict=True)
    ]
    return tuple(
        RankedModel(
            model=data.models[j], items=int(answered[j]), benchmark=on_benchmark, target=on_target
        )
        for j, on_benchmark, on_target in zip(ranked, *boards, strict=True)
    )


def _board(observed: NDArray[np.float64], drawn: NDArray[np.float64]) -> list[Standing]:
    """Return the standings of scores (J,) with their replicates (J, N)."""
    if not len(observed):
        return []
    rank = stats.rankdata(-observed, method="min")
    undrawn = np.isnan(drawn)  # a model none of whose items was drawn has no rank there
    ranks = stats.rankdata(np.where(undrawn, np.inf, -drawn), method="min", axis=0)
    standings = []
    for j, value in enumerate(observed):
        known = ~undrawn[j]
        q05, q95 = np.quantile(drawn[j, known], [0.05, 0.95])
        low, high = np.quantile(ranks[j, known], [0.05, 0.95], method="inverted_cdf")
        standings.append(
            Standing(
                score=Interval(value=float(value), q05=_within(q05), q95=_within(q95)),
                rank=int(rank[j]),
                rank_q05=int(low),
                rank_q95=int(high),
            )
        )
    return standings


def _within(score: float) -> float:
    """Keep what a normal draw of rollouts gave within what a score can be."""
    return float(np.clip(score, 0, 1))


def _compared(
    fit: Fit1PL, bootstrap: Bootstrap, scores: Scores, ranked: NDArray[np.int64], delta: float
) -> dict[str, Any]:
    """Return the fields of the result that are about pairs."""
    data = fit.responses
    pairs = len(ranked) * (len(ranked) - 1) // 2
    if not pairs:
        return {
            "pairs": 0,
            "pairs_without_common_items": 0,
            "pairs_compared": 0,
            "places_apart": None,
            "shares": None,
            "likeliest_flips": (),
        }
    work = len(data.items) * bootstrap.replicates if data.missing_cells else 0
    first, second, apart = chosen_pairs(ranked, work)
    figures = compare(fit, bootstrap, scores, (first, second), delta / pairs)
    compared = len(figures.first)
    return {
        "pairs": pairs,
        "pairs_without_common_items": len(first) - compared,
        "pairs_compared": compared,
        "places_apart": apart if apart < len(ranked) - 1 else None,
        "shares": _shares(figures) if compared else None,
        "likeliest_flips": _listed(data, figures),
    }


def _shares(figures: PairFigures) -> Shares:
    return Shares(
        stable_by_bootstrap=float(np.mean(figures.order == 1)),
        flipped_by_bootstrap=float(np.mean(figures.order == -1)),
        stable_by_bound=float(np.mean(figures.stable_by_bound)),
        flipped_as_observed=float(np.mean(figures.value[0] * figures.value[1] < 0)),
    )


def _listed(data: ResponseMatrix, figures: PairFigures) -> tuple[Pair, ...]:
    """List the pairs that flip likeliest, closest ones first among equals."""
    likeliest = np.lexsort((np.abs(figures.value[0]), -figures.p_flip))[:MOST_LISTED]
    listed = figures.where(np.asarray(likeliest, dtype=np.int64))
    return tuple(_pair(data, listed, p) for p in range(len(likeliest)))


def _pair(data: ResponseMatrix, figures: PairFigures, p: int) -> Pair:
    # on their common items the one with the lower score may be ahead
    sign = -1.0 if figures.value[0, p] < 0 else 1.0
    names = data.models[figures.first[p]], data.models[figures.second[p]]
    ahead, behind = names if sign > 0 else names[::-1]

    def interval(which: int) -> Interval:
        ends = sorted(sign * end[which, p] for end in (figures.q05, figures.q95))
        value = sign * figures.value[which, p] + 0.0
        return Interval(value=float(value), q05=float(ends[0]), q95=float(ends[1]))

    return Pair(
        ahead=ahead,
        behind=behind,
        common_items=int(figures.common[p]),
        d_benchmark=interval(0),
        d_target=interval(1),
        p_flip=float(figures.p_flip[p]),
        order=_ORDERS[int(figures.order[p])],
        bound=Bound(
            limit=float(figures.limit[p]),
            lipschitz=float(figures.lipschitz[p]),
            w1=float(figures.w1[p]),
            noise=float(figures.noise[p]),
        ),
        stable_by_bound=bool(figures.stable_by_bound[p]),
    )
