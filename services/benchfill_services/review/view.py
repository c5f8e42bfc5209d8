"""What one person may see of a case. Everything that shows a case shows this and nothing else.

Until all verdicts are in, nobody sees another's verdict, name, time, or how many there are; this
holds for every role. Who wrote an item is hidden for as long as it is reviewed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchfill.items import Item
from benchfill_agents.calibrator import Calibration
from benchfill_agents.target import FillTarget

from .case import Reason, TextbookOrigin, VerdictKind

if TYPE_CHECKING:
    from .case import Event
    from .state import CaseState, RevisionState

ShownStatus = Literal[
    "pending", "waiting", "revising", "disagreement", "approved", "rejected", "superseded"
]
"""`pending`: a verdict of yours is missing. `waiting`: yours is given, others are missing."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class VerdictView(_Frozen):
    """A verdict that may be seen."""

    reviewer: str = Field(description="name of the reviewer; `you` for your own")
    mine: bool
    verdict: VerdictKind
    reasons: tuple[Reason, ...]
    text: str
    at: str
    seconds: float | None
    adjudication: bool = False


class RevisionView(_Frozen):
    """A wording of the candidate."""

    number: int
    item: Item
    calibration: Calibration | None
    findings: tuple[str, ...]
    what_changed: str
    rationale: str
    at: str
    superseded: bool
    mine: bool = Field(description="you asked for it, so others judge it")
    verdicts: tuple[VerdictView, ...] = Field(description="those that you may see")


class CaseView(_Frozen):
    """A case as one person may see it. All text of items, models and others is untrusted."""

    id: str
    job: str
    gap: str
    benchmark: str
    version: int | None
    target: FillTarget
    parent: Item | None
    parent_z: float | None
    textbook: TextbookOrigin | None
    revisions: tuple[RevisionView, ...]
    status: ShownStatus
    seen: str = Field(description="stands for this view; a verdict sends it back")
    needed: int = Field(description="reviewers who must agree")
    opened_at: str
    agents: bool = Field(description="whether agents can be asked")
    rewriting: bool = Field(description="a change that you asked for is being written")
    may_decide: bool
    may_undo: bool
    may_adjudicate: bool

    @property
    def latest(self) -> RevisionView:
        """The wording that is judged now."""
        return self.revisions[-1]


def view_of(
    state: CaseState, viewer: str, *, may_review: bool, may_adjudicate: bool, names: dict[str, str]
) -> CaseView:
    """Return what a viewer may see; `names` are the reviewers' names by id."""
    case, latest = state.case, state.latest
    revisions = tuple(_revision(state, one, viewer, names) for one in state.revisions)
    status = _status(state, viewer)
    mine = latest.verdicts.get(viewer)
    rewriting = any(event.by == viewer for event in state.rewriting.values())
    undoable = (
        mine is not None and not latest.both_in and mine.job not in state.rewriting
    )  # a rewriting is paid for
    shown = CaseView(
        id=case.id,
        job=case.job,
        gap=case.gap,
        benchmark=case.benchmark,
        version=case.version,
        target=case.target,
        parent=case.parent,
        parent_z=case.parent_z,
        textbook=case.textbook,
        revisions=revisions,
        status=status,
        seen="",
        needed=state.needed,
        opened_at=case.opened_at,
        agents=case.writer is not None,
        rewriting=rewriting,
        may_decide=may_review and status == "pending",
        may_undo=may_review and undoable,
        may_adjudicate=may_adjudicate and status == "disagreement" and not state.done_by(viewer),
    )
    return shown.model_copy(update={"seen": _seen(shown)})


def _seen(view: CaseView) -> str:
    """Stand for all that can change in a view, and for nothing that is hidden from its viewer."""
    changing = [
        view.status,
        len(view.revisions),
        view.rewriting,
        [one.model_dump(mode="json") for one in view.latest.verdicts],
    ]
    return hashlib.sha256(json.dumps(changing).encode()).hexdigest()[:16]


def _status(state: CaseState, viewer: str) -> ShownStatus:
    status = state.status
    if status == "open":
        return "waiting" if state.done_by(viewer) else "pending"
    return status


def _revision(
    state: CaseState, one: RevisionState, viewer: str, names: dict[str, str]
) -> RevisionView:
    revision = one.revision
    # an older wording was left with verdicts missing: they show when the case is settled
    public = state.settled or one.both_in
    shown = [event for by, event in one.verdicts.items() if public or by == viewer]
    verdicts = [_verdict(event, viewer, names) for event in shown]
    if one.adjudication is not None:
        verdicts.append(_verdict(one.adjudication, viewer, names))
    return RevisionView(
        number=revision.number,
        item=revision.item,
        calibration=revision.calibration,
        findings=revision.findings,
        what_changed=revision.what_changed,
        rationale=revision.rationale,
        at=revision.at,
        superseded=one.superseded,
        mine=revision.requested_by == viewer,
        verdicts=tuple(verdicts),
    )


def _verdict(event: Event, viewer: str, names: dict[str, str]) -> VerdictView:
    if event.verdict is None:
        raise TypeError(event)
    mine = event.by == viewer
    return VerdictView(
        reviewer="you" if mine else names.get(event.by, event.by),
        mine=mine,
        verdict=event.verdict,
        reasons=event.reasons,
        text=event.text,
        at=event.at,
        seconds=event.seconds,
        adjudication=event.kind == "adjudication",
    )
