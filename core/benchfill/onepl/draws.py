"""Draws of the difficulties from their exact conditionals, given draws of all else.

Each row of equal items gets its own window of a common lattice: wide enough for its mass under all
draws, as coarse as its own spread allows. That is what makes a thousand draws take less than a
second where a common grid takes ten. docs/method, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .collapsed import END_MASS, CollapsedPosterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collapsed import Parameters
    from .model import ItemPatterns

CELLS_PER_SD = 3.0
_PROBES = 16
_MAX_CELLS = 20_000  # of the lattice; hyper-parameters of two items have no bounds
_CHUNK = 1 << 18  # floats of scratch memory


def draw_difficulties(
    patterns: ItemPatterns, draws: tuple[Parameters, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw all items' difficulties given each draw of the parameters, shape (draws, I).

    Parameters
    ----------
    patterns
        Items with equal data, merged.
    draws
        Abilities and hyper-parameters.
    rng
        Source of randomness.

    Notes
    -----
    Independent given the parameters. A difficulty is uniform within its cell of the lattice, at
    most a third of its standard deviation wide; at most 1e-6 of any mass lies in the end cells.
    """
    posterior = CollapsedPosterior(patterns)
    windows = _Windows.of(posterior, draws)
    b = np.empty((len(draws), len(patterns.row)))
    start = 0
    while start < len(draws):
        size = max(1, _CHUNK // windows.cost(patterns.n.shape[1]))
        part = draws[start : start + size]
        uniform = rng.random((2, len(part), len(patterns.row)))
        mass = windows.masses(posterior, part)
        while (short := windows.too_narrow(mass)).any():
            windows = windows.widened(short)
            mass = windows.masses(posterior, part)
        b[start : start + size] = windows.invert(mass, patterns.row, uniform)
        start += size
    return b


@dataclass(frozen=True)
class _Windows:
    """Cells that hold each row's mass: ``step * (first + stride * k)``, ``k < count``.

    ``first`` and ``stride`` have shape (R,); all windows have ``count`` cells.
    """

    step: float
    first: NDArray[np.int64]
    stride: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, posterior: CollapsedPosterior, draws: tuple[Parameters, ...]) -> _Windows:
        """Look at some draws, the extreme ones among them, each on a grid that holds all mass."""
        by_scale = sorted(draws, key=lambda at: at.log_s_b)
        by_mean = sorted(draws, key=lambda at: at.mu_b)
        spaced = np.linspace(0, len(draws) - 1, _PROBES).round().astype(int)
        probes = [by_scale[0], by_scale[-1], by_mean[0], by_mean[-1], *(draws[k] for k in spaced)]
        seen = np.stack([_extent(posterior, at) for at in probes])
        left, right, sd = seen[:, 0].min(0), seen[:, 1].max(0), seen[:, 2].min(0)
        spare = 0.1 * (right - left) + sd
        left, right = left - spare, right + spare
        step = max(float(sd.min()) / CELLS_PER_SD, float(right.max() - left.min()) / _MAX_CELLS)
        stride = np.maximum(1, np.floor(sd / CELLS_PER_SD / step + 1e-9)).astype(np.int64)
        first = np.floor(left / step).astype(np.int64)
        last = np.ceil(right / step).astype(np.int64)
        return cls(step, first, stride, int(((last - first) / stride).max()) + 2)

    def cost(self, models: int) -> int:
        """Floats that one draw takes."""
        last = self.first + self.stride * self.count
        return models * int(last.max() - self.first.min()) + len(self.first) * self.count

    def masses(
        self, posterior: CollapsedPosterior, draws: tuple[Parameters, ...]
    ) -> NDArray[np.float64]:
        """Return the rows' masses on their windows under each draw, shape (D, R, count)."""
        place = self.first[:, None] + self.stride[:, None] * np.arange(self.count)
        lowest = int(place.min())
        grid = self.step * np.arange(lowest, int(place.max()) + 1, dtype=np.float64)
        log_mass = posterior.log_densities(draws, grid, place - lowest)
        log_mass -= log_mass.max(-1, keepdims=True)
        mass = np.exp(log_mass, out=log_mass)
        mass /= mass.sum(-1, keepdims=True)
        return mass

    def too_narrow(self, mass: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which rows have more than 1e-6 of their mass in an end cell, shape (2, R)."""
        return np.stack([mass[..., 0].max(0), mass[..., -1].max(0)]) > END_MASS

    def widened(self, short: NDArray[np.bool_]) -> _Windows:
        """Add a quarter to all windows, on the sides that are short."""
        more = max(1, self.count // 4)
        first = self.first - np.where(short[0], self.stride * more, 0)
        return _Windows(self.step, first, self.stride, self.count + more)

    def invert(
        self, mass: NDArray[np.float64], row: NDArray[np.int64], uniform: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Invert each item's distribution function, linear within a cell; shape (D, I)."""
        draws, rows, count = mass.shape
        cumulated = np.cumsum(mass, axis=-1)
        cumulated /= cumulated[..., -1:]
        # rows are laid end to end, shifted by their number, so that one search serves all items
        offset = np.arange(draws)[:, None] * rows + row
        cumulated += np.arange(draws * rows).reshape(draws, rows, 1)
        found = np.searchsorted(cumulated.ravel(), (offset + uniform[0]).ravel())
        cell = np.clip(found.reshape(offset.shape) - offset * count, 0, count - 1)
        within = cell + uniform[1] - 0.5
        cells = self.first[row] + self.stride[row] * within
        return np.asarray(self.step * cells, dtype=np.float64)


def _extent(posterior: CollapsedPosterior, at: Parameters) -> NDArray[np.float64]:
    """Return where the mass of each row begins, where it ends, and its sd; shape (3, R)."""
    grid = posterior.grid(at)
    _, mass = posterior.conditional(at, grid)
    held = mass > END_MASS / 100
    mean = mass @ grid
    variance = np.einsum("rg,rg->r", mass, (grid - mean[:, None]) ** 2)
    last = len(grid) - 1 - held[:, ::-1].argmax(1)
    return np.stack([grid[held.argmax(1)], grid[last], np.sqrt(variance)])
