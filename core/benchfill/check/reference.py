"""What chance alone would do: the same figures of responses simulated from the fitted 1PL.

Abilities are held fixed, difficulties are estimated anew from the simulated responses, as they
were from the real ones: a fit always follows its data a little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import false_discovery_control

from .cells import Cells, Point
from .item_modes import ItemModes, find_modes
from .residuals import Residuals, RestScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA = 0.05
_NEAR = 4  # as many simulated values beyond the observed one leave a p-value too rough
_MORE = 5  # times as many simulations in the next round
_BUDGET = 2e7  # simulated cells in a round
_GUESSING_COST = 8  # times as dear is a cell with guessing: no two items share a difficulty then
_CLOSE = 1e-3  # logits; what a difficulty may be off moves no mean square by as much as chance does


class FittedModel:
    """The 1PL at fixed abilities: expects responses, judges them, and makes new ones."""

    def __init__(self, cells: Cells, at: Point) -> None:
        self.cells, self.at = cells, at
        self.n = (cells.right + cells.wrong).astype(np.int64)
        _, pattern = np.unique(self.n, axis=0, return_inverse=True)
        self._pattern = pattern.reshape(-1)
        self.rest = RestScores.of(cells)
        self.every = np.arange(len(self.n))
        self.residuals = self.judge(cells, self.every)

    def judge(self, cells: Cells, items: NDArray[np.int64]) -> Residuals:
        """Estimate the difficulties of (simulated) cells and return their residuals.

        `items` (C,) are the items that the rows of `cells` are of.
        """
        return Residuals.of(cells, self.at.theta, self._difficulties(cells, self._pattern[items]))

    def simulate(self, items: NDArray[np.int64], rng: np.random.Generator) -> Cells:
        """Draw responses to items (C,), each as often as it stands there."""
        n, p = self.n[items], self.residuals.p[items]
        once = self.n.max() == 1
        drawn = (rng.random(p.shape) < p) & (n > 0) if once else rng.binomial(n, p)
        right = drawn.astype(np.float64)
        return Cells(right, np.asarray(n - right), self.cells.guessing[items])

    def item_figures(
        self, cells: Cells, residuals: Residuals, items: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return infit, outfit and item-rest correlation of the rows, shape (3, C)."""
        rest = self.rest.correlations(cells, items)
        return np.concatenate([residuals.mean_squares(1), rest[None]])

    def _difficulties(self, cells: Cells, pattern: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each row's most likely difficulty, shape (C,)."""
        first = row = np.arange(len(pattern))
        if not cells.guessing.any():
            # items with the same rollouts and the same total have the same difficulty
            total = cells.right.sum(1).astype(np.int64)
            key = pattern * (int(self.n.sum(1).max()) + 1) + total
            _, first, row = np.unique(key, return_index=True, return_inverse=True)
        some = Cells(cells.right[first], cells.wrong[first], cells.guessing[first])
        none = np.zeros(len(first))
        start = ItemModes(none + self.at.mu_b, none, np.zeros((3, len(first))))
        return find_modes(some, self.at, start, close=_CLOSE).b[row]


@dataclass(frozen=True)
class Simulated:
    """Figures of whole simulated matrices.

    Parameters
    ----------
    items
        Infit, outfit and item-rest correlation, shape (R, 3, I).
    models
        Infit and outfit, shape (R, 2, J).
    pairs
        Standardised residual products of pairs of models, shape (R, J (J-1) / 2).
    """

    items: NDArray[np.float64]
    models: NDArray[np.float64]
    pairs: NDArray[np.float32]

    @classmethod
    def of(cls, model: FittedModel, replicates: int, rng: np.random.Generator) -> Simulated:
        """Simulate and judge `replicates` matrices."""
        items, models, pairs = [], [], []
        for _ in range(replicates):
            cells = model.simulate(model.every, rng)
            residuals = model.judge(cells, model.every)
            items.append(model.item_figures(cells, residuals, model.every))
            models.append(residuals.mean_squares(0))
            pairs.append(pair_products(residuals).astype(np.float32))
        return cls(np.stack(items), np.stack(models), np.stack(pairs))


def pair_products(residuals: Residuals) -> NDArray[np.float64]:
    """Return ``sum_i r_ij r_ik / sqrt(sum_i v_ij v_ik)`` of pairs j < k; about N(0, 1) by chance.

    Yen's Q3 (1984, doi:10.1177/014662168400800201) between models instead of items; NaN where two
    models share no item.
    """
    variance = np.where(residuals.observed, residuals.variance, 0.0)
    first, second = np.triu_indices(variance.shape[1], 1)
    product = (residuals.residual.T @ residuals.residual)[first, second]
    expected = (variance.T @ variance)[first, second]
    scale = np.sqrt(np.where(expected > 0, expected, 1.0))
    return np.where(expected > 0, product / scale, np.nan)


@dataclass(frozen=True)
class ItemChances:
    """How often chance does as much to an item, shape (I,); NaN where there is no figure.

    ``misfit`` is for infit or outfit so large (twice the smaller of both p-values), ``inverted``
    for an item-rest correlation so low. The ``_found`` ones hold at a false discovery rate of 5%.
    """

    misfit: NDArray[np.float64]
    inverted: NDArray[np.float64]
    misfit_found: NDArray[np.bool_]
    inverted_found: NDArray[np.bool_]


def item_chances(
    model: FittedModel,
    observed: NDArray[np.float64],
    simulated: NDArray[np.float64],
    rng: np.random.Generator,
) -> ItemChances:
    """Return p-values by simulation, with more simulations where they are small.

    Parameters
    ----------
    model
        The fitted model.
    observed
        Figures of the items, shape (3, I).
    simulated
        Figures of simulated matrices, shape (R, 3, I).
    rng
        Source of randomness.

    Notes
    -----
    ``p = (1 + number beyond) / (1 + simulations)``. Among a thousand items a false discovery rate
    needs p-values of 1e-4 and less, so items near the floor are simulated five times as often, from
    scratch, until more would not change what is found or cost too much.
    """
    # items that everybody or nobody solves say nothing about misfit
    right = model.cells.right.sum(1)
    silent = (right == 0) | (right == model.n.sum(1))
    observed = np.where(silent, np.nan, observed)
    p, rounds = _p_values(observed, simulated), len(simulated)
    while True:
        chances = _decide(p)
        rough = np.nanmin(np.where(np.isnan(p), 1.0, p), axis=0) <= _NEAR / (rounds + 1)
        settled = (chances.misfit_found | ~(chances.misfit < ALPHA)) & (
            chances.inverted_found | ~(chances.inverted < ALPHA)
        )
        again = np.flatnonzero(rough & ~settled)
        cost = _GUESSING_COST if model.cells.guessing.any() else 1
        affordable = _BUDGET / max(1, len(again) * model.n.shape[1] * cost)
        if not len(again) or affordable < 2 * rounds:
            return chances
        rounds = int(min(_MORE * rounds, affordable))
        p[:, again] = _simulated_again(model, observed[:, again], again, rounds, rng)


def _simulated_again(
    model: FittedModel,
    observed: NDArray[np.float64],
    items: NDArray[np.int64],
    rounds: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    beyond = np.zeros(observed.shape)
    size = max(1, (1 << 19) // (len(items) * model.n.shape[1]))
    for first in range(0, rounds, size):
        count = min(size, rounds - first)
        rows = np.tile(items, count)
        cells = model.simulate(rows, rng)
        figures = model.item_figures(cells, model.judge(cells, rows), rows)
        beyond += _beyond(observed, figures.reshape(3, count, -1).swapaxes(0, 1))
    return np.where(np.isnan(observed), np.nan, (1 + beyond) / (1 + rounds))


def _p_values(observed: NDArray[np.float64], simulated: NDArray[np.float64]) -> NDArray[np.float64]:
    p = (1 + _beyond(observed, simulated)) / (1 + len(simulated))
    return np.where(np.isnan(observed), np.nan, p)


def _beyond(observed: NDArray[np.float64], simulated: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count simulated figures (R, 3, I) at or beyond the observed ones (3, I)."""
    # sums in another order must not break ties
    upper = (simulated[:, :2] >= observed[:2] - 1e-9).sum(0)
    lower = (simulated[:, 2:] <= observed[2:] + 1e-9).sum(0)
    return np.concatenate([upper, lower])


def _decide(p: NDArray[np.float64]) -> ItemChances:
    misfit = np.minimum(1.0, 2 * np.minimum(p[0], p[1]))
    return ItemChances(misfit, p[2], discoveries(misfit), discoveries(p[2]))


def discoveries(p: NDArray[np.float64], rate: float = ALPHA) -> NDArray[np.bool_]:
    """Return which p-values hold at a false discovery rate (Benjamini & Hochberg 1995)."""
    known = ~np.isnan(p)
    found = np.zeros(len(p), dtype=np.bool_)
    if known.any():
        found[known] = false_discovery_control(p[known]) <= rate
    return found


def family_chances(
    observed: NDArray[np.float64], simulated: NDArray[np.floating[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far figures lie above chance, and how often chance takes any one so far.

    Parameters
    ----------
    observed
        Figures, shape (M,); NaN where there is none.
    simulated
        The same of simulated matrices, shape (R, M).

    Returns
    -------
    Distances in simulated standard deviations (M,), and p-values of the largest of all M (M,).
    """
    known = ~np.isnan(observed)
    z, p = np.full(len(observed), np.nan), np.full(len(observed), np.nan)
    if not known.any():
        return z, p
    chance = simulated[:, known].astype(np.float64)
    centre, spread = chance.mean(0), chance.std(0)
    spread = np.where(spread > 0, spread, np.inf)
    z[known] = (observed[known] - centre) / spread
    largest = ((chance - centre) / spread).max(1)
    p[known] = (1 + (largest[:, None] >= z[known]).sum(0)) / (1 + len(chance))
    return z, p
