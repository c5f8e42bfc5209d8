"""What gains a benchmark can see: the power of the local test by width, gain and rollouts.

A gain of at least a on an open interval of width w <= G can be invisible however many rollouts are
taken; above G power goes to 1 as rollouts grow (docs/method, section 5; paper arXiv 2610.29927,
section 2.2). How far it is on that way with k rollouts is simulated here, on the fitted scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.special import expit

from ..diagnosis import Estimate
from ..errors import InputError
from ..fitted import FittedResult, fit_facts
from ..measure import DifficultyScale, max_gap, own_scale
from .blind import LEAST_DRAWS, MOST_DRAWN
from .tail import even_moments, lattice_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..onepl import Fit1PL

WANTED = 0.8
MOST_ROLLOUTS = 1000
MOST_POSITIONS = 100
MOST_RESPONSES = 4_000_000  # simulated for one gain; many items take fewer simulations
LEAST_SIMULATIONS = 100
AT_ONCE = 2_000_000  # numbers held at a time
WIDTHS = (
    *(0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15),
    *(0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0),
)
GAINS = (
    *(0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15),
    *(0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8),
)
FEWEST_WIDTHS = 10


@dataclass(frozen=True)
class PowerSettings:
    """What is to be simulated.

    Parameters
    ----------
    k
        Rollouts an item before, and as many after; each from 1 to 1,000.
    alpha
        Level of the test, in (0, .5].
    simulations
        Simulated tests for each gain and interval; fewer where items are very many.
    model
        Name of the model whose success rates are those before; None for the one of median ability.
    seed
        Seed of the simulation.

    Raises
    ------
    InputError
        A figure outside its range.
    """

    k: tuple[int, ...] = (1,)
    alpha: float = 0.05
    simulations: int = 1000
    model: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 0.5:
            raise InputError(f"{self.alpha:g} is no level; give one over 0 and up to 0.5.")
        for k in self.k:
            if not 1 <= k <= MOST_ROLLOUTS:
                raise InputError(f"{k} rollouts an item; give a number from 1 to {MOST_ROLLOUTS}.")
        if not self.k or self.simulations < LEAST_SIMULATIONS:
            raise InputError(
                f"a power map takes a number of rollouts and at least {LEAST_SIMULATIONS} "
                "simulations."
            )


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class PowerCell(_Frozen):
    """Power against a gain on an interval of a width, over the interval's possible places."""

    width: float
    gain: float = Field(description="in success probability")
    mean: float = Field(description="mean over all places; the gain ends at probability 1")
    mean_fitting: float | None = Field(
        description="mean over places where the whole gain fits below probability 1; None if none"
    )
    worst: float | None = Field(description="least power at these places")
    fits: float = Field(description="share of places where the whole gain fits")
    realised: float | None = Field(
        description="mean gain over places and items, ended at probability 1; None without items"
    )


class Detectable(_Frozen):
    """The smallest gain that is seen with power .8 on an interval of a width; None if none is."""

    width: float
    items_inside: float = Field(description="mean number of items over the interval's places")
    invisible: bool = Field(description="width <= G: somewhere the interval holds no item")
    mean: float | None = Field(description="by mean power over all places")
    mean_fitting: float | None = Field(description="by mean power where the gain fits")
    worst: float | None = Field(description="by the power at the worst place where it fits")


class PowerOfRollouts(_Frozen):
    """The map for one number of rollouts."""

    k: int
    cells: tuple[PowerCell, ...] = Field(description="by width, then by gain")
    detectable: tuple[Detectable, ...] = Field(description="by width")


class PowerMap(FittedResult):
    """What gains a benchmark can see (docs/method, section 5)."""

    alpha: float
    simulations: int
    model: str
    theta: float = Field(description="its ability, logits")
    score: float = Field(description="its expected mean success rate")
    max_gap: Estimate
    maps: tuple[PowerOfRollouts, ...]


