"""One entry of the transcript as HTML of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pydantic import ValidationError

from benchfill_agents.messages import Assignment, CalibrationRound, Retrieval, Rewriting, Validation

from ..case import ThreadMessage
from .templates import fragment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from ..view import CaseView
    from .timeline import Entry

LONGEST = 4_000  # characters of one text
_MOST_CHARACTERS = 60_000  # of one entry's HTML
_MOST_OF_ALL = 900_000  # of the HTML of a window
_LONGEST_PLAIN = 2_000
_CONTENTS: dict[str, type[BaseModel]] = {
    "assignment": Assignment,
    "retrieval": Retrieval,
    "rewriting": Rewriting,
    "validation": Validation,
    "calibrationround": CalibrationRound,
}
TITLES = {
    "assignment": "set the task",
    "item_assignment": "set the task",
    "graph_draft": "drew the solution graph",
    "question_draft": "wrote",
    "trace_review": "followed the trace",
    "final_verdict": "judged",
    "blind_answer": "solved it without the key",
    "gave_up": "gave up",
    "retrieval": "chose parents and references",
    "rewriting": "wrote",
    "validation": "checked",
    "calibrationround": "measured",
    "calibration": "measured",
    "question": "asked",
    "answer": "answered",
    "request": "asked for a change",
    "failure": "could not do it",
    "revision": "new revision",
    "verdict": "decided",
}


@dataclass(frozen=True)
class Place:
    """Where entries are shown: what their links and marks need."""

    candidate: str
    items: frozenset[str]
    """Ids of the candidate's revisions, which are marked among other items."""

    @classmethod
    def of(cls, view: CaseView) -> Place:
        """Return the place of a case."""
        return cls(view.id, frozenset(one.item.id for one in view.revisions))


def entry_html(entry: Entry, place: Place) -> Markup:
    """Render an entry; one whose HTML grows too large is cut to the start of its text."""
    text, content = _said(entry)
    made = fragment("message", "message", _shown(entry, text, content, LONGEST), place)
    if len(made) > _MOST_CHARACTERS:
        made = fragment("message", "message", _shown(entry, text, None, _LONGEST_PLAIN), place)
    return made


def entries_html(entries: Sequence[Entry], place: Place, *, newest: bool = True) -> list[Markup]:
    """Render the newest entries, or the oldest, that a page has room for; at least one."""
    made: list[Markup] = []
    size = 0
    for entry in reversed(entries) if newest else entries:
        one = entry_html(entry, place)
        size += len(one)
        if made and size > _MOST_OF_ALL:
            break
        made.append(one)
    return made[::-1] if newest else made


def full_text(entry: Entry) -> str:
    """Return all that an entry says as plain text."""
    text, content = _said(entry)
    if isinstance(content, Rewriting):
        parts = [
            "\n\n".join(
                [
                    f"== {one.item.id} ==",
                    one.item.question,
                    *(f"* {choice}" for choice in one.item.choices),
                    f"Answer: {one.item.answer}",
                    f"What was changed: {one.what_changed}",
                    f"Why: {one.rationale}",
                ]
            )
            for one in content.children
        ]
        return "\n\n\n".join([*parts, *content.shortfalls])
    return text


def _said(entry: Entry) -> tuple[str, Any]:
    """Return the text of an entry, and what it says in parts where it does."""
    said = entry.said
    if isinstance(said, ThreadMessage):
        return said.text, None
    if not isinstance(said, dict):
        return getattr(said, "text", ""), said
    kind = _CONTENTS.get(entry.kind)
    text = str(said.get("text", ""))
    if kind is None:
        return text, None
    try:
        return text, kind.model_validate(said.get("content"))
    except ValidationError:  # of an earlier release
        return text, None


def _shown(entry: Entry, text: str, content: Any, longest: int) -> dict[str, Any]:
    return {
        "id": entry.id,
        "at": entry.at,
        "author": entry.author,
        "kind": entry.kind,
        "title": TITLES.get(entry.kind, entry.kind.replace("_", " ")),
        "revision": entry.revision,
        "text": text[:longest],
        "left_out": max(0, len(text) - longest),
        "content": content,
        "in_parts": content is not None,
    }
