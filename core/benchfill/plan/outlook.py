"""What further rollouts would show of a gap, simulated from the posterior (preposterior analysis).

A truth is taken from the posterior draws, the planned rollouts are simulated under it, and each
item's draws are weighed by the likelihood of its new responses; the gap is then decided, or not.
Items are weighed one by one: their dependence through the abilities is small beside their own
uncertainty, and joint weights would rest on a handful of draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from ..gaps import MIN_P_HOLE
from ..measure import DifficultyScale
from ..onepl.model import log_probabilities
from .coverage import chunks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..gaps import Gap
    from ..onepl import Draws, Fit1PL

MAX_P_HOLE = 1 - MIN_P_HOLE  # a gap is seen to be occupied up to here
MOST_ITEMS = 40
LEAST_CHANCE = 0.02
Allocation = dict[tuple[int, int], int]  # rollouts of (item, model)


@dataclass(frozen=True, eq=False)
class OpenGap:
    """An undecided gap, in logits.

    Parameters
    ----------
    gap
        The gap.
    middle, half
        Its midpoint, and half its width: the least spacing over the midpoint that is a hole.
    borders
        Positions of its two border items.
    items
        Positions of the items on which it hangs, its borders first.
    below, above
        Nearest of all other items on each side of the midpoint in each draw, shape (S,).
    """

    gap: Gap
    middle: float
    half: float
    borders: tuple[int, int]
    items: tuple[int, ...]
    below: NDArray[np.float64]
    above: NDArray[np.float64]

    @classmethod
    def of(cls, fit: Fit1PL, draws: Draws, gap: Gap) -> OpenGap:
        """Find what a gap hangs on: its borders, and what may lie nearer than they to its middle.

        More items than `gap.decide` names: one that stays uncertain leaves the gap undecided.
        """
        scale = DifficultyScale.of(fit.b)
        middle, half = float(scale.to_b(gap.midpoint)), gap.width * scale.width / 2
        names = fit.responses.items
        borders = names.index(gap.left_item), names.index(gap.right_item)
        near = np.zeros(len(names))
        for some in chunks(*draws.b.shape):
            near += (np.abs(draws.b[some] - middle) < 2 * half).sum(0) / len(draws.b)
        near[list(borders)] = 2
        ranked = np.argsort(-near, kind="stable")[:MOST_ITEMS]
        items = tuple(int(i) for i in ranked if near[i] >= LEAST_CHANCE)
        below, above = [], []
        for some in chunks(*draws.b.shape):
            others = np.delete(draws.b[some], items, axis=1)
            easier = others < middle
            below.append(np.where(easier, others, -np.inf).max(1, initial=-np.inf))
            above.append(np.where(easier, np.inf, others).min(1, initial=np.inf))
        return cls(gap, middle, half, borders, items, np.concatenate(below), np.concatenate(above))

    def hole(
        self, b: Mapping[int, NDArray[np.float64]], kept: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return whether the spacing over the midpoint is a hole, the shape of `b`'s arrays.

        `b` holds draws of the gap's items, `kept` which draws of all other items go with them.
        """
        below, above = self.below[kept], self.above[kept]
        for item in self.items:
            places = b[item]
            below = np.maximum(below, np.where(places < self.middle, places, -np.inf))
            above = np.minimum(above, np.where(places >= self.middle, places, np.inf))
        return np.asarray(above - below >= self.half)


@dataclass(frozen=True, eq=False)
class Decided:
    """How a gap would be judged after simulated rollouts; each shape (N,).

    ``p_hole`` is P(hole) given the new responses, ``empty`` and ``occupied`` the verdicts.
    """

    p_hole: NDArray[np.float64]
    empty: NDArray[np.bool_]
    occupied: NDArray[np.bool_]

    @property
    def chance(self) -> float:
        """P(the gap is decided)."""
        return float((self.empty | self.occupied).mean())

    @property
    def uncertainty(self) -> float:
        """Expected variance of "is it a hole" that is left."""
        return float((self.p_hole * (1 - self.p_hole)).mean())


