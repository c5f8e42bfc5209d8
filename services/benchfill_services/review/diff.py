"""What changed from one version of a benchmark to another, and what that did to its gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from benchfill.diagnosis import Estimate
from benchfill.gaps import Verdict
from benchfill.items import Item

from .provenance import ItemProvenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.diagnosis import Diagnosis, Difficulty
    from benchfill.responses import ResponseMatrix

_Z90 = 1.6448536269514722  # 95% quantile of the standard normal
_CONTENT = ("question", "answer", "choices")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ChangedItem(_Frozen):
    """An item of both versions that is not the same."""

    id: str
    fields: tuple[str, ...] = Field(description="that differ")
    content: bool = Field(
        description="question, answer or choices differ: its old responses are of another item"
    )


class Place(_Frozen):
    """Where an item lies on a version's own scale, with its 90% interval."""

    z: float
    q05: float
    q95: float


class AddedItem(_Frozen):
    """An item that only the later version has."""

    id: str
    measured: Place | None = Field(
        description="at its calibration, on the frozen scale of the version it was made for"
    )
    refitted: Place | None = Field(description="on the later version's own scale; normal interval")
    provenance: ItemProvenance | None = Field(description="null for one that was not merged")


class ResponseChanges(_Frozen):
    """What the responses gained and lost."""

    models_added: tuple[str, ...]
    models_removed: tuple[str, ...]
    cells_added: int = Field(description="cells with rollouts that had none before")
    cells_removed: int
    cells_changed: int = Field(description="cells with other counts")
    rollouts_before: int
    rollouts_after: int


class BeforeAfter(_Frozen):
    """A measure of both versions, each on its own scale."""

    before: Estimate
    after: Estimate


class EmptyGap(_Frozen):
    """A gap that is empty for certain."""

    left_item: str
    right_item: str
    z_left: float
    z_right: float
    width: float
    width_q05: float


class WidestGap(_Frozen):
    """The earlier version's widest gap, and what became of it."""

    left_item: str
    right_item: str
    z_left: float
    z_right: float
    verdict: Verdict
    inside: tuple[str, ...] = Field(description="items between its borders now, easiest first")
    open_share: float | None = Field(
        description="widest spacing left between the borders, as a share of their distance"
    )
    closed: bool | None = Field(
        description="whether an item lies in it now; null when its borders are gone or swapped"
    )


class Measures(_Frozen):
    """The diagnosis of both versions side by side."""

    engine: str
    ddm: BeforeAfter
    max_gap: BeforeAfter
    top_k_sum: BeforeAfter
    k: int = Field(description="how many gaps the sum takes")
    empty_before: tuple[EmptyGap, ...]
    empty_after: tuple[EmptyGap, ...]
    widest: WidestGap | None
    same_ends: bool = Field(
        description="easiest and hardest item are the same, so that both scales are of one piece"
    )


class VersionDiff(_Frozen):
    """From an earlier version to a later one."""

    items_before: int
    items_after: int
    added: tuple[AddedItem, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedItem, ...]
    responses: ResponseChanges
    measures: Measures | None = Field(description="null as long as a diagnosis is not made")


@dataclass(frozen=True, eq=False)
class VersionSide:
    """All of one version; the diagnosis if it is known."""

    items: Sequence[Item]
    responses: ResponseMatrix
    provenance: Sequence[ItemProvenance] = ()
    diagnosis: Diagnosis | None = None


def diff_of(before: VersionSide, after: VersionSide) -> VersionDiff:
    """Compare two versions; measures are compared where both are diagnosed."""
    old = {item.id: item for item in before.items}
    new = {item.id: item for item in after.items}
    both = None
    if before.diagnosis is not None and after.diagnosis is not None:
        both = measures_of(before.diagnosis, after.diagnosis)
    return VersionDiff(
        items_before=len(old),
        items_after=len(new),
        added=tuple(_added(item, after) for item in new.values() if item.id not in old),
        removed=tuple(one for one in old if one not in new),
        changed=tuple(
            _changed(old[one], item) for one, item in new.items() if one in old and old[one] != item
        ),
        responses=_responses(before.responses, after.responses),
        measures=both,
    )


def _changed(old: Item, new: Item) -> ChangedItem:
    differing = tuple(
        name for name in Item.model_fields if getattr(old, name) != getattr(new, name)
    )
    return ChangedItem(id=new.id, fields=differing, content=old.content_hash != new.content_hash)


