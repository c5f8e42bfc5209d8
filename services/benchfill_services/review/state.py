"""What the audit trail of a case amounts to: the state is nothing but its events, added up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .case import Case, Event, Revision

Status = Literal["open", "revising", "disagreement", "approved", "rejected", "superseded"]


@dataclass
class RevisionState:
    """A revision and the verdicts that stand on it."""

    revision: Revision
    needed: int
    verdicts: dict[str, Event] = field(default_factory=dict)
    adjudication: Event | None = None
    superseded: bool = False
    rewriting: bool = False

    @property
    def both_in(self) -> bool:
        """Whether all verdicts that are needed stand."""
        return len(self.verdicts) >= self.needed

    @property
    def status(self) -> Status:
        """What the verdicts amount to."""
        if self.superseded:
            return "superseded"
        if self.adjudication is not None:
            return "approved" if self.adjudication.verdict == "approve" else "rejected"
        if not self.both_in:
            return "open"
        if self.rewriting:
            return "revising"
        said = {event.verdict for event in self.verdicts.values()}
        if said == {"approve"}:
            return "approved"
        return "rejected" if said == {"reject"} else "disagreement"


class CaseState:
    """All revisions of a case, the last of which is judged.

    Parameters
    ----------
    case
        The candidate as it was opened.
    events
        Its whole audit trail, oldest first.
    needed
        Reviewers who must agree.
    """

    def __init__(self, case: Case, events: Iterable[Event], needed: int) -> None:
        self.case, self.needed = case, needed
        self.revisions = [RevisionState(case.first, needed)]
        self.events: list[Event] = []
        self.rewriting: dict[str, Event] = {}
        """Change requests whose rewriting has not ended, by job."""
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        judged = self.revisions[event.revision - 1]
        self.events.append(event)
        if event.kind == "verdict":
            judged.verdicts[event.by] = event
            if event.job is not None:
                self.rewriting[event.job] = event
        elif event.kind == "undo":
            judged.verdicts.pop(event.by, None)
        elif event.kind == "adjudication":
            judged.adjudication = event
        elif event.kind == "revision_failed":
            self.rewriting.pop(event.job or "", None)
        elif event.made is not None:
            self.rewriting.pop(event.job or "", None)
            self.latest.superseded = True
            self.revisions.append(RevisionState(event.made, self.needed))
        asked = {request.revision for request in self.rewriting.values()}
        for one in self.revisions:
            one.rewriting = one.revision.number in asked

    @property
    def latest(self) -> RevisionState:
        """The revision that is judged now."""
        return self.revisions[-1]

    @property
    def status(self) -> Status:
        """Where the case stands."""
        return self.latest.status

    @property
    def settled(self) -> bool:
        """Whether everybody may see everything: no verdict is missing any more."""
        latest = self.latest
        return (latest.both_in and not latest.rewriting) or latest.adjudication is not None

    def done_by(self, reviewer: str) -> bool:
        """Whether a reviewer has no verdict to give on the latest revision."""
        latest = self.latest
        return reviewer in latest.verdicts or latest.revision.requested_by == reviewer
