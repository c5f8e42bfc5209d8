"""Who may say what about a candidate, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.errors import BenchFillError, InputError

if TYPE_CHECKING:
    from ..store.api_keys import ApiKey, Role
    from .case import Reason, VerdictKind
    from .state import CaseState

LONGEST_TEXT = 4_000
NO_AGENTS = "no agent can be asked about this candidate; decide without."
NEWER = "there is a newer revision than the one you judged. Look again."


class ReviewRefusedError(BenchFillError):
    """The rules of reviewing do not allow it; the message says why."""

    exit_code = 2


class StaleViewError(ReviewRefusedError):
    """What was judged is not what stands there now: another tab, or a new revision."""


@dataclass(frozen=True)
class Person:
    """Who is at the desk."""

    id: str
    name: str
    role: Role

    @classmethod
    def of(cls, key: ApiKey) -> Person:
        """Return whom an API key stands for."""
        return cls(key.id, key.name or key.id, key.role)

    @property
    def may_review(self) -> bool:
        """Whether they may give verdicts."""
        return self.role != "reader"

    @property
    def may_adjudicate(self) -> bool:
        """Whether they may decide where reviewers disagree."""
        return self.role in {"operator", "admin"}


@dataclass(frozen=True)
class NewVerdict:
    """What a reviewer says. Raises InputError, which names the field, for what cannot be said."""

    verdict: VerdictKind
    reasons: tuple[Reason, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST_TEXT:
            raise InputError(f"has more than {LONGEST_TEXT} characters.", field="text")
        if self.verdict == "approve" and self.reasons:
            raise InputError("goes with reject; an approved item has none.", field="reasons")
        if self.verdict == "reject" and not self.reasons:
            raise InputError("say what is wrong with the item.", field="reasons")
        if "other" in self.reasons and not self.text.strip():
            raise InputError("say what is wrong; the reason is `other`.", field="text")
        if self.verdict == "request_change" and not self.text.strip():
            raise InputError("say what shall change.", field="text")


def check_turn(state: CaseState, person: Person) -> None:
    """Refuse a verdict that is not this person's to give. Raises ReviewRefusedError."""
    latest = state.latest
    if not person.may_review:
        raise ReviewRefusedError("a verdict needs the role reviewer or higher.")
    if latest.revision.requested_by == person.id:
        raise ReviewRefusedError("you asked for this revision, so others judge it.")
    if person.id in latest.verdicts:
        raise ReviewRefusedError("you have judged this revision already; undo it first.")
    if state.status != "open":
        raise ReviewRefusedError("all verdicts on this candidate are in.")


def check_undo(state: CaseState, person: Person, revision: int) -> None:
    """Refuse to take back what cannot be taken back. Raises ReviewRefusedError."""
    latest = state.latest
    if latest.revision.number != revision or person.id not in latest.verdicts:
        raise ReviewRefusedError("there is no verdict of yours to take back.")
    if latest.both_in or latest.adjudication is not None:
        raise ReviewRefusedError("all verdicts are in, so yours stays.")
    if latest.verdicts[person.id].job in state.rewriting:
        raise ReviewRefusedError("the change you asked for is being written already.")


def check_adjudication(state: CaseState, person: Person) -> None:
    """Refuse a decision that is not this person's to make. Raises ReviewRefusedError."""
    if not person.may_adjudicate:
        raise ReviewRefusedError("adjudicating needs the role operator or higher.")
    if state.status != "disagreement":
        raise ReviewRefusedError("reviewers do not disagree on this candidate.")
    if state.done_by(person.id):
        raise ReviewRefusedError("you took part in this review; somebody else decides.")


def check_question(person: Person, text: str) -> None:
    """Refuse a question that cannot be put. Raises ReviewRefusedError or InputError."""
    if not person.may_review:
        raise ReviewRefusedError("asking needs the role reviewer or higher.")
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise InputError(f"write between 1 and {LONGEST_TEXT} characters.", field="text")