class _Places(NamedTuple):
    """Intervals of one width.

    Items inside are those from `low` up to `high`; `weight` is the share of all places that hold
    just these items, `start` where one such interval begins; each (P,).
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    weight: NDArray[np.float64]
    start: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Bank:
    """Sorted z and success rates before, shape (I,); success rate by z; width of the widest gap."""

    z: NDArray[np.float64]
    rates: NDArray[np.float64]
    curve: tuple[float, float, float]
    max_gap: float

    def rate_at(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        guess, offset, slope = self.curve
        return np.asarray(guess + (1 - guess) * expit(offset - slope * z))


def power_map(fit: Fit1PL, settings: PowerSettings | None = None) -> PowerMap:
    """Simulate the power of the test of a local gain, whose interval is known beforehand.

    Success rates before are those that the fit expects of one model; after, they are greater by
    the gain inside the interval (or 1, where it does not fit), and k rollouts an item are taken
    each time. The interval moves over the scale: evenly over all places, whose item sets are
    enumerated up to 100 and else taken at 100 even steps.

    Parameters
    ----------
    fit
        A fit of at least two items that differ.
    settings
        Rollouts, level, simulations, model and seed.

    Returns
    -------
    PowerMap
        Monte-Carlo standard error of a power at one place: at most ``0.5 / sqrt(simulations)``.

    Raises
    ------
    InputError
        No such model.
    FitError
        The benchmark has no difficulty scale.
    """
    settings = settings or PowerSettings()
    model = _reference(fit, settings.model)
    bank = _bank(fit, model)
    draws = fit.draws.thin(max(LEAST_DRAWS, MOST_DRAWN // len(bank.z)))
    drawn = max_gap(own_scale(draws.b))
    q05, value, q95 = (float(q) for q in np.quantile(drawn, [0.05, 0.5, 0.95]))
    simulations = min(settings.simulations, max(LEAST_SIMULATIONS, MOST_RESPONSES // len(bank.z)))
    places = {width: _places(bank.z, width) for width in _widths(bank.max_gap)}
    return PowerMap(
        **fit_facts(fit),
        alpha=settings.alpha,
        simulations=simulations,
        model=fit.responses.models[model],
        theta=float(fit.theta[model]),
        score=float(bank.rates.mean()),
        max_gap=Estimate(value=value, q05=q05, q95=q95, plugin=bank.max_gap),
        maps=tuple(
            _map(bank, places, (k, simulations, settings.alpha), settings.seed) for k in settings.k
        ),
    )


def _reference(fit: Fit1PL, name: str | None) -> int:
    if name is None:
        return int(np.argsort(fit.theta, kind="stable")[(len(fit.theta) - 1) // 2])
    if name not in fit.responses.models:
        raise InputError(
            f"{name!r} is none of the {len(fit.responses.models)} models of the responses (such "
            f"as {fit.responses.models[0]!r})."
        )
    return fit.responses.models.index(name)


def _bank(fit: Fit1PL, model: int) -> _Bank:
    scale = DifficultyScale.of(fit.b)
    order = np.argsort(fit.b, kind="stable")
    z, guess, theta = scale.to_z(fit.b)[order], fit.guessing[order], float(fit.theta[model])
    return _Bank(
        z=z,
        rates=guess + (1 - guess) * expit(theta - fit.b[order]),
        curve=(float(guess.mean()), theta - scale.low, scale.width),
        max_gap=float(max_gap(z)),
    )


def _widths(gap: float) -> tuple[float, ...]:
    """Leave out widths far below G: there is nothing to see."""
    kept = tuple(width for width in WIDTHS if width >= gap / 4)
    return kept if len(kept) >= FEWEST_WIDTHS else WIDTHS[-FEWEST_WIDTHS:]


def _places(z: NDArray[np.float64], width: float) -> _Places:
    """Enumerate the item sets of an open interval of a width that lies inside [0, 1]."""
    room = 1 - width
    if room < 1e-9:
        starts, weight = np.zeros(1), np.ones(1)
    else:
        changes = np.unique(np.concatenate([[0.0, room], z, z - width]).clip(0, room))
        starts, weight = (changes[:-1] + changes[1:]) / 2, np.diff(changes) / room
        if len(starts) > MOST_POSITIONS:
            starts = room * (np.arange(MOST_POSITIONS) + 0.5) / MOST_POSITIONS
            weight = np.full(MOST_POSITIONS, 1 / MOST_POSITIONS)
    return _Places(
        low=np.searchsorted(z, starts, side="right"),
        high=np.searchsorted(z, starts + width, side="left"),
        weight=weight,
        start=starts,
    )


def _map(
    bank: _Bank, places: dict[float, _Places], test: tuple[int, int, float], seed: int
) -> PowerOfRollouts:
    k, simulations, _ = test
    power = {width: np.zeros((len(GAINS), len(of.low))) for width, of in places.items()}
    rows = max(1, AT_ONCE // len(bank.z))
    rng = np.random.default_rng([seed, k])
    for begin in range(0, simulations, rows):
        _simulate(bank, power, places, (test, min(rows, simulations - begin)), rng)
    cells = [
        _cell(bank, (width, gain), of, power[width][row] / simulations)
        for width, of in places.items()
        for row, gain in enumerate(GAINS)
    ]
    return PowerOfRollouts(
        k=k,
        cells=tuple(cells),
        detectable=tuple(
            _detectable(bank, width, of, [cell for cell in cells if cell.width == width])
            for width, of in places.items()
        ),
    )


def _simulate(
    bank: _Bank,
    power: dict[float, NDArray[np.float64]],
    places: dict[float, _Places],
    part: tuple[tuple[int, int, float], int],
    rng: np.random.Generator,
) -> None:
    """Add to `power` how many of some simulated tests saw the gain."""
    (k, _, alpha), rows = part
    variance, cumulant = even_moments(k)
    before = rng.binomial(k, bank.rates, (rows, len(bank.z)))
    after = rng.binomial(k, bank.rates, (rows, len(bank.z)))
    reached = bank.rates
    for row, gain in enumerate(GAINS):
        # the same rollouts with some failures turned into successes: power then grows with gain
        wanted = np.minimum(bank.rates + gain, 1.0)
        turned = (wanted - reached) / np.maximum(1 - reached, 1e-12)
        after = after + rng.binomial(k - after, np.clip(turned, 0, 1))
        reached = wanted
        total = before + after
        sums = [
            np.pad(np.cumsum(of, axis=1), ((0, 0), (1, 0)))
            for of in ((after - before) / 2, variance[total], cumulant[total])
        ]
        for width, of in places.items():
            tail = lattice_tail(*(one[:, of.high] - one[:, of.low] for one in sums))
            power[width][row] += (tail <= alpha).sum(0)


def _cell(
    bank: _Bank, at: tuple[float, float], places: _Places, power: NDArray[np.float64]
) -> PowerCell:
    width, gain = at
    fits = bank.rate_at(places.start) + gain <= 1 + 1e-9
    share = float(places.weight @ fits)
    worst = float(power[fits].min()) if fits.any() else None
    kept = np.concatenate([[0.0], np.cumsum(np.minimum(gain, 1 - bank.rates))])
    inside = np.maximum(places.high - places.low, 1)
    held = places.weight * (places.high > places.low)
    realised = held @ ((kept[places.high] - kept[places.low]) / inside) / max(held.sum(), 1e-12)
    return PowerCell(
        width=width,
        gain=gain,
        mean=float(places.weight @ power),
        mean_fitting=float((places.weight * fits) @ power) / share if share > 0 else None,
        worst=0.0 if width <= bank.max_gap else worst,
        fits=share,
        realised=float(realised) if held.any() else None,
    )


def _detectable(
    bank: _Bank, width: float, places: _Places, cells: Sequence[PowerCell]
) -> Detectable:
    fitting = [(c.gain, c.mean_fitting) for c in cells if c.mean_fitting is not None]
    worst = [(cell.gain, cell.worst) for cell in cells if cell.worst is not None]
    return Detectable(
        width=width,
        items_inside=float(places.weight @ (places.high - places.low)),
        invisible=width <= bank.max_gap,
        mean=_smallest([(cell.gain, cell.mean) for cell in cells]),
        mean_fitting=_smallest(fitting),
        worst=_smallest(worst),
    )


def _smallest(curve: Sequence[tuple[float, float]]) -> float | None:
    """Return the gain at which power reaches .8, by straight lines between those simulated."""
    gain_before, power_before = 0.0, 0.0
    for gain, power in curve:
        if power >= WANTED:
            share = (WANTED - power_before) / (power - power_before)
            return gain_before + share * (gain - gain_before)
        gain_before, power_before = gain, power
    return None
