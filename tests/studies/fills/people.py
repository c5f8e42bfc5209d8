"""A rewriter and a pool that are simulated; Retriever, Calibrator and memory are the real ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchfill.items import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill_agents.pool.rollouts import RolloutRequest

    from .world import World


@dataclass(frozen=True)
class Habits:
    """How a rewriter misses: a child's difficulty lies between its parent's and the target.

    `reach` is the share of the way that it goes, `noise` and `bias` are logits; a share of the
    children is invalid, repeated or has a wrong key. The Validator finds the invalid and repeated
    ones; a wrong key it does not find, and hardly any answer agrees with it.
    """

    reach: float = 0.6
    bias: float = 0.15
    noise: float = 0.5
    invalid: float = 0.15
    repeated: float = 0.05
    wrong_key: float = 0.03


@dataclass
class Rewriter:
    """Writes children whose true difficulties it keeps to itself and the pool."""

    world: World
    habits: Habits
    rng: np.random.Generator
    truth: dict[str, float] = field(default_factory=dict)
    parent: dict[str, str] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    rates: dict[str, np.ndarray] = field(default_factory=dict)
    written: int = 0

    def __post_init__(self) -> None:
        self._numbers, self._taken = itertools.count(), set[int]()
        self.truth |= dict(zip(self.world.bench.items, map(float, self.world.b), strict=True))

    def write(
        self, parent: str, aim: float, count: int, *, reach: float | None = None
    ) -> list[Item]:
        """Write children of a parent towards a difficulty in logits; only valid ones come back."""
        habits, rng = self.habits, self.rng
        far = habits.reach if reach is None else reach
        made = []
        for _ in range(count):
            self.written += 1
            if rng.random() < habits.invalid + habits.repeated:
                continue
            start = self.truth[parent]
            b = start + far * (aim - start) + rng.normal(habits.bias, habits.noise)
            rates = None
            if self.world.held_out is not None:
                taken = self._take(b)
                if taken is None:
                    continue
                b, rates = taken
            elif not self.world.is_1pl:
                rates = self.world.rate.child(b)
                b = self.world.place(rates)
            name = f"{parent.partition('~')[0]}~{next(self._numbers)}"
            self.truth[name], self.parent[name] = float(b), parent
            if rates is not None:
                self.rates[name] = rates
            if self.world.held_out is None and rng.random() < habits.wrong_key:
                self.wrong.add(name)
            made.append(Item(id=name, question=name, answer="1"))
        return made

    def _take(self, wanted: float) -> tuple[float, np.ndarray] | None:
        """Return difficulty and rates of the held-out item nearest to a place; each comes once.

        None where there is none left so near that it can stand for what was written.
        """
        assert self.world.held_out is not None
        away = np.abs(self.world.held_out.b - wanted)
        away[list(self._taken)] = np.inf
        nearest = int(np.argmin(away))
        if away[nearest] > self.habits.noise:
            return None
        self._taken.add(nearest)
        return float(self.world.held_out.b[nearest]), self.world.held_out.rates[:, nearest]


@dataclass(frozen=True)
class Scored:
    """What the Calibrator looks at in a rollout."""

    correct: bool
    cost: float | None = None


@dataclass
class Pool:
    """Answers as the models of the world do."""

    world: World
    rewriter: Rewriter
    rng: np.random.Generator
    rollouts: int = 0
    cost: float = 0.0
    """In units of the mean price of a rollout."""

    def __post_init__(self) -> None:
        self._place = {name: p for p, name in enumerate(self.world.bench.models)}
        self._rates: dict[str, np.ndarray] = dict(
            zip(self.world.bench.items, self.world.today.T, strict=True)
        )

    async def run(self, requests: Sequence[RolloutRequest]) -> list[Scored]:
        """See `RolloutRunner.run`."""
        self.rollouts += len(requests)
        prices = self.world.bench.prices
        self.cost += float(sum(prices[self._place[one.model]] for one in requests))
        drawn = self.rng.random(len(requests))
        return [
            Scored(bool(u < self._rate(one.item.id)[self._place[one.model]]))
            for u, one in zip(drawn, requests, strict=True)
        ]

    def _rate(self, item: str) -> np.ndarray:
        if item not in self._rates:
            rate = self.rewriter.rates.get(item)
            if rate is None:
                rate = self.world.rate.child(self.rewriter.truth[item])
            self._rates[item] = rate * 0.02 if item in self.rewriter.wrong else rate
        return self._rates[item]
