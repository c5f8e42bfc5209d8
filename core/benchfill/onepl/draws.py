"""Difficulties given draws of all else: their exact conditionals, drawn from and summed up.

Each row of equal items gets its own window of a common lattice: wide enough for its mass under all
draws, as coarse as its own spread allows. That is what makes a thousand draws take less than a
second where a common grid takes ten. docs/method, section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .collapsed import END_MASS, CollapsedPosterior
from .lattice import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .collapsed import Parameters
    from .model import ItemPatterns

CELLS_PER_SD = 3.0
_PROBES = 16
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
    b = np.empty((len(draws), len(patterns.row)))
    # row after row, so that a search stays where the one before it was
    order = np.argsort(patterns.row, kind="stable")
    for part, frame, windows, mass in _masses(patterns, draws):
        uniform = rng.random((2, len(mass), len(patterns.row)))[..., order]
        x = _invert(windows, mass, patterns.row[order], uniform)
        b[part, order] = frame.difficulties(x)
    return b


def difficulty_moments(
    patterns: ItemPatterns, draws: tuple[Parameters, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each row's difficulty over the draws, both (R,).

    Of the conditionals, not of draws from them (Rao-Blackwell), so that items with equal data get
    equal figures.
    """
    total, square = np.zeros((2, len(patterns.weight)))
    for _, frame, windows, mass in _masses(patterns, draws):
        x = windows.lattice[windows.cells]
        x_mean, x_square = (np.einsum("drc,rc->dr", mass, power) for power in (x, x**2))
        mean = frame.difficulties(x_mean)
        total += mean.sum(0)
        square += (mean**2 + (x_square - x_mean**2) * frame.scale[:, None] ** 2).sum(0)
    mean = total / len(draws)
    return mean, np.sqrt(np.maximum(square / len(draws) - mean**2, 0))


class _Frame(NamedTuple):
    """What each draw's lattice stands on: ``b = origin + scale * x``; both (D,).

    On a lattice of b itself, or of ``x = (b - mu_b) / s_b``. The first is the shorter where the
    data determine the difficulties; where ``s_b`` may be next to 0 it would have to be as fine as
    the smallest ``s_b`` asks and as wide as the largest: ten thousand cells.
    """

    origin: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, draws: tuple[Parameters, ...], standard: bool) -> _Frame:
        """Stand on b, or on x if `standard`."""
        hyper = [(at.mu_b, at.s_b) if standard else (0.0, 1.0) for at in draws]
        return cls(*np.transpose(hyper))

    def difficulties(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return b of x, both (D, anything)."""
        b: NDArray[np.float64] = self.origin[:, None] + self.scale[:, None] * x
        return b


def _masses(
    patterns: ItemPatterns, draws: tuple[Parameters, ...]
) -> Iterator[tuple[slice, _Frame, Windows, NDArray[np.float64]]]:
    """Yield the rows' masses (D, R, count) on their windows, some draws at a time."""
    posterior = CollapsedPosterior(patterns)
    standard, windows = _windows(posterior, draws)
    start = 0
    while start < len(draws):
        cost = _cost(patterns, windows)
        part = slice(start, start + max(1, _CHUNK // cost))
        frame = _Frame.of(draws[part], standard)
        mass = _masses_of(posterior, (frame, windows), draws[part])
        while (short := _too_narrow(mass)).any():
            windows = windows.widened(short)
            mass = _masses_of(posterior, (frame, windows), draws[part])
        yield part, frame, windows, mass
        start = part.stop


def _cost(patterns: ItemPatterns, windows: Windows) -> int:
    """Return how many floats a draw needs."""
    return int(patterns.n.shape[1] * len(windows.lattice) + len(windows.first) * windows.count)


def _windows(posterior: CollapsedPosterior, draws: tuple[Parameters, ...]) -> tuple[bool, Windows]:
    """Look at some draws, the extreme ones among them, each on a grid that holds all mass.

    Returns the cheaper windows of two, and whether they are those of the standard frame.
    """
    by_scale = sorted(draws, key=lambda at: at.log_s_b)
    by_mean = sorted(draws, key=lambda at: at.mu_b)
    spaced = np.linspace(0, len(draws) - 1, _PROBES).round().astype(int)
    probes = [by_scale[0], by_scale[-1], by_mean[0], by_mean[-1], *(draws[k] for k in spaced)]
    distinct = tuple({id(at): at for at in probes}.values())
    seen = np.stack([_extent(posterior, at) for at in distinct])
    found = []
    for standard in (False, True):
        frame = _Frame.of(distinct, standard)
        there = seen.copy()
        there[:, :2] -= frame.origin[:, None, None]
        there /= frame.scale[:, None, None]
        found.append((standard, Windows.covering(there, CELLS_PER_SD)))
    return min(found, key=lambda one: _cost(posterior.patterns, one[1]))


def _masses_of(
    posterior: CollapsedPosterior, on: tuple[_Frame, Windows], draws: tuple[Parameters, ...]
) -> NDArray[np.float64]:
    """Return the rows' masses on their windows under each draw, shape (D, R, count)."""
    frame, windows = on
    grids = frame.difficulties(windows.lattice[None])
    log_mass = posterior.log_densities(draws, grids, windows.cells)
    log_mass -= log_mass.max(-1, keepdims=True)
    mass = np.exp(log_mass, out=log_mass)
    mass /= mass.sum(-1, keepdims=True)
    return mass


def _too_narrow(mass: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows have more than 1e-6 of their mass in an end cell, shape (2, R)."""
    return np.stack([mass[..., 0].max(0), mass[..., -1].max(0)]) > END_MASS


def _invert(
    windows: Windows,
    mass: NDArray[np.float64],
    row: NDArray[np.int64],
    uniform: NDArray[np.float64],
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
    return np.asarray(windows.step * (windows.first[row] + windows.stride[row] * within))


def _extent(posterior: CollapsedPosterior, at: Parameters) -> NDArray[np.float64]:
    """Return where the mass of each row begins, where it ends, and its sd; shape (3, R)."""
    grid = posterior.grid(at)
    _, mass = posterior.conditional(at, grid)
    held = mass > END_MASS / 100
    mean = mass @ grid
    variance = np.einsum("rg,rg->r", mass, (grid - mean[:, None]) ** 2)
    last = len(grid) - 1 - held[:, ::-1].argmax(1)
    return np.stack([grid[held.argmax(1)], grid[last], np.sqrt(variance)])
