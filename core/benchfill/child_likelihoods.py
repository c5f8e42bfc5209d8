"""Posteriors of many children against one benchmark: what they have in common is computed once.

A sequential design looks at each child after every batch, hundreds of times a fill. The logarithms
of what each model does under each draw at each difficulty do not change meanwhile, so a posterior
is one product with the children's counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from .child import MIN_DRAWS, ChildPosterior, child_posterior
from .onepl.model import outer_log_probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .onepl import Draws

STEP = 0.03  # logits
_COARSE = 2.0  # a posterior narrower than so many steps, standard deviation, gets a grid of its own
_EDGE = 1e-7  # mass at the ends that says that it reaches too little
_FEW = 20  # draws that show where a child may lie


@dataclass(frozen=True)
class Expected:
    """Where a child is expected before it is measured: N(mean, sd) in logits, if all is well.

    With probability `stray` it is none of those, and may lie wherever items lie.
    """

    mean: float
    sd: float
    stray: float = 0.1

    def log_ratio(
        self, grid: NDArray[np.float64], log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log of this prior over another one, which is given up to a constant (S, G)."""
        near = -0.5 * ((grid - self.mean) / self.sd) ** 2 - np.log(self.sd)
        mixed = np.logaddexp(np.log1p(-self.stray) + near, np.log(self.stray) + log_prior)
        return np.asarray(mixed - log_prior)


class ChildLikelihoods:
    """The models' answers under all draws, for children of one guessing probability.

    Parameters
    ----------
    draws
        At least 200 joint posterior draws, of J abilities.
    guessing
        Probability of a right answer by chance.

    Raises
    ------
    ValueError
        Fewer than 200 draws.

    Notes
    -----
    It holds J x S x G numbers (twice as many with guessing): 38 MB for 12 models and 500 draws.
    """

    def __init__(self, draws: Draws, guessing: float = 0.0) -> None:
        if len(draws.theta) < MIN_DRAWS:
            raise ValueError(f"{len(draws.theta)} draws are too few; {MIN_DRAWS} are needed")
        self._draws, self._guessing = draws, guessing
        reach = 6 * draws.s_b.max()
        low, high = draws.mu_b.min() - reach, draws.mu_b.max() + reach
        self.grid = np.linspace(low, high, max(3, int((high - low) / STEP) + 1))
        away = (self.grid - draws.mu_b[:, None]) / draws.s_b[:, None]
        self._log_prior = -0.5 * away**2 - np.log(draws.s_b)[:, None]
        models = draws.theta.shape[1]
        self._wrong = np.empty((models, *away.shape))
        # without guessing log P(right) is log P(wrong) + theta - b, which needs no table
        self._right = np.empty((models, *away.shape)) if guessing > 0 else None
        for j in range(models):
            log_p, log_q = outer_log_probabilities(draws.theta[:, j], self.grid, guessing)
            self._wrong[j] = log_q
            if self._right is not None:
                self._right[j] = log_p

    def posterior(
        self, correct: ArrayLike, n: ArrayLike, expected: Expected | None = None
    ) -> ChildPosterior:
        """Return the posterior of one child, as `child_posterior` does.

        Parameters
        ----------
        correct, n
            Successes and rollouts on each model, shape (J,).
        expected
            Where the child was expected before it was measured. The prior is then a mixture of that
            and of the draw's own N(mu_b, s_b); without it, the latter alone.
        """
        y, trials = np.asarray(correct, float), np.asarray(n, float)
        window = self._window(y, trials)
        while True:
            log_mass = self._log_mass(y, trials, slice(None), window)
            if expected is not None:
                log_mass += expected.log_ratio(self.grid[window], self._log_prior[:, window])
            log_mass -= log_mass.max()
            mass = np.exp(log_mass, out=log_mass)
            mass /= mass.sum()
            found = ChildPosterior(self.grid[window], mass)
            outside = mass[:, 0].sum() + mass[:, -1].sum()
            if outside <= _EDGE or window == slice(0, len(self.grid)):
                break
            window = self._wider(window)
        if expected is None and (outside > _EDGE or self._too_coarse(found, trials)):
            return child_posterior(y, trials, self._draws, guessing=self._guessing)
        return found

    def _window(self, y: NDArray[np.float64], trials: NDArray[np.float64]) -> slice:
        """Return the part of the grid that some draws need, with as much again to spare."""
        few = slice(None, None, max(1, len(self._draws.theta) // _FEW))
        log_mass = self._log_mass(y, trials, few, slice(None))
        likely = np.flatnonzero((log_mass - log_mass.max(1, keepdims=True)).max(0) > -18)
        return self._wider(slice(int(likely[0]), int(likely[-1]) + 1))

    def _wider(self, window: slice) -> slice:
        spare = (window.stop - window.start) // 2 + 1
        return slice(max(0, window.start - spare), min(len(self.grid), window.stop + spare))

    def _log_mass(
        self, y: NDArray[np.float64], trials: NDArray[np.float64], draws: slice, window: slice
    ) -> NDArray[np.float64]:
        """Return log prior and likelihood on a part of the table, without a constant."""
        log_mass = self._log_prior[draws, window].copy()
        for j in np.flatnonzero(trials > 0):
            if self._right is None:
                log_mass += trials[j] * self._wrong[j, draws, window]
            else:
                log_mass += y[j] * self._right[j, draws, window]
                log_mass += (trials[j] - y[j]) * self._wrong[j, draws, window]
        if self._right is None:
            log_mass += (self._draws.theta[draws] @ y)[:, None] - y.sum() * self.grid[window]
        return log_mass

    def _too_coarse(self, found: ChildPosterior, trials: NDArray[np.float64]) -> bool:
        p = expit(self._draws.theta.mean(0) - found.mean)
        # guessing only makes it wider
        information = trials @ (p * (1 - p)) + self._draws.s_b.mean() ** -2
        return bool(information > (_COARSE * (self.grid[1] - self.grid[0])) ** -2)
