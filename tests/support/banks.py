"""Simulated item banks and what their gaps truly are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from benchfill import DifficultyScale, find_gaps, fit_1pl
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill import Fit1PL

Kind = Literal["uniform", "even", "clumped", "planted"]
KINDS: tuple[Kind, ...] = ("uniform", "even", "clumped", "planted")
SPAN = 3.0  # difficulties lie in [-3, 3] logits


@dataclass(frozen=True)
class Bank:
    """True difficulties in logits, and the planted gap where there is one."""

    b: NDArray[np.float64]
    planted: tuple[float, float] | None


def make_bank(kind: Kind, items: int, rng: np.random.Generator) -> Bank:
    """Draw a bank; a planted gap is .15 to .25 of the scale wide and not at its ends."""
    planted = None
    if kind == "uniform":
        z = rng.random(items)
    elif kind == "even":
        z = (np.arange(items) + 0.5) / items
    elif kind == "clumped":
        z = rng.choice(rng.random(5), items) + rng.normal(0, 0.03, items)
    else:
        width = rng.uniform(0.15, 0.25)
        left = rng.uniform(0.2, 0.8 - width)
        z = rng.random(items) * (1 - width)
        z = np.where(z > left, z + width, z)
        # the borders and both ends are items, so that the gap is as wide as it was meant
        z[:4] = 0, left, left + width, 1
        planted = (float(-SPAN + 2 * SPAN * left), float(-SPAN + 2 * SPAN * (left + width)))
    return Bank(-SPAN + 2 * SPAN * np.asarray(z), planted)


@dataclass(frozen=True)
class Call:
    """A gap that was called empty: its rank by width from 0, p_hole, and whether it truly is."""

    rank: int
    p_hole: float
    truly: bool


@dataclass(frozen=True)
class Calls:
    """Verdicts on one bank: gaps called empty, and whether the planted one is among them."""

    empty: tuple[Call, ...]
    planted_called: bool | None


def call(bank: Bank, k: int, rng: np.random.Generator, models: int = 12) -> Calls:
    """Let models answer, fit, and hold the verdicts against the truth.

    Called truly where the true spacing that covers the midpoint, on the frozen scale, is at least
    half the reported width.
    """
    theta = abilities(rng, models)
    fit = fit_1pl(respond(rng, theta, bank.b, k), engine="map", seed=int(rng.integers(1 << 31)))
    return judge(fit, bank)


def judge(fit: Fit1PL, bank: Bank) -> Calls:
    """Hold the verdicts of a fit against the truth."""
    scale = DifficultyScale.of(fit.b)
    truth = np.concatenate([[-np.inf], np.sort(bank.b), [np.inf]])
    calls = []
    called = None if bank.planted is None else False
    for rank, gap in enumerate(find_gaps(fit)):
        if gap.verdict != "empty":
            continue
        middle = float(scale.to_b(gap.midpoint))
        above = int(np.searchsorted(truth, middle))
        wide = (truth[above] - truth[above - 1]) / scale.width >= gap.width / 2
        calls.append(Call(rank, gap.p_hole, bool(wide)))
        if bank.planted is not None:
            called = called or bank.planted[0] < middle < bank.planted[1]
    return Calls(tuple(calls), called)
