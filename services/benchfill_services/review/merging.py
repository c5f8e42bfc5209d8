"""Approved candidates become items of a new version of their benchmark; the old one stays.

What enters is decided by content: a candidate was measured against the files of one version, and
enters that version or one that was made from it.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

import benchfill as bf
from benchfill.errors import BenchFillError
from benchfill.formats.appending import Cell, with_cells

from ..report.folder import jsonl_bytes
from ..store.benchmark_files import ITEMS, RESPONSES, VersionFiles
from .desk import now
from .provenance import Content, content_of, measured_on, provenance_of
from .state import CaseState

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .case import Event
    from .desk import ReviewDesk
    from .provenance import ItemProvenance

_AT_ONCE = 500  # cases
_MOST_NAMED = 5


class NothingToMergeError(BenchFillError):
    """No approved candidate may enter; the message says why."""

    exit_code = 2


class LeftOut(BaseModel):
    """An approved candidate that does not enter."""

    model_config = ConfigDict(frozen=True)

    candidate: str
    item: str
    why: str


class Merging(BaseModel):
    """What became of the candidates of a version."""

    model_config = ConfigDict(frozen=True)

    entered: tuple[str, ...] = Field(description="ids of the items that are new")
    already: tuple[str, ...] = Field(description="ids of approved items that are in it already")
    left_out: tuple[LeftOut, ...] = Field(description="approved, and why they do not enter")
    pending: int = Field(description="candidates whose verdicts are not all in")
    disagreements: int
    rejected: int


@dataclass
class Candidates:
    """The cases of some contents, by what became of them, oldest first."""

    approved: list[CaseState] = field(default_factory=list)
    strangers: list[CaseState] = field(default_factory=list)
    """Approved, but made for other contents."""
    pending: int = 0
    disagreements: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class Merged:
    """The files of the new version, and how it came about."""

    files: VersionFiles
    added: tuple[ItemProvenance, ...]
    merging: Merging


class _Sorted(NamedTuple):
    entering: list[CaseState]
    already: list[str]
    left_out: list[LeftOut]


async def candidates_for(
    desk: ReviewDesk,
    contents: Collection[Content],
    *,
    benchmark: str | None = None,
    job: str | None = None,
) -> Candidates:
    """Return the cases made for one of the contents; of one benchmark or fill if named."""
    found = Candidates()
    ids = await desk.reviews.ids(benchmark=benchmark)
    if job is not None:
        ids = [one for one in ids if one.startswith(f"{job}.")]
    for start in range(0, len(ids), _AT_ONCE):
        for case, events in await desk.reviews.cases(ids[start : start + _AT_ONCE]):
            state = CaseState(case, events, desk.needed)
            _sort_in(found, state, ours=content_of(state) in contents)
    return found


def _sort_in(found: Candidates, state: CaseState, *, ours: bool) -> None:
    status = state.status
    if status == "approved":
        (found.approved if ours else found.strangers).append(state)
    elif ours:
        found.rejected += status == "rejected"
        found.disagreements += status == "disagreement"
        found.pending += status in {"open", "revising"}


async def merge(desk: ReviewDesk, files: VersionFiles, into: Content, found: Candidates) -> Merged:
    """Put approved candidates behind the items and responses of a version.

    Items and responses that are there stay as they are; see `with_cells` for the form of the
    responses. Merging the result once more adds nothing.

    Raises
    ------
    NothingToMergeError
        Nothing new was approved, or nothing of it may enter.
    InputError
        The files cannot be read.
    """
    chosen, longer = await asyncio.to_thread(_with_items, files, found)
    merging = _merging(chosen, found)
    if not chosen.entering:
        raise NothingToMergeError(_why_nothing(merging))
    people = {event.by for state in chosen.entering for event in _judged(state)}
    pseudonyms = {one: await desk.reviews.pseudonym(one) for one in sorted(people)}
    added = _provenance(chosen.entering, into, pseudonyms)
    lines = jsonl_bytes(
        state.latest.revision.item.model_dump(mode="json", exclude_defaults=True)
        for state in chosen.entering
    )
    return Merged(
        VersionFiles(
            items=_ended(files.items) + lines,
            responses=longer,
            provenance=_ended(files.provenance or b"")
            + jsonl_bytes(one.model_dump(mode="json") for one in added),
        ),
        added,
        merging,
    )


def _with_items(files: VersionFiles, found: Candidates) -> tuple[_Sorted, bytes]:
    """Read the files; return what enters them, and the responses with it."""
    with tempfile.TemporaryDirectory(prefix="benchfill-") as folder:
        items, responses = Path(folder, ITEMS), Path(folder, RESPONSES)
        items.write_bytes(files.items)
        responses.write_bytes(files.responses)
        chosen = _sorted(bf.read_items(items), bf.read_responses(responses), found)
        cells = [
            Cell(one.matrix_name, state.latest.revision.item.id, one.correct, one.n)
            for state in chosen.entering
            for one in measured_on(state)
        ]
        return chosen, with_cells(responses, cells)


def _judged(state: CaseState) -> list[Event]:
    latest = state.latest
    return [*latest.verdicts.values(), *([latest.adjudication] if latest.adjudication else [])]


def _provenance(
    states: Sequence[CaseState], into: Content, pseudonyms: Mapping[str, str]
) -> tuple[ItemProvenance, ...]:
    at = now()
    return tuple(provenance_of(state, into, pseudonyms, at) for state in states)


def _sorted(items: Sequence[bf.Item], matrix: bf.ResponseMatrix, found: Candidates) -> _Sorted:
    """Decide which approved candidates enter."""
    content = {item.id: item.content_hash for item in items}
    answered, models = set(matrix.items), set(matrix.models)
    entering: list[CaseState] = []
    already: list[str] = []
    left_out = [_left_out(one, _STRANGER) for one in found.strangers]
    for state in found.approved:
        item = state.latest.revision.item
        if content.get(item.id) == item.content_hash:
            already.append(item.id)
            continue
        unknown = [one.model for one in measured_on(state) if one.matrix_name not in models]
        why = None
        if item.id in content or item.id in answered:
            why = f"another item has the id {item.id[:60]!r} already; give it another id first"
        elif not measured_on(state):
            why = "it was not measured"
        elif unknown:
            why = f"its model {unknown[0][:60]!r} stands in no line of the responses"
        if why is not None:
            left_out.append(_left_out(state, why))
            continue
        content[item.id] = item.content_hash
        entering.append(state)
    return _Sorted(entering, already, left_out)


_STRANGER = "it was made for another version, from which this one does not descend"


def _left_out(state: CaseState, why: str) -> LeftOut:
    return LeftOut(candidate=state.case.id, item=state.latest.revision.item.id, why=why)


def _merging(chosen: _Sorted, found: Candidates) -> Merging:
    return Merging(
        entered=tuple(state.latest.revision.item.id for state in chosen.entering),
        already=tuple(chosen.already),
        left_out=tuple(chosen.left_out),
        pending=found.pending,
        disagreements=found.disagreements,
        rejected=found.rejected,
    )


def _why_nothing(merging: Merging) -> str:
    waiting = (
        f"{merging.pending} pending, {merging.disagreements} in disagreement, "
        f"{merging.rejected} rejected"
    )
    if merging.left_out:
        named = "; ".join(f"{one.candidate}: {one.why}" for one in merging.left_out[:_MOST_NAMED])
        more = len(merging.left_out) - _MOST_NAMED
        rest = f"; and {more} more" if more > 0 else ""
        return f"nothing may be merged ({named}{rest}; {waiting})."
    if merging.already:
        return (
            "there is nothing new to merge: every approved item is in this version already "
            f"({waiting})."
        )
    return f"there is nothing to merge: no candidate of these files is approved ({waiting})."


def _ended(content: bytes) -> bytes:
    return content if not content or content.endswith(b"\n") else content + b"\n"
