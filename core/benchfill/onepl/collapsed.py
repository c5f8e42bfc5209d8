"""The 1PL posterior with the difficulties integrated out.

Given abilities and hyper-parameters the difficulties are independent, so each is integrated on a
grid, and what remains is a density of the abilities, ``mu_b`` and ``log s_b`` with an exact
gradient and Hessian (Louis 1982, doi:10.1111/j.2517-6161.1982.tb01203.x). Its cost grows with the
number of distinct item patterns, not of items. docs/method, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .merging import equal_columns
from .model import (
    B_SCALE,
    MU_SCALE,
    ItemPatterns,
    outer_log_failure,
    outer_log_probabilities,
    response_curves,
    summed_log_failure,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .model import ResponseCurves

END_MASS = 1e-6
_PAIRS, _ROWS = 2048, 256  # of parameters and of rows, whose products are held at a time
_CACHED = 1 << 15  # floats that a processor's cache holds
_NEGLIGIBLE = 1e-18  # mass of a cell
_FEW = 8  # kinds of rows whose scores are multiplied one by one


@dataclass(frozen=True)
class Parameters:
    """Abilities (J,) and the hyper-parameters of the difficulties."""

    theta: NDArray[np.float64]
    mu_b: float
    log_s_b: float

    @property
    def s_b(self) -> float:
        """Standard deviation of the difficulties."""
        return float(np.exp(self.log_s_b))


class Conditional(NamedTuple):
    """A grid (G,), the rows' log marginal likelihoods (R,) and their masses on it (R, G)."""

    grid: NDArray[np.float64]
    total: NDArray[np.float64]
    mass: NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """Density, derivatives in (theta, mu_b, log s_b), and the difficulties given them.

    ``value`` is the log density up to a constant, ``gradient`` (J+2,), ``hessian`` (J+2, J+2);
    ``b`` and ``b_variance`` (R,) are the conditional mean and variance of a row's difficulty and
    ``b_slope`` (R, J+2) the derivative of that mean.
    """

    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    b: NDArray[np.float64]
    b_variance: NDArray[np.float64]
    b_slope: NDArray[np.float64]


