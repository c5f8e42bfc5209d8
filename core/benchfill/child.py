"""The difficulty of a new item, measured on models whose abilities are known from a fit.

Two estimates stand side by side (docs/method, section 6). The paper's: one-dimensional maximum
likelihood at fixed abilities. Ours: the child's likelihood averaged over joint posterior draws of
abilities and border items, since those are estimates too; treating them as fixed makes nominal 90%
intervals cover 50 to 88%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import logsumexp

from .onepl.model import log_probabilities, outer_log_probabilities, response_curves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .onepl import Draws

MIN_DRAWS = 200
GRID_POINTS = 401
BISECTIONS = 60
Bound = Literal["easier_than", "harder_than"]


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """Difficulties of N children by maximum likelihood at fixed abilities; each shape (N,).

    ``b`` and ``se`` are NaN for a child that every rollout solved, none did, or that was solved no
    more often than by guessing. Such a child has a one-sided 95% bound instead: ``b`` at which the
    outcome is a twentieth as likely as at an infinitely easy or hard item; without guessing it has
    probability .05 there.
    """

    b: NDArray[np.float64]
    se: NDArray[np.float64]
    bound: NDArray[np.float64]
    bound_kind: tuple[Bound | None, ...]


def child_mle(
    correct: ArrayLike, n: ArrayLike, theta: ArrayLike, *, guessing: float = 0.0
) -> MaximumLikelihood:
    """Estimate children's difficulties at fixed abilities (the paper's ``b^``).

    Parameters
    ----------
    correct, n
        Successes and rollouts of each child on each model, shape (N, J).
    theta
        Abilities, logits, shape (J,).
    guessing
        Probability of a right answer by chance, common to the children.

    Returns
    -------
    MaximumLikelihood
        Difficulty and standard error (expected information) in logits.
    """
    each, asked = np.atleast_2d(np.asarray(correct, float)), np.atleast_2d(np.asarray(n, float))
    abilities = np.asarray(theta, float)
    # without guessing only the total matters: children with equal data are one row
    answers = each if guessing > 0 else each.sum(1, keepdims=True)
    _, first, row = np.unique(
        np.concatenate([answers, asked], axis=1), axis=0, return_index=True, return_inverse=True
    )
    y, trials, row = each[first], asked[first], row.reshape(-1)
    solved = np.asarray(y.sum(1) >= trials.sum(1))
    # where b grows without end the likelihood must fall, or the child is at chance level
    above = ((y - guessing * trials) * np.exp(abilities - abilities.max())).sum(1) > 0
    inner = above & ~solved
    b, se = np.full(len(y), np.nan), np.full(len(y), np.nan)
    b[inner] = _solve(y[inner], trials[inner], abilities, guessing)
    curves = response_curves(abilities - b[inner, None], guessing)
    # expected information: n (dP/db)^2 / (P Q)
    slope = curves.d_log_p * np.exp(curves.log_p)
    information = (trials[inner] * slope**2 / np.exp(curves.log_p + curves.log_q)).sum(1)
    se[inner] = information**-0.5
    bound = np.full(len(y), np.nan)
    bound[~inner] = _one_sided(y[~inner], trials[~inner], abilities, guessing)
    kinds: list[Bound | None] = ["easier_than" if one else "harder_than" for one in solved]
    kinds = [None if known else kind for known, kind in zip(inner, kinds, strict=True)]
    return MaximumLikelihood(
        b=b[row], se=se[row], bound=bound[row], bound_kind=tuple(kinds[r] for r in row)
    )


def _solve(
    y: NDArray[np.float64], n: NDArray[np.float64], theta: NDArray[np.float64], guessing: float
) -> NDArray[np.float64]:
    """Find the roots of the score, by bisection in a bracket; the score falls as b falls."""
    low = np.full(len(y), theta.min() - 40.0)
    high = np.full(len(y), theta.max() + 40.0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        curves = response_curves(theta - middle[:, None], guessing)
        # derivative of the log likelihood in b; positive where the child is harder than `middle`
        score = -(y * curves.d_log_p + (n - y) * curves.d_log_q).sum(1)
        low, high = np.where(score > 0, middle, low), np.where(score > 0, high, middle)
    return np.asarray((low + high) / 2)


def _one_sided(
    y: NDArray[np.float64], n: NDArray[np.float64], theta: NDArray[np.float64], guessing: float
) -> NDArray[np.float64]:
    """Return where the outcome is a twentieth as likely as at the end to which it points.

    That end is certain success for an all-right child, pure guessing for the others.
    """
    low = np.full(len(n), theta.min() - 40.0)
    high = np.full(len(n), theta.max() + 40.0)
    solved = y.sum(1) >= n.sum(1)
    chance = (n - y) * np.log1p(-guessing) + (y * np.log(guessing) if guessing > 0 else 0)
    least = np.where(solved, 0, chance.sum(1)) + np.log(0.05)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        log_p, log_q = log_probabilities(theta - middle[:, None], guessing)
        likely = (y * log_p + (n - y) * log_q).sum(1) >= least
        # all right grows less likely as b rises, all wrong more likely
        beyond = np.where(solved, ~likely, likely)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray((low + high) / 2)


@dataclass(frozen=True, eq=False)
class ChildPosterior:
    """Posterior of one child's difficulty, over draws and a grid.

    Parameters
    ----------
    grid
        Difficulties in logits, shape (G,).
    mass
        Joint posterior mass of draw and difficulty, shape (S, G), sums to 1.
    """

    grid: NDArray[np.float64]
    mass: NDArray[np.float64]

    @property
    def density(self) -> NDArray[np.float64]:
        """Posterior mass on the grid, draws summed out, shape (G,)."""
        return np.asarray(self.mass.sum(0))

    @property
    def mean(self) -> float:
        """Posterior mean, logits."""
        return float(self.density @ self.grid)

    @property
    def sd(self) -> float:
        """Posterior standard deviation, logits."""
        return float(np.sqrt(self.density @ (self.grid - self.mean) ** 2))

    def quantile(self, q: float) -> float:
        """Return a posterior quantile, logits, linear between grid points."""
        return float(np.interp(q, np.cumsum(self.density) - self.density / 2, self.grid))

    def near(self, low: float, high: float) -> slice:
        """Return the part of the grid whose cells touch an interval; most lies outside a gap."""
        half = (self.grid[1] - self.grid[0]) / 2
        first = int(np.searchsorted(self.grid + half, low, "right"))
        return slice(first, max(first, int(np.searchsorted(self.grid - half, high, "left"))))

    def p_between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        """Return P(left < b < right), borders taken from the same draws, each shape (S,)."""
        step = self.grid[1] - self.grid[0]
        edges = np.concatenate([[self.grid[0] - step / 2], self.grid + step / 2])
        near = self.near(float(np.min(left)), float(np.max(right)))
        edges, mass = edges[near.start : near.stop + 1], self.mass[:, near]
        if mass.shape[1] == 0:
            return 0.0
        cumulated = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
        upto = _interpolate_rows(edges, cumulated, right)
        return float(np.clip(upto - _interpolate_rows(edges, cumulated, left), 0, None).sum())


def child_posterior(
    correct: ArrayLike, n: ArrayLike, draws: Draws, *, guessing: float = 0.0
) -> ChildPosterior:
    """Average a child's likelihood over joint posterior draws of abilities and difficulties.

    The prior is N(mu_b, s_b) of each draw, as fitted, never centred on a target. Draws under which
    the child's responses are likelier weigh more, as Bayes' rule has it.

    Parameters
    ----------
    correct, n
        Successes and rollouts on each model, shape (J,), models in the order of the draws.
    draws
        At least 200 joint draws, or one, which says that abilities and difficulties are known.
    guessing
        Probability of a right answer by chance.

    Raises
    ------
    ValueError
        2 to 199 draws.
    """
    require_draws(draws)
    y, trials = np.asarray(correct, float), np.asarray(n, float)
    used = np.flatnonzero(trials > 0)
    grid = _child_grid(y, trials, draws, guessing)
    away = (grid - draws.mu_b[:, None]) / draws.s_b[:, None]
    log_mass = -0.5 * away**2 - np.log(draws.s_b)[:, None]
    for j in used:
        log_p, log_q = outer_log_probabilities(draws.theta[:, j], grid, guessing)
        log_mass += y[j] * log_p + (trials[j] - y[j]) * log_q
    return ChildPosterior(grid, np.exp(log_mass - logsumexp(log_mass)))


def require_draws(draws: Draws) -> None:
    """Raise ValueError for so few draws that they do not show what is uncertain."""
    if 1 < len(draws.theta) < MIN_DRAWS:
        raise ValueError(f"{len(draws.theta)} draws are too few; at least {MIN_DRAWS} are needed")


def _child_grid(
    y: NDArray[np.float64], n: NDArray[np.float64], draws: Draws, guessing: float
) -> NDArray[np.float64]:
    """Return a grid that holds the child's posterior: coarse over the prior, then refined."""
    reach = 6 * draws.s_b.max()
    low, high = draws.mu_b.min() - reach, draws.mu_b.max() + reach
    some = draws.thin(MIN_DRAWS // 10)
    for _ in range(3):
        grid = np.linspace(low, high, GRID_POINTS)
        log_mass = -0.5 * ((grid - some.mu_b[:, None]) / some.s_b[:, None]) ** 2
        for j in np.flatnonzero(n > 0):
            log_p, log_q = outer_log_probabilities(some.theta[:, j], grid, guessing)
            log_mass += y[j] * log_p + (n[j] - y[j]) * log_q
        # every draw counts alike here: the grid must hold the unlikely ones too
        likely = np.flatnonzero((log_mass - log_mass.max(1, keepdims=True)).max(0) > -18)
        spare = 0.1 * (grid[likely[-1]] - grid[likely[0]]) + grid[1] - grid[0]
        low, high = grid[likely[0]] - spare, grid[likely[-1]] + spare
    return np.linspace(low, high, GRID_POINTS)


def _interpolate_rows(
    edges: NDArray[np.float64], values: NDArray[np.float64], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate each row of values (S, E) over edges (E,) at one place (S,), clamped."""
    place = np.clip((at - edges[0]) / (edges[1] - edges[0]), 0, len(edges) - 1)
    cell = np.minimum(place.astype(int), len(edges) - 2)
    rows = np.arange(len(values))
    start, stop = values[rows, cell], values[rows, cell + 1]
    return np.asarray(start + (place - cell) * (stop - start))
