"""Pairs of models: their differences on the benchmark and under the target, block by block."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .bound import GRID, lipschitz, rollout_limit, slopes
from .resample import model_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Fit1PL
    from ..responses import ResponseMatrix
    from .resample import Bootstrap

MOST_PAIRS = 500_000
MOST_WORK = 50_000_000_000  # pairs x items x replicates, where pairs have items of their own
_FLOATS = 1 << 22  # of one array of a block


class Scores(NamedTuple):
    """Scores of all models on the benchmark and under the target: (2, J), replicated (2, J, N)."""

    observed: NDArray[np.float64]
    replicates: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairFigures:
    """Figures of P pairs; arrays of shape (P,), those of both distributions (2, P).

    ``w1`` and ``noise`` are those of the bound. Pairs without a common item of weight are left out.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    common: NDArray[np.int64]
    value: NDArray[np.float64]
    q05: NDArray[np.float64]
    q95: NDArray[np.float64]
    p_flip: NDArray[np.float64]
    lipschitz: NDArray[np.float64]
    w1: NDArray[np.float64]
    noise: NDArray[np.float64]

    @cached_property
    def limit(self) -> NDArray[np.float64]:
        """The bound on how far observed and target difference lie apart."""
        return self.lipschitz * self.w1 + self.noise

    @cached_property
    def stable_by_bound(self) -> NDArray[np.bool_]:
        """Whether the observed difference is beyond the bound."""
        return np.asarray(np.abs(self.value[0]) > self.limit)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """1 where both intervals lie on one side of 0, -1 on opposite ones, else 0."""
        side = np.where(self.q05 > 0, 1, 0) - np.where(self.q95 < 0, 1, 0)
        return np.asarray(side[0] * side[1], dtype=np.int64)

    def where(self, kept: NDArray[np.bool_] | NDArray[np.int64]) -> PairFigures:
        """Return the figures of some of the pairs."""
        return PairFigures(*(getattr(self, field.name)[..., kept] for field in fields(self)))


