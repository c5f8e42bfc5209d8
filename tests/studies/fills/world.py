"""Simulated benchmarks to be filled: the truth, and what the fill may know of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

import benchfill as bf
from benchfill import Draws
from benchfill.items import Item
from benchfill.measure import DifficultyScale
from benchfill.overdispersion import misfit_sd
from benchfill_agents.calibrator import Bench
from benchfill_agents.memory import MemoryEntry
from benchfill_agents.target import FillTarget, targets_of
from support.simulated import abilities, matrix_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.onepl import Fit1PL

    from .held_out import HeldOut

Shape = Literal["normal", "bimodal", "skewed", "clumped", "EvalPerf"]
Violation = Literal["none", "2PL", "guessing", "odd model", "drift"]
SIMULATED: tuple[Shape, ...] = ("normal", "bimodal", "skewed", "clumped")
VIOLATIONS: tuple[Violation, ...] = ("none", "2PL", "guessing", "odd model", "drift")
DRAWS = 200
MANY = 10_000  # rollouts a cell


@dataclass(frozen=True)
class Setting:
    """A row of the study. `bench_rollouts` None: abilities and difficulties are known exactly."""

    shape: Shape = "normal"
    items: int = 30
    models: int = 12
    bench_rollouts: int | None = None
    violation: Violation = "none"
    targets: int = 3
    priced: bool = False
    """Whether models cost differently: abler ones more, and some more than others like them."""


@dataclass(frozen=True, eq=False)
class World:
    """One simulated benchmark.

    Parameters
    ----------
    theta, b
        True abilities (P,) and difficulties (I,), logits.
    bench
        What the fill measures against.
    targets
        The places it fills: the widest gaps as they look to it.
    rate
        Truth of the pool today: probability (P,) that each model solves a child of difficulty b.
    """

    theta: NDArray[np.float64]
    b: NDArray[np.float64]
    bench: Bench
    targets: tuple[FillTarget, ...]
    rate: Rates
    entries: tuple[MemoryEntry, ...]
    today: NDArray[np.float64]
    """Probability (P, I) that each model solves each item of the benchmark today."""
    fit: Fit1PL | None = None
    """What the bench was made of; None where abilities are known."""
    is_1pl: bool = True
    """Whether a child's difficulty is what its rates are made from; else see `place`."""
    held_out: HeldOut | None = None
    """Real items that take the place of written children."""

    @property
    def scale(self) -> DifficultyScale:
        """The true frozen scale."""
        return DifficultyScale.of(self.b)

    def place(self, rates: NDArray[np.float64]) -> float:
        """Return the difficulty that a fit gives an item of rates (P,) by many rollouts."""
        return float(brentq(lambda b: (expit(self.theta - b) - rates).sum(), -30, 30))

    def true_gap(self, target: FillTarget) -> tuple[float, float]:
        """Return the true difficulties of a target's border items, logits."""
        left, right = (
            self.bench.items.index(str(i)) for i in (target.left_item, target.right_item)
        )
        return float(self.b[left]), float(self.b[right])


class Rates(Protocol):
    """How the pool's models answer an item of a difficulty."""

    def child(self, b: float) -> NDArray[np.float64]:
        """Return the rates (P,) on one new item."""
        ...


