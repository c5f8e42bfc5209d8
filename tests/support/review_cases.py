"""Cases under review, made of the parts of a simulated fill; people at the desk."""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

from benchfill_agents.messages import Assignment
from benchfill_services.report.candidates import candidates_of
from benchfill_services.review.opening import CaseSource, case_for
from benchfill_services.review.rules import Person
from benchfill_services.store.api_keys import RedisApiKeys
from support.fills import make_fill

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_services.review.case import Case
    from benchfill_services.store.api_keys import Role

_numbers = itertools.count(1)


@cache
def _example(text: str) -> Case:
    fill = make_fill(text)
    gap = fill.report.fills[0].gap
    opening = fill.transcripts[gap][0]
    target = Assignment.model_validate(opening["content"]).target
    chosen = next(one for one in candidates_of(fill.report, fill.transcripts)[gap] if one.chosen)
    source = CaseSource(
        job="0" * 32,
        benchmark="sums",
        version=1,
        items_sha256="ab" * 32,
        responses_sha256="cd" * 32,
        writer="writer-model",
        prompts={"rewrite": "ef" * 32},
    )
    case = case_for(source, chosen, target)
    assert case is not None
    return case


def make_case(text: str = "", **changes: Any) -> Case:
    """Return a case of its own; `text` stands in all texts of its items."""
    job = changes.pop("job", f"{next(_numbers):032x}")
    example = _example(text)
    _, gap, digest = example.id.split(".")
    return example.model_copy(update={"id": f"{job}.{gap}.{digest}", "job": job} | changes)


async def make_person(redis: Redis, name: str, role: Role = "reviewer") -> tuple[Person, str]:
    """Return a person with a key, and the key."""
    key, secret = await RedisApiKeys(redis).create(role, name=name, rate_per_minute=100_000)
    return Person.of(key), secret.get_secret_value()