@dataclass(frozen=True, eq=False)
class Outlook:
    """Simulated rollouts and what they show.

    Parameters
    ----------
    fit
        The fit so far.
    draws
        Draws of it, those of the gaps that are judged.
    truths
        How many truths are simulated.
    kept
        With how many draws each posterior is represented.
    seed
        The same seed simulates the same truths.
    """

    fit: Fit1PL
    draws: Draws
    truths: int
    kept: int
    seed: int

    def judge(self, gaps: list[OpenGap], allocation: Allocation) -> list[Decided]:
        """Simulate the rollouts of an allocation, and judge the gaps by them."""
        rng = np.random.default_rng(self.seed)
        total = len(self.draws.b)
        truth = rng.permutation(np.resize(np.arange(total), self.truths))
        kept = np.linspace(0, total - 1, self.kept).round().astype(np.intp)
        wanted = dict.fromkeys(item for gap in gaps for item in gap.items)
        rollouts: dict[int, dict[int, int]] = {item: {} for item in wanted}
        for (item, model), count in allocation.items():
            rollouts[item][model] = count
        b, extreme = {}, {}
        for item in wanted:
            plan = rollouts[item]
            drawn, solved = self._again(item, plan, truth, rng)
            b[item] = self.draws.b[kept, item][None] if drawn is None else drawn
            extreme[item] = self._extreme(item, solved, sum(plan.values()))
        return [self._verdict(gap, b, extreme, kept) for gap in gaps]

    def _again(
        self, item: int, plan: dict[int, int], truth: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.int64]]:
        """Return draws of the item after new responses, (N, Q), and how many were right, (N,)."""
        if not plan:
            return None, np.zeros(self.truths, dtype=np.int64)
        models = list(plan)
        n = np.array(list(plan.values()))
        draws = self.draws
        logit = draws.theta[:, models] - draws.b[:, [item]]
        log_p, log_q = log_probabilities(logit, float(self.fit.guessing[item]))
        # by inversion, so that more rollouts on the same truth make a like outcome, not a new one
        luck = rng.random((len(truth), self.fit.theta.size))[:, models]
        correct = binom.ppf(luck, n, np.exp(log_p[truth])).astype(np.int64)
        log_weight = correct @ log_p.T + (n - correct) @ log_q.T
        # what weighs less than e^-40 counts nothing, and numbers near zero are slow to handle
        weight = np.exp(np.maximum(log_weight - log_weight.max(1, keepdims=True), -40))
        cumulated = np.cumsum(weight, axis=1)
        cumulated /= cumulated[:, -1:]
        # in the order of the draws, so that a few responses leave items paired as they were
        at = (np.arange(self.kept) + 0.5) / self.kept
        rows = np.arange(len(truth))[:, None]
        found = np.searchsorted((cumulated + rows).ravel(), (at + rows).ravel())
        index = found.reshape(len(truth), -1) - rows * weight.shape[1]
        chosen = np.clip(index, 0, weight.shape[1] - 1)
        return draws.b[chosen, item], np.asarray(correct.sum(1))

    def _extreme(self, item: int, solved: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
        """Whether all rollouts on the item, old and new, agree; shape (N,)."""
        data = self.fit.responses
        right = int(data.correct[:, item].sum(dtype=np.int64)) + solved
        tried = int(data.n[:, item].sum(dtype=np.int64)) + count
        return np.asarray((right == 0) | (right == tried))

    def _verdict(
        self,
        gap: OpenGap,
        b: dict[int, NDArray[np.float64]],
        extreme: dict[int, NDArray[np.bool_]],
        kept: NDArray[np.intp],
    ) -> Decided:
        p_hole = np.broadcast_to(gap.hole(b, kept).mean(-1), (self.truths,))
        known = ~(extreme[gap.borders[0]] | extreme[gap.borders[1]])
        return Decided(p_hole, (p_hole >= MIN_P_HOLE) & known, p_hole <= MAX_P_HOLE)
