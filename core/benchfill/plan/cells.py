"""The (item, model) cells that may decide a gap, and how rollouts are best spent on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .calibration import BEST_MODELS, information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Draws, Fit1PL
    from .outlook import Allocation, OpenGap

BATCHES = 64  # in which a gap's rollouts go to items and models
SHIFTS = 3  # of an item's draws, to see how much a gap hangs on it
LEAST_SHARE = 0.05  # of a border that all or none solved
LEAST_EFFECT = 1e-3
INFORMATION_DRAWS = 100


@dataclass(frozen=True, eq=False)
class Cells:
    """The (item, model) cells that may decide a gap.

    Parameters
    ----------
    items, models
        Positions; models has shape (C, 6), those that tell most about each item.
    rate
        Fisher information of one rollout, shape (C, 6).
    floor
        Variance of each model's ability: what no number of rollouts on it undercuts, (C, 6).
    precision
        ``1 / b_sd^2`` of each item, shape (C,).
    share
        Share of the variance of "is it a hole" that hangs on the item, shape (C,).
    """

    items: tuple[int, ...]
    models: NDArray[np.intp]
    rate: NDArray[np.float64]
    floor: NDArray[np.float64]
    precision: NDArray[np.float64]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, fit: Fit1PL, draws: Draws, gap: OpenGap) -> Cells:
        """Rank the models for each item, and say how much the gap hangs on each."""
        some = draws.thin(INFORMATION_DRAWS)
        models, rates = [], []
        for item in gap.items:
            guess = float(fit.guessing[item])
            each = information(some.theta, some.b[:, [item]], guess).mean(0)
            best = np.argsort(-each, kind="stable")[:BEST_MODELS]
            models.append(best)
            rates.append(each[best])
        chosen = np.array(models)
        items = list(gap.items)
        share = _total_effects(draws, gap)
        for border in gap.borders:  # one that all or none solved must be seen otherwise first
            if fit.responses.extreme_items[border]:
                share[items.index(border)] = max(share[items.index(border)], LEAST_SHARE)
        return cls(
            items=gap.items,
            models=chosen,
            rate=np.array(rates),
            floor=fit.theta_sd[chosen] ** 2,
            precision=fit.b_sd[items] ** -2.0,
            share=share,
        )

    def spend(self, budget: int) -> Allocation:
        """Give rollouts to cells in batches, each where it lowers the variance most.

        Normal approximation: ``b_sd^2`` becomes ``1 / (1 / b_sd^2 + added information)``, and the
        information of n rollouts on one model is ``1 / (1 / (n rate) + its ability's variance)``.
        """
        given = np.zeros(self.rate.shape, dtype=np.int64)
        left = budget
        while left > 0:
            batch = min(left, -(-budget // BATCHES))
            now = self._information(given)
            more = self._information(given + batch) - now
            held = now.sum(1, keepdims=True)
            precision = self.precision[:, None]
            gain = self.share[:, None] * precision * more
            gain /= (precision + held) * (precision + held + more)
            best = np.unravel_index(int(np.argmax(gain)), gain.shape)
            given[best] += batch
            left -= batch
        rows, columns = np.nonzero(given)
        return {
            (self.items[row], int(self.models[row, column])): int(given[row, column])
            for row, column in zip(rows, columns, strict=True)
        }

    def _information(self, given: NDArray[np.int64]) -> NDArray[np.float64]:
        told = given * self.rate
        return np.asarray(told / (1 + told * self.floor))


def _total_effects(draws: Draws, gap: OpenGap) -> NDArray[np.float64]:
    """Return the share of the variance of "is it a hole" that would stay with all but one known.

    Total Sobol indices by Jansen's estimator: how often the answer changes when one item takes its
    place from another draw. Never 0, so that a budget always finds a place.
    """
    every = np.arange(len(draws.b))
    b = {item: draws.b[:, item] for item in gap.items}
    hole = gap.hole(b, every)
    variance = max(float(hole.var()), LEAST_EFFECT)
    shifts = [len(every) * part // (SHIFTS + 1) for part in range(1, SHIFTS + 1)]
    effects = []
    for item, own in b.items():
        changed = [gap.hole(b | {item: np.roll(own, by)}, every) != hole for by in shifts]
        effects.append(float(np.mean(changed)) / 2 / variance)
    return np.maximum(effects, LEAST_EFFECT)
