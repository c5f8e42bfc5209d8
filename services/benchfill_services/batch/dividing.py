"""Pools divided among jobs that work apart, so that together they keep within their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from benchfill_agents.pool.together import levelled, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill_agents.pool.config import Pool


@dataclass(frozen=True)
class Division:
    """A job's part of what it shares with others."""

    parts: int
    """Into how many parts all that is shared is divided; so many jobs may be out at a time."""
    sharers: frozenset[str]
    """Names of the jobs that share something with it, or with one that does; itself included."""
    pool: Pool
    """Its pool with the smallest limits of all, before it is divided."""

    @property
    def text(self) -> str:
        """The pool file of one job; what is asked, and how, is the same."""
        return divided(self.pool, self.parts)


def divisions(pools: Mapping[str, Pool], at_once: int) -> dict[str, Division]:
    """Say for each job how its pool is divided, given the pools of all jobs by the jobs' names.

    Jobs that share a model, an address or a key form a group, whose limits are divided alike: every
    one that is out needs a place of each of its models.
    """
    level = dict(zip(pools, levelled(pools.values()), strict=True))
    groups: list[tuple[set[str], set[object]]] = []
    for name, pool in level.items():
        names, asked = {name}, set[object](places(pool))
        apart = []
        for group in groups:
            if group[1] & asked:
                names |= group[0]
                asked |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (names, asked)]
    return {
        name: Division(
            min(apart_at_most(level[one], at_once) for one in names), frozenset(names), level[name]
        )
        for names, _ in groups
        for name in names
    }


def apart_at_most(pool: Pool, at_once: int) -> int:
    """Return how many jobs may use a pool at a time: every one needs a place of each model."""
    bounds = [model.max_concurrency for model in pool.who_may_judge]
    rates = [(one.rpm, one.tpm) for one in pool.rates.values()]
    rates += [(one.rpm, one.tpm) for one in pool.who_may_judge]
    bounds += [most for pair in rates for most in pair if most is not None]
    return min(at_once, *bounds, *pool.limits.values())


def divided(pool: Pool, jobs: int) -> str:
    """Return the pool file (YAML) of one of so many jobs."""

    def part(rate: int | None) -> int | None:
        return None if rate is None else max(1, rate // jobs)

    who = {
        group: tuple(
            model.model_copy(
                update={
                    "max_concurrency": max(1, model.max_concurrency // jobs),
                    "rpm": part(model.rpm),
                    "tpm": part(model.tpm),
                }
            )
            for model in models
        )
        for group, models in (("models", pool.models), ("judges", pool.judges))
    }
    rates = {
        key: one.model_copy(update={"rpm": part(one.rpm), "tpm": part(one.tpm)})
        for key, one in pool.rates.items()
    }
    limits = {base: max(1, limit // jobs) for base, limit in pool.limits.items()}
    whole = pool.model_copy(update={**who, "limits": limits, "rates": rates})
    content = whole.model_dump(mode="json", exclude_defaults=True)
    return str(yaml.safe_dump(content, allow_unicode=True, sort_keys=False))
