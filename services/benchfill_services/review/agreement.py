"""How far reviewers agree, from verdicts that everybody may see already.

Only a revision on which all verdicts that are needed stand counts, with those verdicts: nothing of
one that is still judged gets out. Adjudicators saw the others' verdicts and are no raters.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from benchfill.agreement import Kappa, rater_agreement

from .state import CaseState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .case import Event
    from .desk import ReviewDesk

_AT_ONCE = 500  # cases


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReviewerAgreement(_Frozen):
    """One reviewer against all who judged the same."""

    reviewer: str = Field(description="name of the reviewer")
    reviews: int = Field(description="verdicts that count")
    agreement: Kappa
    median_seconds: float | None = Field(description="from opening the candidate to the verdict")


class BenchmarkAgreement(_Frozen):
    """All reviewers of a benchmark, pair by pair."""

    benchmark: str
    candidates: int = Field(description="with all verdicts in")
    reviews: int
    agreement: Kappa
    median_seconds: float | None


class ReviewAgreement(_Frozen):
    """Agreement on approve, reject and request_change, where all verdicts are in."""

    benchmarks: tuple[BenchmarkAgreement, ...] = Field(description="by id")
    reviewers: tuple[ReviewerAgreement, ...] = Field(description="those with most reviews first")


async def review_agreement(desk: ReviewDesk, *, benchmark: str | None = None) -> ReviewAgreement:
    """Return the agreement on all benchmarks, or on one."""
    by_benchmark: dict[str, list[CaseState]] = {}
    ids = await desk.reviews.ids(benchmark=benchmark)
    for start in range(0, len(ids), _AT_ONCE):
        for case, events in await desk.reviews.cases(ids[start : start + _AT_ONCE]):
            state = CaseState(case, events, desk.needed)
            by_benchmark.setdefault(case.benchmark, []).append(state)
    benchmarks = [_benchmark(name, found) for name, found in sorted(by_benchmark.items())]
    judged = [one for found in by_benchmark.values() for one in complete(found)]
    return ReviewAgreement(
        benchmarks=tuple(one for one in benchmarks if one.candidates),
        reviewers=_reviewers(judged, await desk.names({by for one in judged for by in one})),
    )


def complete(states: Sequence[CaseState]) -> list[Mapping[str, Event]]:
    """Return the verdicts, by reviewer, of each revision on which all that are needed stand."""
    return [
        revision.verdicts for state in states for revision in state.revisions if revision.both_in
    ]


def _benchmark(name: str, states: Sequence[CaseState]) -> BenchmarkAgreement:
    judged = complete(states)
    return BenchmarkAgreement(
        benchmark=name,
        candidates=sum(bool(complete([state])) for state in states),
        reviews=sum(map(len, judged)),
        agreement=rater_agreement([_said(one) for one in judged]),
        median_seconds=_median([event for one in judged for event in one.values()]),
    )


def _reviewers(
    judged: Sequence[Mapping[str, Event]], names: Mapping[str, str]
) -> tuple[ReviewerAgreement, ...]:
    found = []
    for reviewer in sorted({by for one in judged for by in one}):
        mine = [one for one in judged if reviewer in one]
        found.append(
            ReviewerAgreement(
                reviewer=names[reviewer],
                reviews=len(mine),
                agreement=rater_agreement([_said(one) for one in mine], rater=reviewer),
                median_seconds=_median([one[reviewer] for one in mine]),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.reviews, one.reviewer)))


def _said(verdicts: Mapping[str, Event]) -> dict[str, str]:
    return {by: event.verdict for by, event in verdicts.items() if event.verdict is not None}


def _median(events: Sequence[Event]) -> float | None:
    seconds = [event.seconds for event in events if event.seconds is not None]
    return median(seconds) if seconds else None