def _added(item: Item, after: VersionSide) -> AddedItem:
    origin = next(
        (
            one
            for one in after.provenance
            if one.id == item.id and one.content_hash == item.content_hash
        ),
        None,
    )
    return AddedItem(
        id=item.id,
        measured=Place(z=origin.z, q05=origin.q05, q95=origin.q95) if origin else None,
        refitted=_place(after.diagnosis, item.id) if after.diagnosis else None,
        provenance=origin,
    )


def _place(diagnosis: Diagnosis, item: str) -> Place | None:
    found = next((one for one in diagnosis.difficulties if one.item == item), None)
    if found is None:
        return None
    ends: tuple[Difficulty, Difficulty] = (diagnosis.difficulties[0], diagnosis.difficulties[-1])
    half = _Z90 * found.sd / (ends[1].b - ends[0].b)
    return Place(z=found.z, q05=found.z - half, q95=found.z + half)


def _responses(before: ResponseMatrix, after: ResponseMatrix) -> ResponseChanges:
    old_models, new_models = set(before.models), set(after.models)
    new_items = set(after.items)
    # the cells that both have a place for, in the same order
    models = [one for one in before.models if one in new_models]
    items = [one for one in before.items if one in new_items]
    old = [
        array[np.ix_(*_positions(before, models, items))] for array in (before.n, before.correct)
    ]
    new = [array[np.ix_(*_positions(after, models, items))] for array in (after.n, after.correct)]
    had, has = old[0] > 0, new[0] > 0
    common = int(np.count_nonzero(had & has))
    differs = (old[0] != new[0]) | (old[1] != new[1])
    return ResponseChanges(
        models_added=tuple(one for one in after.models if one not in old_models),
        models_removed=tuple(one for one in before.models if one not in new_models),
        cells_added=int(np.count_nonzero(after.n)) - common,
        cells_removed=int(np.count_nonzero(before.n)) - common,
        cells_changed=int(np.count_nonzero(had & has & differs)),
        rollouts_before=int(before.n.sum(dtype=np.int64)),
        rollouts_after=int(after.n.sum(dtype=np.int64)),
    )


def _positions(
    matrix: ResponseMatrix, models: Sequence[str], items: Sequence[str]
) -> tuple[list[int], list[int]]:
    rows = {name: j for j, name in enumerate(matrix.models)}
    columns = {name: i for i, name in enumerate(matrix.items)}
    return [rows[one] for one in models], [columns[one] for one in items]


def measures_of(before: Diagnosis, after: Diagnosis) -> Measures:
    """Compare two diagnoses."""
    ends = [(one.scale.min_item, one.scale.max_item) for one in (before, after)]
    return Measures(
        engine=after.fit.engine,
        ddm=BeforeAfter(before=_plain(before.ddm), after=_plain(after.ddm)),
        max_gap=BeforeAfter(before=before.max_gap, after=after.max_gap),
        top_k_sum=BeforeAfter(before=_plain(before.top_k_sum), after=_plain(after.top_k_sum)),
        k=after.top_k_sum.k,
        empty_before=_empty(before),
        empty_after=_empty(after),
        widest=_widest(before, after),
        same_ends=ends[0] == ends[1],
    )


def _plain(estimate: Estimate) -> Estimate:
    return Estimate.model_validate(estimate.model_dump(include=set(Estimate.model_fields)))


def _empty(diagnosis: Diagnosis) -> tuple[EmptyGap, ...]:
    return tuple(
        EmptyGap.model_validate(gap.model_dump(include=set(EmptyGap.model_fields)))
        for gap in diagnosis.gaps
        if gap.verdict == "empty"
    )


def _widest(before: Diagnosis, after: Diagnosis) -> WidestGap | None:
    if not before.gaps:
        return None
    gap = before.gaps[0]
    places = {one.item: one.z for one in after.difficulties}
    left, right = places.get(gap.left_item), places.get(gap.right_item)
    inside: tuple[str, ...] = ()
    share, closed = None, None
    if left is not None and right is not None and left < right:
        inside = tuple(one.item for one in after.difficulties if left < one.z < right)
        stops = np.array([left, *(places[one] for one in inside), right])
        share = float(np.diff(stops).max() / (right - left))
        closed = bool(inside)
    return WidestGap(
        **gap.model_dump(include={"left_item", "right_item", "z_left", "z_right", "verdict"}),
        inside=inside,
        open_share=share,
        closed=closed,
    )