def chosen_pairs(
    ranked: NDArray[np.int64], work: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Pair models that are near one another on the leaderboard, up to the limits.

    Parameters
    ----------
    ranked
        Models, best first, shape (J,).
    work
        What a pair costs, in units of `MOST_WORK`; 0 when it costs next to nothing.

    Returns
    -------
    first, second, apart
        Pairs at most `apart` places apart, the better one first; all pairs when it is J - 1.
    """
    models = len(ranked)
    most = min(MOST_PAIRS, MOST_WORK // work) if work else MOST_PAIRS
    pairs_within = np.cumsum(models - np.arange(1, models))
    apart = max(1, int(np.searchsorted(pairs_within, most, side="right")))
    steps = np.arange(1, min(apart, models - 1) + 1)
    first = np.concatenate([np.arange(models - step) for step in steps])
    second = np.concatenate([np.arange(step, models) for step in steps])
    return ranked[first], ranked[second], min(apart, models - 1)


def compare(
    fit: Fit1PL,
    bootstrap: Bootstrap,
    scores: Scores,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    delta: float,
) -> PairFigures:
    """Compare pairs of models, a block at a time.

    Parameters
    ----------
    fit
        The fit.
    bootstrap
        The bootstrap of its items.
    scores
        Scores of all models; where no cell is missing their differences are those of the pairs.
    pairs
        Models by position, each of shape (P,), P >= 1.
    delta
        Probability of error of one pair's bound.
    """
    data, slope = fit.responses, slopes(fit)
    matrix: _WholeMatrix | _GappyMatrix
    if data.missing_cells:
        matrix, width = _GappyMatrix(data, bootstrap), len(data.items)
    else:
        matrix, width = _WholeMatrix.of(data, bootstrap, scores), GRID
    size = max(1, _FLOATS // max(bootstrap.replicates, width))
    blocks = []
    for start in range(0, len(pairs[0]), size):
        first, second = (one[start : start + size] for one in pairs)
        steepest = lipschitz(slope, first, second, fit)
        block = matrix.block(first, second)
        blocks.append(_figures((first, second), block, steepest, delta))
    joined = PairFigures(
        *(
            np.concatenate([getattr(one, field.name) for one in blocks], axis=-1)
            for field in fields(PairFigures)
        )
    )
    return joined.where(np.asarray(np.isfinite(joined.value).all(axis=0)))


class _Block(NamedTuple):
    """Differences of pairs, observed (2, P) and replicated (2, P, N), and what bounds them (P,)."""

    value: NDArray[np.float64]
    replicates: NDArray[np.float64]
    common: NDArray[np.int64]
    w1: NDArray[np.float64]
    spread: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _WholeMatrix:
    """Pairs of models that all answered all items: differences of their scores."""

    scores: Scores
    items: int
    w1: float
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, data: ResponseMatrix, bootstrap: Bootstrap, scores: Scores) -> _WholeMatrix:
        return cls(
            scores=scores,
            items=len(data.items),
            w1=float(bootstrap.target.wasserstein(np.sort(bootstrap.z))),
            spread=np.array([(1 / one).sum() for one in data.n]) / len(data.items) ** 2,
        )

    def block(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> _Block:
        observed, replicates = self.scores
        return _Block(
            value=observed[:, first] - observed[:, second],
            replicates=replicates[:, first] - replicates[:, second],
            common=np.full(len(first), self.items),
            w1=np.full(len(first), self.w1),
            spread=self.spread[first] + self.spread[second],
        )


@dataclass(frozen=True, eq=False)
class _GappyMatrix:
    """Pairs of models that answered different items: means of differences on the common ones."""

    data: ResponseMatrix
    bootstrap: Bootstrap

    def block(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> _Block:
        n = self.data.n
        # a stream of its own for each block; those below J are the models'
        stream = len(n) * (1 + int(first[0])) + int(second[0])
        rows = model_rows(self.data, first).minus(model_rows(self.data, second))
        there = (n[first] > 0) & (n[second] > 0)
        common = there.sum(1)
        each = 1 / np.maximum(n[first], 1) + 1 / np.maximum(n[second], 1)
        return _Block(
            value=self.bootstrap.observed(rows).round(12),
            replicates=self.bootstrap.means(rows, stream).round(12),
            common=common,
            w1=_mismatches(self.bootstrap, there),
            spread=np.where(there, each, 0).sum(1) / np.maximum(common, 1) ** 2,
        )


def _mismatches(bootstrap: Bootstrap, there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return W1 between the items that are there and the target, for each row (P, I) once."""
    order = np.argsort(bootstrap.z, kind="stable")
    z = bootstrap.z[order]
    packed = np.packbits(there[:, order], axis=1)
    _, kept, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    w1 = np.full(len(kept), np.nan)
    for number, row in enumerate(there[np.ix_(kept, order)]):
        if row.any():
            w1[number] = bootstrap.target.wasserstein(z[row])
    return w1[which.reshape(-1)]


def _figures(
    pair: tuple[NDArray[np.int64], NDArray[np.int64]],
    block: _Block,
    steepest: NDArray[np.float64],
    delta: float,
) -> PairFigures:
    # a whole sort is faster than a selection, and puts replicates without a common item at the end
    ordered = np.sort(block.replicates, axis=2)
    known = np.isfinite(ordered).sum(axis=2)
    q05, q95 = (_quantile(ordered, known, share) for share in (0.05, 0.95))
    flips = (block.replicates[0] * block.replicates[1] < 0).sum(axis=1)
    return PairFigures(
        first=pair[0],
        second=pair[1],
        common=block.common,
        value=block.value,
        q05=q05,
        q95=q95,
        p_flip=flips / np.maximum(known.min(axis=0), 1),
        lipschitz=steepest,
        w1=block.w1,
        noise=rollout_limit(block.spread, delta),
    )


def _quantile(
    ordered: NDArray[np.float64], known: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Return a quantile of the first `known` (...) of sorted values (..., N)."""
    place = np.maximum(np.ceil(share * known).astype(np.int64) - 1, 0)
    return np.take_along_axis(ordered, place[..., None], axis=-1)[..., 0]
