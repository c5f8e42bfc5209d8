"""How candidates come under review: each child that a fill chose for a gap, as soon as it did."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..store import keys
from ..store.reviews import RedisReviews
from .case import Case, Revision
from .desk import now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redis.asyncio import Redis

    from benchfill_agents.target import FillTarget

    from ..report.candidates import Candidate

_SOURCE = "source"


@dataclass(frozen=True)
class CaseSource:
    """What all candidates of a fill have in common."""

    job: str
    benchmark: str
    version: int | None
    items_sha256: str
    responses_sha256: str
    writer: str | None
    prompts: Mapping[str, str]
    matrix_names: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None


async def noted(redis: Redis, job: str) -> dict[str, Any]:
    """Return what the record of a fill's job keeps of its source, for cases opened later.

    Empty for a fill that no worker has begun.
    """
    kept = await redis.hget(keys.job(job), _SOURCE)
    return {} if kept is None else dict(json.loads(kept))


def note_of(source: CaseSource) -> dict[str, str]:
    """Return that as a field of the record: who opens a case later has no fit and no pool."""
    kept = {
        "writer": source.writer,
        "prompts": dict(source.prompts),
        "matrix_names": dict(source.matrix_names),
        "seed": source.seed,
    }
    return {_SOURCE: json.dumps(kept)}


def candidate_id(job: str, gap: str, item: str) -> str:
    """Return the id of a candidate; ids of items may hold anything, so it has their hash."""
    return f"{job}.{gap}.{hashlib.sha256(item.encode()).hexdigest()[:16]}"


def case_for(source: CaseSource, candidate: Candidate, target: FillTarget) -> Case | None:
    """Return the case of a measured child; None when its text is gone."""
    item, child = candidate.item, candidate.child
    if item is None:
        return None
    return Case(
        id=candidate_id(source.job, candidate.gap, item.id),
        job=source.job,
        gap=candidate.gap,
        benchmark=source.benchmark,
        version=source.version,
        items_sha256=source.items_sha256,
        responses_sha256=source.responses_sha256,
        target=target,
        parent=candidate.parent.item if candidate.parent else None,
        parent_z=candidate.parent.z if candidate.parent else None,
        first=Revision(
            number=1,
            item=item,
            calibration=candidate.calibration,
            rewriter=child.rewriter if child else None,
            what_changed=child.what_changed if child else "",
            rationale=child.rationale if child else "",
            at=now(),
            prompts=dict(source.prompts),
        ),
        writer=source.writer,
        matrix_names=dict(source.matrix_names),
        seed=source.seed,
        benchfill_version=importlib.metadata.version("benchfill"),
        opened_at=now(),
    )


async def open_chosen(
    redis: Redis,
    source: CaseSource,
    candidates: Iterable[Candidate],
    targets: Mapping[str, FillTarget],
) -> int:
    """Put those that fill their gap up for review; return how many are new."""
    reviews, new = RedisReviews(redis), 0
    for candidate in candidates:
        if candidate.chosen and candidate.gap in targets:
            case = case_for(source, candidate, targets[candidate.gap])
            new += case is not None and await reviews.open(case)
    return new
