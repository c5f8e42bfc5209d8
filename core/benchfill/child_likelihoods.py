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

from .child import ChildPosterior, child_posterior, require_draws
from .local_misfit import LocalMisfit
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

    def mixed(self, grid: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return this prior at a grid (G,); `prior` (S, G) is where items lie, by draws."""
        near = np.exp(-0.5 * ((grid - self.mean) / self.sd) ** 2) / self.sd
        return np.asarray((1 - self.stray) * near + self.stray * prior)


class ChildLikelihoods:
    """The models' answers under all draws, for children of one guessing probability.

    Parameters
    ----------
    draws
        At least 200 joint posterior draws, of J abilities; or one, which says that they are known.
    guessing
        Probability of a right answer by chance.
    misfit
        Standard deviation, logits, of what models and items have of their own beyond ability and
        difficulty (`benchfill.overdispersion`). Many answers of one model then tell less than those
        of many models (`benchfill.local_misfit`).
    others
        With misfit: abilities of the benchmark's models that are not among the J, shape (O,).

    Raises
    ------
    ValueError
        2 to 199 draws.

    Notes
    -----
    It holds J x S x G numbers (twice as many with guessing): 38 MB for 12 models and 500 draws.
    """

    def __init__(
        self,
        draws: Draws,
        guessing: float = 0.0,
        misfit: float = 0.0,
        others: ArrayLike = (),
    ) -> None:
        require_draws(draws)
        self._draws, self._guessing = draws, guessing
        reach = 6 * draws.s_b.max()
        low, high = draws.mu_b.min() - reach, draws.mu_b.max() + reach
        self.grid = np.linspace(low, high, max(3, int((high - low) / STEP) + 1))
        away = (self.grid - draws.mu_b[:, None]) / draws.s_b[:, None]
        self._prior = np.exp(-0.5 * away**2) / draws.s_b[:, None]
        self._misfit = None
        if misfit > 0:
            rest = np.asarray(others, float)
            self._misfit = LocalMisfit(draws.theta, self.grid, guessing, misfit, rest)
            return
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
            log_likelihood = self._log_likelihood(y, trials, slice(None), window)
            log_likelihood -= log_likelihood.max()
            mass = np.exp(log_likelihood, out=log_likelihood)
            prior = self._prior[:, window]
            mass *= prior if expected is None else expected.mixed(self.grid[window], prior)
            mass /= mass.sum()
            found = ChildPosterior(self.grid[window], mass)
            outside = mass[:, 0].sum() + mass[:, -1].sum()
            if outside <= _EDGE or window == slice(0, len(self.grid)):
                break
            window = self._wider(window)
        alone = expected is None and self._misfit is None
        if alone and (outside > _EDGE or self._too_coarse(found, trials)):
            return child_posterior(y, trials, self._draws, guessing=self._guessing)
        return found

    def _window(self, y: NDArray[np.float64], trials: NDArray[np.float64]) -> slice:
        """Return the part of the grid that some draws need, with some to spare."""
        few = slice(None, None, max(1, len(self._draws.theta) // _FEW))
        log_mass = self._log_likelihood(y, trials, few, slice(None))
        with np.errstate(divide="ignore"):  # far out a narrow prior is nothing at all
            log_mass += np.log(self._prior[few])
        likely = np.flatnonzero((log_mass - log_mass.max(1, keepdims=True)).max(0) > -18)
        return self._wider(slice(int(likely[0]), int(likely[-1]) + 1))

    def _wider(self, window: slice) -> slice:
        spare = (window.stop - window.start) // 6 + 1
        return slice(max(0, window.start - spare), min(len(self.grid), window.stop + spare))

    def _log_likelihood(
        self, y: NDArray[np.float64], trials: NDArray[np.float64], draws: slice, window: slice
    ) -> NDArray[np.float64]:
        """Return the log likelihood on a part of the table, without a constant."""
        if self._misfit is not None:
            return self._misfit.log_likelihood(y, trials, draws, window)
        total = np.zeros_like(self._prior[draws, window])
        for j in np.flatnonzero(trials > 0):
            if self._right is None:
                total += trials[j] * self._wrong[j, draws, window]
            else:
                total += y[j] * self._right[j, draws, window]
                total += (trials[j] - y[j]) * self._wrong[j, draws, window]
        if self._right is None:
            total += (self._draws.theta[draws] @ y)[:, None] - y.sum() * self.grid[window]
        return total

    def _too_coarse(self, found: ChildPosterior, trials: NDArray[np.float64]) -> bool:
        p = expit(self._draws.theta.mean(0) - found.mean)
        # guessing only makes it wider
        information = trials @ (p * (1 - p)) + self._draws.s_b.mean() ** -2
        return bool(information > (_COARSE * (self.grid[1] - self.grid[0])) ** -2)