class CollapsedPosterior:
    """Log density of the abilities and the hyper-parameters, without the prior of theta."""

    def __init__(self, patterns: ItemPatterns) -> None:
        self.patterns = patterns
        self.classes = [GuessClass.of(patterns, g) for g in np.unique(patterns.guessing)]
        self._information = patterns.n.sum(1).max() / 4

    def grid(self, *points: Parameters) -> NDArray[np.float64]:
        """Return difficulties, equally spaced, that are wide and fine enough at all points.

        The step is at most half the smallest standard deviation that a difficulty can have; the
        ends are moved out until no row has more than 1e-6 of its mass in an end cell, judged at
        the points with the smallest and the largest ``s_b``.
        """
        return self._settled(points)[0]

    def at(self, point: Parameters) -> Conditional:
        """Return the rows' marginal likelihoods and masses on the grid of one point."""
        grid, held = self._settled((point,))
        return Conditional(grid, *held[0])

    def _settled(
        self, points: tuple[Parameters, ...]
    ) -> tuple[NDArray[np.float64], list[tuple[NDArray[np.float64], NDArray[np.float64]]]]:
        ordered = sorted(points, key=lambda point: point.log_s_b)
        smallest = ordered[0].s_b
        step = min(0.5 / np.sqrt(self._information + smallest**-2), smallest / 4)
        reach = 6.0
        while True:
            low = min(point.mu_b - reach * point.s_b for point in points)
            high = max(point.mu_b + reach * point.s_b for point in points)
            grid = np.arange(low, high + step, step, dtype=np.float64)
            judged = {id(point): point for point in (ordered[0], ordered[-1])}.values()
            held = [self.conditional(point, grid) for point in judged]
            if max(mass[:, [0, -1]].max() for _, mass in held) < END_MASS:
                return grid, held
            reach += 2.0

    def conditional(
        self, at: Parameters, grid: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the rows' log marginal likelihoods (R,) and masses on the grid (R, G)."""
        rows = len(self.patterns.weight)
        total, mass = np.empty(rows), np.empty((rows, len(grid)))
        kernel = _log_normal(grid, at.mu_b, at.s_b) + np.log(grid[1] - grid[0])
        size = max(1, _CACHED // len(grid))
        for group in self.classes:
            alike, slope, constant = group.log_likelihood(at.theta, grid)
            # some rows at a time: all passes over them then run in the processor's cache
            for start in range(0, len(group.rows), size):
                part = slice(start, start + size)
                log_density = alike[group.alike[part]]
                log_density -= slope[part, None] * grid
                log_density += kernel
                # log-sum-exp and softmax in one pass: the exponential is what costs here
                peak = log_density.max(1, keepdims=True)
                log_density -= peak
                np.exp(log_density, out=log_density)
                sums = log_density.sum(1, keepdims=True)
                log_density /= sums
                mass[group.rows[part]] = log_density
                total[group.rows[part]] = (peak + np.log(sums))[:, 0] + constant[part]
        return total, mass

    def log_densities(
        self,
        draws: tuple[Parameters, ...],
        grids: NDArray[np.float64],
        cells: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the rows' log densities in their own cells of each draw's grid, up to a constant.

        `grids` has shape (draws, G), its rows equally spaced; `cells` are positions on them, shape
        (R, C); the result has shape (draws, R, C), its constants differ from row to row.
        """
        log_density = np.empty((len(draws), *cells.shape))
        for group in self.classes:
            held = cells[group.rows]
            place = held + group.alike[:, None] * grids.shape[1]
            sloped = group.constant.sum(1)[:, None] * held
            for d, (at, grid) in enumerate(zip(draws, grids, strict=True)):
                alike, _, _ = group.log_likelihood(at.theta, grid)
                alike += _log_normal(grid, at.mu_b, at.s_b)
                part = np.take(alike, place)
                part -= (grid[1] - grid[0]) * sloped
                log_density[d, group.rows] = part
        return log_density

    def value(self, at: Parameters, grid: NDArray[np.float64]) -> float:
        """Return the log density."""
        total, _ = self.conditional(at, grid)
        return float(self.patterns.weight @ total) + _log_hyper_prior(at)

    def moments(
        self, at: Parameters, grid: NDArray[np.float64], known: Conditional | None = None
    ) -> Moments:
        """Return the log density, its derivatives, and the difficulties' conditional moments.

        `known` are the masses at this point on this grid, where they are known already.

        With u the complete-data score (derivatives of a row's log density in theta, mu, log s) the
        gradient is the sum of E[u] over the items and the Hessian of E[u u'] - E[u] E[u]' + E[du].
        """
        total, mass = self.conditional(at, grid) if known is None else known[1:]
        occupied = np.flatnonzero(mass.max(0) > _NEGLIGIBLE)
        kept = slice(occupied[0], occupied[-1] + 1)
        grid, mass = grid[kept], mass[:, kept]
        weight, j = self.patterns.weight, len(at.theta)
        away = (grid - at.mu_b) / at.s_b
        hyper = np.stack([away / at.s_b, away**2 - 1])
        score, score_b = np.empty((len(mass), j + 2)), np.empty((len(mass), j + 2))
        score[:, j:], score_b[:, j:] = mass @ hyper.T, mass @ (hyper * grid).T
        hessian = np.zeros((j + 2, j + 2))
        gradient = np.zeros(j + 2)
        for group in self.classes:
            curves = response_curves(at.theta[:, None] - grid, group.guessing)
            held = mass[group.rows]
            score[group.rows, :j] = group.expected_score(held, curves)
            score_b[group.rows, :j] = group.expected_score(held * grid, curves)
            weighted = held * weight[group.rows, None]
            hessian += group.score_products(weighted, curves, hyper)
            hessian[np.arange(j), np.arange(j)] += group.curvature(weighted, curves)
            gradient[:j] += weight[group.rows] @ group.constant
        hessian -= (score * weight[:, None]).T @ score
        spread = weight @ mass
        hessian[j, j] -= spread.sum() / at.s_b**2
        hessian[[j, j + 1], [j + 1, j]] -= 2 * (spread @ away) / at.s_b
        hessian[j + 1, j + 1] -= 2 * (spread @ away**2)
        gradient += weight @ score
        _add_hyper_prior(at, gradient, hessian)
        b = mass @ grid
        return Moments(
            value=float(weight @ total) + _log_hyper_prior(at),
            gradient=gradient,
            hessian=hessian,
            b=b,
            b_variance=mass @ grid**2 - b**2,
            b_slope=score_b - b[:, None] * score,
        )


@dataclass(frozen=True)
class GuessClass:
    """Rows with the same guessing probability, and those of them whose scores vary alike.

    A row's score in theta_j is ``y d_log_p + (n - y) d_log_q``. Without guessing that is the
    constant y plus ``n d_log_q``: rows with the same n-vector vary alike, which is what keeps the
    Hessian cheap when all items were given to the same models.
    """

    guessing: float
    rows: NDArray[np.int64]
    correct: NDArray[np.float64]
    n: NDArray[np.float64]
    constant: NDArray[np.float64]
    alike_p: NDArray[np.float64]
    alike_q: NDArray[np.float64]
    alike: NDArray[np.int64]

    @classmethod
    def of(cls, patterns: ItemPatterns, guessing: float) -> GuessClass:
        """Take the rows with this guessing probability."""
        rows = np.flatnonzero(patterns.guessing == guessing)
        correct, n = patterns.correct[rows], patterns.n[rows]
        constant = correct if guessing == 0 else np.zeros_like(correct)
        varying = correct - constant, n - correct + constant
        merged = equal_columns([part.T for part in varying])
        alike_p, alike_q = (part[merged.first] for part in varying)
        return cls(float(guessing), rows, correct, n, constant, alike_p, alike_q, merged.row)

    def log_likelihood(
        self, theta: NDArray[np.float64], grid: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return what alike rows share on the grid, and each row's slope in -b and constant.

        Without guessing ``y log p + (n - y) log q = y (theta - b) + n log q``: only the last term
        needs the grid, and rows with the same n-vector share it.
        """
        if self.guessing > 0:
            log_p, log_q = outer_log_probabilities(theta, grid, self.guessing)
            shared = self.alike_q @ log_q + self.alike_p @ log_p
        elif len(self.alike_q) == 1 and np.ptp(self.alike_q) == 0:
            shared = self.alike_q[:, :1] * summed_log_failure(theta, grid)
        else:
            shared = self.alike_q @ outer_log_failure(theta, grid)
        return shared, self.constant.sum(1), self.constant @ theta

    def expected_score(
        self, mass: NDArray[np.float64], curves: ResponseCurves
    ) -> NDArray[np.float64]:
        """Sum the varying part of the score over a mass (R, G); shape (R, J)."""
        expected: NDArray[np.float64] = self.alike_q[self.alike] * (mass @ curves.d_log_q.T)
        if self.guessing > 0:
            expected += self.alike_p[self.alike] * (mass @ curves.d_log_p.T)
        return expected

    def score_products(
        self,
        weighted: NDArray[np.float64],
        curves: ResponseCurves,
        hyper: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Sum the products of the scores over a weighted mass (R, G); shape (J+2, J+2)."""
        held, alike_p, alike_q = weighted, self.alike_p, self.alike_q
        if 2 * len(alike_q) < len(weighted):
            order = np.argsort(self.alike, kind="stable")
            starts = np.searchsorted(self.alike[order], np.arange(len(alike_q)))
            held = np.add.reduceat(weighted[order], starts, axis=0)
        else:
            alike_p, alike_q = alike_p[self.alike], alike_q[self.alike]
        models = np.arange(self.n.shape[1])
        kinds, slopes, owner = [alike_q], [curves.d_log_q], [models]
        if self.guessing > 0:
            kinds.append(alike_p)
            slopes.append(curves.d_log_p)
            owner.append(models)
        full = _products(
            np.concatenate([*kinds, np.ones((len(held), 2))], axis=1),
            np.concatenate([*slopes, hyper]),
            held,
        )
        parameter = np.concatenate([*owner, len(models) + np.arange(2)])
        products = np.zeros((len(models) + 2, len(models) + 2))
        np.add.at(products, (parameter[:, None], parameter), full)
        return products

    def curvature(
        self, weighted: NDArray[np.float64], curves: ResponseCurves
    ) -> NDArray[np.float64]:
        """Sum the second derivatives in each theta_j over a weighted mass (R, G); shape (J,)."""
        right = (self.correct.T @ weighted) * curves.dd_log_p
        wrong = ((self.n - self.correct).T @ weighted) * curves.dd_log_q
        total: NDArray[np.float64] = (right + wrong).sum(1)
        return total


def _products(
    kinds: NDArray[np.float64], slopes: NDArray[np.float64], held: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum ``held[k, g] u[k, :, g] u[k, :, g]'``, where ``u[k, v, g] = kinds[k, v] slopes[v, g]``.

    Shapes (K, V), (V, G) and (K, G); the result has shape (V, V). Many kinds are first summed up in
    products of `kinds`, which BLAS does without an array of (K, V, G).
    """
    width = len(slopes)
    products = np.zeros((width, width))
    if len(kinds) <= _FEW:
        for kind, mass in zip(kinds, held, strict=True):
            u = kind[:, None] * slopes
            products += (u * mass) @ u.T
        return products
    by_entry = np.ascontiguousarray(kinds.T)
    size = max(1, _PAIRS // width)
    for first in range(0, width, size):
        entries = range(first, min(first + size, width))
        both = np.zeros((sum(width - v for v in entries), held.shape[1]))
        for start in range(0, len(kinds), _ROWS):
            part = by_entry[:, start : start + _ROWS]
            pairs = np.concatenate([part[v] * part[v:] for v in entries])
            both += pairs @ held[start : start + _ROWS]
        ends = np.cumsum([width - v for v in entries])[:-1]
        for v, summed in zip(entries, np.split(both, ends), strict=True):
            products[v, v:] = (summed * slopes[v:]) @ slopes[v]
    upper = np.triu(products, 1)
    return products + upper.T


def _log_normal(x: NDArray[np.float64], mean: float, sd: float) -> NDArray[np.float64]:
    return np.asarray(-0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi))


def _log_hyper_prior(at: Parameters) -> float:
    """Priors of mu_b and s_b, the latter as a density of log s_b."""
    return -0.5 * (at.mu_b / MU_SCALE) ** 2 - 0.5 * (at.s_b / B_SCALE) ** 2 + at.log_s_b


def _add_hyper_prior(
    at: Parameters, gradient: NDArray[np.float64], hessian: NDArray[np.float64]
) -> None:
    gradient[-2] -= at.mu_b / MU_SCALE**2
    gradient[-1] += 1 - (at.s_b / B_SCALE) ** 2
    hessian[-2, -2] -= 1 / MU_SCALE**2
    hessian[-1, -1] -= 2 * (at.s_b / B_SCALE) ** 2
