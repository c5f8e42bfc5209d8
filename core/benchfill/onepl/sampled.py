"""The collapsed posterior as the sampler sees it: a value and a gradient, many thousand times.

docs/method, section 2; what is integrated out and in which coordinates the rest is sampled stands
in docs/decisions/007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .collapsed import END_MASS, CollapsedPosterior, Parameters
from .coordinates import MAX_LOG_S_B, coordinates_for, scale_of
from .lattice import Windows
from .model import B_SCALE, MU_SCALE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from .collapsed import GuessClass
    from .map import MapEstimate
    from .model import ItemPatterns

CELLS_PER_SD = 2.0  # of the surest difficulty; the trapezoidal rule errs by less than 1e-8
_MOST_IN_A_CELL = 0.5  # where the sd is three quarters of a cell
_SAFE = 150.0  # logits; products of exponentials of twice that do not overflow
_CHUNK = 1 << 24  # floats of scratch memory when the windows are sought


class SampledPosterior:
    """Log density of a vector u, see `coordinates`, with the difficulties integrated out.

    They are integrated on a lattice of ``x = (b - mu_b) / s_b``, which stays fine and wide enough
    however ``s_b`` moves, each row on its own window.
    """

    def __init__(self, patterns: ItemPatterns, estimate: MapEstimate, seed: int) -> None:
        self.patterns = patterns
        self.coordinates = coordinates_for(estimate)
        self._classes = CollapsedPosterior(patterns).classes
        self._constant = patterns.weight @ sum(_scattered(one, patterns) for one in self._classes)
        self.fit_windows(self.coordinates.outermost(np.random.default_rng(seed)))

    def parameters(self, u: NDArray[np.float64]) -> Parameters:
        """Return what u stands for."""
        full = self.coordinates.place(u)
        return Parameters(full[:-2] - full[:-2].mean(), float(full[-2]), float(full[-1]))

    def fit_windows(self, points: Iterable[NDArray[np.float64]], spare: float = 0.1) -> None:
        """Choose lattice and windows that serve at the given points u, and a share beyond."""
        probes = [_within_prior(self.parameters(u)) for u in points]
        sure = self.patterns.n.sum(1).max() / 4 * max(at.s_b for at in probes) ** 2
        step = 1 / (CELLS_PER_SD * np.sqrt(sure + 1))
        seen = np.stack([self._extents(at, step) for at in probes])
        self._use(Windows.covering(seen, CELLS_PER_SD, spare))

    def _use(self, windows: Windows) -> None:
        self._windows = windows
        self._x = windows.lattice
        self._x_spread = self._x**2 - 1
        self._parts = [
            _Part(one, self.patterns, windows.cells[one.rows], self._x) for one in self._classes
        ]

    def _extents(self, at: Parameters, step: float) -> NDArray[np.float64]:
        """Return where each row's mass over x begins, where it ends, and its sd; (3, R)."""
        reach = 8.0
        while True:
            x = np.arange(-reach, reach + step, step)
            rows = self.patterns.weight.size
            found = np.empty((3, rows))
            worst = 0.0
            for log_mass, chosen in self._log_masses(at, x):
                mass = np.exp(log_mass - log_mass.max(1, keepdims=True))
                mass /= mass.sum(1, keepdims=True)
                worst = max(worst, float(mass[:, [0, -1]].max()))
                held = mass > END_MASS / 1000
                mean = mass @ x
                found[0, chosen] = x[held.argmax(1)]
                found[1, chosen] = x[len(x) - 1 - held[:, ::-1].argmax(1)]
                found[2, chosen] = np.sqrt(np.maximum(mass @ x**2 - mean**2, step**2))
            if worst < END_MASS:
                return found
            reach *= 1.5

    def _log_masses(
        self, at: Parameters, x: NDArray[np.float64]
    ) -> Iterable[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Yield the rows' log masses (some, G) on a lattice of x, and which rows they are."""
        grid = at.mu_b + at.s_b * x
        for one in self._classes:
            shared, slope, _ = one.log_likelihood(at.theta, grid)
            size = max(1, _CHUNK // len(x))
            for start in range(0, len(one.rows), size):
                part = slice(start, start + size)
                log_mass = shared[one.alike[part]] - slope[part, None] * grid - 0.5 * x**2
                yield log_mass, one.rows[part]

    def value_and_gradient(self, u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the log density of u up to a constant, and its gradient, of the shape of u."""
        full = self.coordinates.place(u)
        at = _Place.of(full, self._x)
        spread = np.zeros(len(self._x))
        gradient = np.empty(len(full))
        gradient[:-2] = self._constant
        value = self._constant @ full[:-2] + full[-1]
        for part in self._parts:
            value += part.add(at, gradient[:-2], spread)
        gradient[-2] = spread @ self._x / at.s_b - at.mu_b / MU_SCALE**2
        gradient[-1] = spread @ self._x_spread + 1 - (at.s_b / B_SCALE) ** 2
        value -= 0.5 * (at.mu_b / MU_SCALE) ** 2 + 0.5 * (at.s_b / B_SCALE) ** 2
        log_prior, pulled = self.coordinates.pull_back(u, full, gradient)
        return float(value + log_prior), pulled

    def misfits(self, points: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Return the points where a window cuts mass off, or its cells are too coarse."""
        found = []
        for u in points:
            at = _Place.of(self.coordinates.place(u), self._x)
            if any(part.misfits(at) for part in self._parts):
                found.append(u)
        return found


@dataclass(frozen=True)
class _Place:
    """Where the lattice lies now: odds, probability of success, ``log(1 + odds)``, all (J, G)."""

    odds: NDArray[np.float64]
    solved: NDArray[np.float64]
    log_either: NDArray[np.float64]
    mu_b: float
    s_b: float

    @classmethod
    def of(cls, full: NDArray[np.float64], x: NDArray[np.float64]) -> _Place:
        """Place the lattice x at (theta, mu_b, log s_b)."""
        theta, mu_b = full[:-2], float(full[-2])
        s_b = scale_of(full[-1])
        b = mu_b + s_b * x  # in order, as x is
        if max(-theta.min(), theta.max(), -b[0], b[-1]) < _SAFE:
            # an outer product of exponentials costs a quarter of the exponentials of all sums
            odds = np.exp(theta)[:, None] * np.exp(-b)
            either = 1 + odds
            return cls(odds, odds / either, np.log(either, out=either), mu_b, s_b)
        logit = theta[:, None] - b
        odds = np.exp(np.clip(logit, -2 * _SAFE, 2 * _SAFE))
        return cls(odds, odds / (1 + odds), np.logaddexp(0.0, logit), mu_b, s_b)

    def log_guessed(self, guess: float) -> NDArray[np.float64]:
        """Return ``log(guess + odds)``."""
        far = self.log_either > _SAFE
        return np.where(far, self.log_either, np.log(guess + self.odds))


class _Part:
    """Rows with one guessing probability, on their windows."""

    def __init__(
        self,
        group: GuessClass,
        patterns: ItemPatterns,
        cells: NDArray[np.int64],
        x: NDArray[np.float64],
    ) -> None:
        self._group = group
        self._weight = patterns.weight[group.rows]
        self._cells = cells + group.alike[:, None] * len(x)
        self._kernel = -0.5 * x**2
        self._slope = group.constant.sum(1)
        self._slope_x = self._slope[:, None] * x[cells]
        self._shape = (len(group.alike_q), len(x))

    def add(self, at: _Place, gradient: NDArray[np.float64], spread: NDArray[np.float64]) -> float:
        """Return the rows' log likelihood; add to the gradient in theta and to the mass on x."""
        guess = self._group.guessing
        mass = self._log_mass(at)
        peak = mass.max(1)
        mass -= peak[:, None]
        np.exp(mass, out=mass)
        total = mass.sum(1)
        mass *= (self._weight / total)[:, None]
        size = self._shape[0] * self._shape[1]
        held = np.bincount(self._cells.ravel(), mass.ravel(), size).reshape(self._shape)
        if len(held) == 1:
            gradient -= self._group.alike_q[0] * (at.solved @ held[0])
        else:
            gradient -= np.einsum("jg,jg->j", self._group.alike_q.T @ held, at.solved)
        if guess > 0:
            slope = at.solved * (1 - guess) / (guess + at.odds)
            gradient += np.einsum("jg,jg->j", self._group.alike_p.T @ held, slope)
        spread += held.sum(0)
        return float(self._weight @ (peak + np.log(total)))

    def misfits(self, at: _Place) -> bool:
        """Say whether a row has mass beyond its window, or most of it in one cell."""
        mass = self._log_mass(at)
        mass = np.exp(mass - mass.max(1, keepdims=True))
        mass /= mass.sum(1, keepdims=True)
        return bool(mass[:, [0, -1]].max() > END_MASS or mass.max() > _MOST_IN_A_CELL)

    def _log_mass(self, at: _Place) -> NDArray[np.float64]:
        guess = self._group.guessing
        shared = self._kernel - self._group.alike_q @ at.log_either
        if guess > 0:
            shared += self._group.alike_p @ (at.log_guessed(guess) - at.log_either)
        log_mass = np.take(shared, self._cells)
        if guess == 0:
            log_mass -= at.s_b * self._slope_x
            log_mass -= (at.mu_b * self._slope)[:, None]
        return log_mass


def _scattered(group: GuessClass, patterns: ItemPatterns) -> NDArray[np.float64]:
    """Return the constant part of the rows' scores among all rows, shape (R, J)."""
    constant = np.zeros_like(patterns.n)
    constant[group.rows] = group.constant
    return constant


def _within_prior(at: Parameters) -> Parameters:
    return Parameters(at.theta, at.mu_b, min(at.log_s_b, MAX_LOG_S_B))
