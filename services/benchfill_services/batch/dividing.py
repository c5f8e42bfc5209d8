"""A pool divided among jobs that work apart, so that together they keep within its limits."""

from __future__ import annotations

import yaml

from benchfill_agents.pool.config import LOCAL, Pool
from benchfill_agents.pool.rollouts import LOCAL_SLOTS


def apart_at_most(pool: Pool, at_once: int) -> int:
    """Return how many jobs may use the pool at a time: every one needs a place of each model."""
    limits = [model.max_concurrency for model in pool.models]
    return min(at_once, *limits, *_limits(pool).values())


def divided(pool: Pool, jobs: int) -> str:
    """Return the pool file (YAML) of one of so many jobs; what is asked, and how, is the same."""
    models = tuple(
        model.model_copy(
            update={
                "max_concurrency": max(1, model.max_concurrency // jobs),
                "rpm": _part(model.rpm, jobs),
                "tpm": _part(model.tpm, jobs),
            }
        )
        for model in pool.models
    )
    rates = {
        key: one.model_copy(update={"rpm": _part(one.rpm, jobs), "tpm": _part(one.tpm, jobs)})
        for key, one in pool.rates.items()
    }
    limits = {base: max(1, limit // jobs) for base, limit in _limits(pool).items()}
    part = pool.model_copy(update={"models": models, "limits": limits, "rates": rates})
    content = part.model_dump(mode="json", exclude_defaults=True)
    return str(yaml.safe_dump(content, allow_unicode=True, sort_keys=False))


def _part(rate: int | None, jobs: int) -> int | None:
    return None if rate is None else max(1, rate // jobs)


def _limits(pool: Pool) -> dict[str, int]:
    # each job starts a local server of its own, with so many places
    return ({LOCAL: LOCAL_SLOTS} if pool.needs_local_server else {}) | pool.limits
