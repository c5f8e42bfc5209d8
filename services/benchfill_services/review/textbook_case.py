"""Cases of items from a textbook: with solution graph and source, for reviewers to see."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.textbook.question import LETTERS

from ..store.reviews import RedisReviews
from .case import Case, OptionError, Revision, TextbookOrigin
from .desk import now
from .opening import candidate_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from benchfill_agents.textbook.candidate import Candidate


@dataclass(frozen=True)
class TextbookSource:
    """What all candidates of a generation have in common."""

    job: str
    benchmark: str
    items_sha256: str
    responses_sha256: str
    prompts: Mapping[str, str]
    matrix_names: Mapping[str, str]
    seed: int
    attribution: str | None
    licence: str | None


async def open_case(redis: Redis, source: TextbookSource, candidate: Candidate) -> bool:
    """Put an accepted and measured candidate up for review; return whether it is new there."""
    case = case_of(source, candidate)
    return case is not None and await RedisReviews(redis).open(case)


def case_of(source: TextbookSource, candidate: Candidate) -> Case | None:
    """Return the case of a candidate; None unless it was accepted and measured for a gap."""
    item, target = candidate.item, candidate.target
    if candidate.outcome != "accepted" or item is None or target is None:
        return None
    return Case(
        id=candidate_id(source.job, candidate.place, item.id),
        job=source.job,
        gap=candidate.place,
        benchmark=source.benchmark,
        version=None,
        items_sha256=source.items_sha256,
        responses_sha256=source.responses_sha256,
        target=target,
        parent=None,
        first=Revision(
            number=1,
            item=item,
            calibration=candidate.calibration,
            rewriter="textbook",
            at=now(),
            prompts=dict(source.prompts),
        ),
        textbook=origin_of(source, candidate),
        matrix_names=dict(source.matrix_names),
        seed=source.seed,
        benchfill_version=importlib.metadata.version("benchfill"),
        opened_at=now(),
    )


def origin_of(source: TextbookSource, candidate: Candidate) -> TextbookOrigin | None:
    """Return what reviewers see of how an item was made. It names no model."""
    graph, question, arranged = candidate.graph, candidate.question, candidate.arranged
    if graph is None or question is None or arranged is None:
        return None
    errors = []
    for letter, place in zip(LETTERS, arranged.order.sources, strict=False):
        if place is not None:
            error = question.distractors[place].error
            errors.append(
                OptionError(
                    option=letter,
                    name=error.name,
                    node=error.node,
                    description=error.description,
                )
            )
    final = candidate.verdicts.final_check
    return TextbookOrigin(
        competency=candidate.cell.competency,
        bloom=candidate.cell.bloom,
        difficulty=candidate.cell.difficulty,
        key=arranged.key,
        graph=graph,
        errors=tuple(errors),
        solution=final.solution if final is not None else "",
        spans=candidate.spans,
        attribution=source.attribution,
        licence=source.licence,
    )
