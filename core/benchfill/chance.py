"""How wide the widest gap of a bank without holes would look, by the noise of its answers alone.

Banks of as many items, uniform between the easiest and the hardest, are answered by the fitted
models with the same rollouts, and their difficulties estimated as the benchmark's were. Abilities
stay as fitted, so that an estimate is looked up by the item's total (docs/method, section 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from .onepl.collapsed import Parameters
from .onepl.draws import difficulty_moments
from .onepl.merging import equal_columns
from .onepl.model import ItemPatterns, guessing_vector
from .responses import ResponseMatrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .onepl import Fit1PL

NULLS = 200
_PLACES = 64  # of the uniform bank, when totals are tabulated
_MOST_TABULATED = 100_000_000  # terms of the characteristic functions
_FEW_ANSWERS = 2_000_000  # cells that are simulated one by one, rather than tabulated
_MOST_ANSWERS = 10_000_000  # and where they cannot be tabulated
_ROWS = 20_000  # at a time


def widest_by_chance(
    fit: Fit1PL, *, nulls: int = NULLS, seed: int = 0
) -> NDArray[np.float64] | None:
    """Return the widest spacing between neighbours in banks without holes, on their own z scales.

    Parameters
    ----------
    fit
        The fit whose models, rollouts, guessing and range of difficulty are used.
    nulls
        Number of banks.
    seed
        Seed of the answers.

    Returns
    -------
    ndarray or None
        Shape (at most `nulls`,), banks in which all items look alike left out; None where the
        matrix is so large and irregular that this would take minutes, or no bank has a scale.
    """
    rng = np.random.default_rng(seed)
    if fit.b.max() - fit.b.min() < 1e-9:
        return None
    classes, sizes = _rollout_classes(fit.responses.n)
    terms = _PLACES * int(classes.sum(0).max()) * classes.size
    answers = nulls * fit.responses.n.size
    tabulate = not fit.guessing.any() and terms <= _MOST_TABULATED
    if tabulate and answers > _FEW_ANSWERS:
        patterns, chances = _tabulated(fit, classes)
        b = _estimates(fit, patterns)
        kinds = zip(sizes, chances, strict=True)
        counts = np.concatenate([rng.multinomial(size, p, nulls) for size, p in kinds], axis=1)
        widths = [_widest(b[held > 0]) for held in counts]
    elif answers <= _MOST_ANSWERS:
        patterns = _answered(fit, nulls, rng)
        b = _estimates(fit, patterns)[patterns.row]
        widths = [_widest(bank) for bank in b.reshape(nulls, -1)]
    else:
        return None
    known = np.array([width for width in widths if width is not None])
    return known if len(known) else None


def _rollout_classes(
    n: NDArray[np.integer[Any]],
) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64]]:
    """Return the distinct n-vectors (J, C) in lexicographic order, and how many items have each."""
    merged = equal_columns([n])
    classes = n[:, merged.first]
    order = np.lexsort(classes[::-1])
    return classes[:, order], merged.copies[order]


def _tabulated(
    fit: Fit1PL, classes: NDArray[np.integer]
) -> tuple[ItemPatterns, list[NDArray[np.float64]]]:
    """Return all totals that a uniform bank can get, and their probabilities in each n-vector."""
    low, high = float(fit.b.min()), float(fit.b.max())
    places = low + (high - low) * (np.arange(_PLACES) + 0.5) / _PLACES
    p = expit(fit.theta[:, None] - places)
    chances, correct, n = [], [], []
    for rollouts in classes.T:
        total = int(rollouts.sum())
        chances.append(_total_distribution(p, rollouts))
        n.append(np.broadcast_to(rollouts, (total + 1, len(rollouts))))
        # without guessing only the total matters, however it is spread over the models
        share = rollouts / max(total, 1)
        correct.append(np.arange(total + 1)[:, None] * share)
    rows = sum(len(one) for one in n)
    return (
        ItemPatterns(
            correct=np.concatenate(correct),
            n=np.concatenate(n).astype(np.float64),
            guessing=np.zeros(rows),
            weight=np.ones(rows),
            row=np.arange(rows),
        ),
        chances,
    )


def _total_distribution(
    p: NDArray[np.float64], rollouts: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return P(total) over the places of p (J, G), by the characteristic function; (T+1,)."""
    total = int(rollouts.sum())
    turn = np.exp(-2j * np.pi * np.arange((total + 1) // 2 + 1) / (total + 1))
    phi = np.ones((p.shape[1], len(turn)), dtype=np.complex128)
    for solved, n in zip(p, rollouts, strict=True):
        if n:
            one = 1 - solved[:, None] + solved[:, None] * turn
            phi *= one if n == 1 else one ** int(n)
    chance = np.clip(np.fft.irfft(phi.mean(0), total + 1), 0, None)
    return np.asarray(chance / chance.sum())


def _answered(fit: Fit1PL, nulls: int, rng: np.random.Generator) -> ItemPatterns:
    """Simulate all banks' answers as the items of one large matrix, bank after bank."""
    items = nulls * len(fit.b)
    b = rng.uniform(fit.b.min(), fit.b.max(), items)
    n = np.tile(fit.responses.n, nulls)
    g = np.tile(fit.guessing, nulls)
    correct = rng.binomial(n, g + (1 - g) * expit(fit.theta[:, None] - b))
    names = tuple(map(str, range(items)))
    matrix = ResponseMatrix(fit.responses.models, names, correct, n)
    return ItemPatterns.of(matrix, guessing_vector(matrix, g))


def _estimates(fit: Fit1PL, patterns: ItemPatterns) -> NDArray[np.float64]:
    """Return the posterior mean of b of each row, abilities and the bank's mean and sd given."""
    low, high = float(fit.b.min()), float(fit.b.max())
    at = Parameters(fit.theta, (low + high) / 2, float(np.log((high - low) / np.sqrt(12))))
    b = np.empty(len(patterns.weight))
    for first in range(0, len(b), _ROWS):
        part = np.arange(first, min(first + _ROWS, len(b)))
        b[part], _ = difficulty_moments(_rows(patterns, part), (at,))
    return b


def _rows(patterns: ItemPatterns, rows: NDArray[np.int64]) -> ItemPatterns:
    return ItemPatterns(
        correct=patterns.correct[rows],
        n=patterns.n[rows],
        guessing=patterns.guessing[rows],
        weight=patterns.weight[rows],
        row=np.arange(len(rows)),
    )


def _widest(b: NDArray[np.float64]) -> float | None:
    ordered = np.sort(b)
    width = ordered[-1] - ordered[0]
    return float(np.diff(ordered).max() / width) if width > 1e-9 else None
