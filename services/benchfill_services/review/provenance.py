"""Where each merged item came from: a line of provenance.jsonl, made of its case."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchfill.errors import InputError

from ..report.folder import jsonl_bytes
from .case import Reason, VerdictKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .state import CaseState

PROVENANCE = "provenance.jsonl"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Content(_Frozen):
    """What the files of a version hold, by their hashes."""

    items_sha256: str
    responses_sha256: str


class MeasuredOn(_Frozen):
    """Successes of one model on the new item."""

    model: str = Field(description="its name in the pool")
    matrix_name: str = Field(description="its name in the responses")
    correct: int
    n: int


class Judgement(_Frozen):
    """What a reviewer said of the wording that was merged."""

    reviewer: str = Field(description="pseudonym, the same in all merges of a store")
    verdict: VerdictKind
    reasons: tuple[Reason, ...]
    at: str
    adjudication: bool = Field(description="decided where reviewers disagreed")


class ItemProvenance(_Frozen):
    """How one merged item came about. z is on the scale of the version it was measured for."""

    id: str
    content_hash: str
    candidate: str = Field(description="id of the candidate and so of its transcript")
    revision: int
    benchmark: str = Field(description="id of the benchmark, or name of the items file")
    version: int | None = Field(description="null for a fill of the command line")
    made_for: Content
    merged_into: Content = Field(description="what the items were put behind")
    parent: str | None
    parent_z: float | None
    gap: str
    target_z: float
    target_left: float
    target_right: float
    z: float = Field(description="posterior median")
    q05: float
    q95: float
    p_in_gap: float
    rollouts: int
    counts: tuple[MeasuredOn, ...]
    rewriter: str | None = Field(description="llm or template")
    writer: str | None = Field(description="pool model that wrote it, where it is on record")
    prompts: dict[str, str] = Field(description="SHA-256 of each template, by name")
    reviews: tuple[Judgement, ...]
    adjudicated: bool
    unreviewed: bool = Field(
        False, description="no expert saw it: taken by a study, and not for publication"
    )
    seed: int | None
    fill_version: str = Field(description="BenchFill that made the item")
    merge_version: str = Field(description="BenchFill that merged it")
    opened_at: str
    written_at: str
    decided_at: str
    merged_at: str


def provenance_of(
    state: CaseState, merged_into: Content, pseudonyms: Mapping[str, str], at: str
) -> ItemProvenance:
    """Return the provenance of a case that was measured, and approved or never looked at."""
    case, latest = state.case, state.latest
    measured = latest.revision.calibration
    if measured is None:
        raise TypeError(case.id)
    events = [*latest.verdicts.values(), *([latest.adjudication] if latest.adjudication else [])]
    reviews = tuple(
        Judgement(
            reviewer=pseudonyms[event.by],
            verdict=event.verdict,
            reasons=event.reasons,
            at=event.at,
            adjudication=event.kind == "adjudication",
        )
        for event in events
        if event.verdict is not None
    )
    item, target = latest.revision.item, case.target
    return ItemProvenance(
        id=item.id,
        content_hash=item.content_hash,
        candidate=case.id,
        revision=latest.revision.number,
        benchmark=case.benchmark,
        version=case.version,
        made_for=content_of(state),
        merged_into=merged_into,
        parent=case.parent.id if case.parent else None,
        parent_z=case.parent_z,
        gap=case.gap,
        target_z=target.z,
        target_left=target.z_left,
        target_right=target.z_right,
        **measured.model_dump(include={"z", "q05", "q95", "p_in_gap"}),
        rollouts=measured.rollouts,
        counts=measured_on(state),
        rewriter=latest.revision.rewriter,
        writer=case.writer,
        prompts=latest.revision.prompts,
        reviews=reviews,
        adjudicated=latest.adjudication is not None,
        unreviewed=not events,
        seed=case.seed,
        fill_version=case.benchfill_version,
        merge_version=importlib.metadata.version("benchfill"),
        opened_at=case.opened_at,
        written_at=latest.revision.at,
        decided_at=max((event.at for event in events), default=at),
        merged_at=at,
    )


def content_of(state: CaseState) -> Content:
    """Return what the files held that a case was made for."""
    case = state.case
    return Content(items_sha256=case.items_sha256, responses_sha256=case.responses_sha256)


def measured_on(state: CaseState) -> tuple[MeasuredOn, ...]:
    """Return what each model that was asked made of the latest wording."""
    measured = state.latest.revision.calibration
    names = state.case.matrix_names
    return tuple(
        MeasuredOn(
            model=one.model,
            matrix_name=names.get(one.model, one.model),
            correct=one.correct,
            n=one.n,
        )
        for one in (measured.counts if measured else ())
        if one.n
    )


def without_writers(content: bytes) -> bytes:
    """Return provenance for those who review: other items of the same writer may be pending."""
    blind = (one.model_copy(update={"writer": None}) for one in read_provenance(content))
    return jsonl_bytes(one.model_dump(mode="json") for one in blind)


def read_provenance(content: bytes, *, source: str = PROVENANCE) -> tuple[ItemProvenance, ...]:
    """Read the lines of a provenance file.

    Raises
    ------
    InputError
        Names the line that cannot be used.
    """
    found = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(ItemProvenance.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or None
            raise InputError(
                f"{first['msg'][0].lower()}{first['msg'][1:]}; it is no provenance of `benchfill "
                "merge`.",
                source=source,
                line=number,
                field=field,
            ) from None
    return tuple(found)