class Rate:
    """How the pool's models answer an item of a difficulty, whatever the fit believes."""

    def __init__(
        self, theta: NDArray[np.float64], violation: Violation, rng: np.random.Generator
    ) -> None:
        self.theta, self._violation, self._rng = theta.copy(), violation, rng
        if violation == "drift":  # a quarter of the models have changed since
            changed = rng.choice(len(theta), len(theta) // 4, replace=False)
            self.theta[changed] += rng.choice([-1, 1], len(changed)) * 1.0
        self.odd = int(rng.integers(len(theta)))

    def bench(
        self, theta: NDArray[np.float64], b: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the rates (P, I) when the benchmark was measured, and those of today."""
        a = self._discriminations(len(b))
        return self._rates(theta, b, a), self._rates(self.theta, b, a)

    def child(self, b: float) -> NDArray[np.float64]:
        """Return the rates (P,) on one new item."""
        return self._rates(self.theta, np.array([b]), self._discriminations(1))[:, 0]

    def _discriminations(self, count: int) -> NDArray[np.float64]:
        if self._violation != "2PL":
            return np.ones(count)
        return np.asarray(np.exp(self._rng.normal(0, 0.3, count)))

    def _rates(
        self, theta: NDArray[np.float64], b: NDArray[np.float64], a: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        p = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
        if self._violation == "guessing":  # of free text: some answers can be guessed
            p = 0.1 + 0.9 * p
        if self._violation == "odd model":  # one model hardly minds how hard an item is
            p[self.odd] = 1 / (1 + np.exp(-0.3 * (theta[self.odd] - b)))
        return p


def make_world(setting: Setting, rng: np.random.Generator) -> World:
    """Draw a benchmark, let it be measured, and find its widest gaps."""
    b = _difficulties(setting.shape, setting.items, rng)
    theta = abilities(rng, setting.models)
    rate = Rate(theta, setting.violation, rng)
    rates, today = rate.bench(theta, b)
    fit = None
    if setting.bench_rollouts is None:
        names = tuple(f"i{i}" for i in range(setting.items))
        bench, targets = _known(theta, b, names, setting.targets)
    else:
        k = setting.bench_rollouts
        matrix = matrix_of(rng.binomial(k, rates), k)
        fit = bf.fit_1pl(matrix, engine="map", seed=int(rng.integers(1 << 31)))
        bench = fitted_bench(fit)
        diagnosis = bf.diagnose(fit)
        targets = targets_of(diagnosis, max_gaps=setting.targets, include_unresolved=True)
    if setting.priced:
        prices = np.exp(0.5 * theta + rng.normal(0, 0.8, len(theta)))
        bench = replace(bench, known_prices=prices / prices.mean())
    is_1pl = setting.violation in {"none", "drift"}  # a drift changes abilities only
    if not is_1pl:  # the truth is what a fit to ever so many rollouts says, as with real models
        counts = np.clip(np.rint(rates * MANY), 1, MANY - 1).astype(np.int64)
        limit = bf.fit_1pl(matrix_of(counts, MANY), engine="map", seed=1)
        theta, b = limit.theta, limit.b
    return World(theta, b, bench, targets, rate, entries_of(bench), today, fit, is_1pl)


def entries_of(bench: Bench) -> tuple[MemoryEntry, ...]:
    """Return what the memory holds before a fill."""
    z = bench.scale.to_z(bench.draws.b.mean(0))
    sd = bench.draws.b.std(0) / bench.scale.width
    return tuple(
        MemoryEntry(item=Item(id=name, question=name, answer="1"), z=float(z[i]), sd=float(sd[i]))
        for i, name in enumerate(bench.items)
    )


def _difficulties(shape: Shape, items: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if shape == "normal":
        return rng.normal(0, 1.5, items)
    if shape == "bimodal":
        return rng.choice([-1.8, 1.8], items) + rng.normal(0, 0.7, items)
    if shape == "skewed":
        return np.asarray(rng.gamma(2.0, 1.0, items) - 2.0)
    return np.asarray(rng.choice(rng.normal(0, 1.8, 5), items) + rng.normal(0, 0.25, items))


def _known(
    theta: NDArray[np.float64], b: NDArray[np.float64], names: tuple[str, ...], count: int
) -> tuple[Bench, tuple[FillTarget, ...]]:
    draws = Draws(  # one says that they are known
        theta=theta[None], b=b[None], mu_b=np.array([b.mean()]), s_b=np.array([b.std()])
    )
    models = tuple(f"m{j}" for j in range(len(theta)))
    bench = bench_of(models, names, draws, b)
    order = np.argsort(b)
    z = bench.scale.to_z(b)[order]
    widest = np.argsort(-np.diff(z), kind="stable")[:count]
    targets = tuple(
        FillTarget(
            id=f"gap-{k + 1}",
            z=float((z[g] + z[g + 1]) / 2),
            z_left=float(z[g]),
            z_right=float(z[g + 1]),
            left_item=names[order[g]],
            right_item=names[order[g + 1]],
        )
        for k, g in enumerate(widest)
    )
    return bench, targets


def fitted_bench(fit: Fit1PL) -> Bench:
    """Return what a fill of a fitted benchmark measures against, as `Bench.of` does."""
    responses = fit.responses
    bench = bench_of(responses.models, responses.items, fit.draws.thin(DRAWS), fit.b)
    return replace(bench, misfit=misfit_sd(responses.correct, responses.n, fit.theta, fit.b))


def bench_of(
    models: tuple[str, ...], items: tuple[str, ...], draws: Draws, b: NDArray[np.float64]
) -> Bench:
    """Return what a fill measures against; b (I,) freezes the scale."""
    return Bench(
        models=models,
        matrix_names=models,
        items=items,
        draws=draws,
        scale=DifficultyScale.of(b),
    )
