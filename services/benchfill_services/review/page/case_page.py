"""What the page of a candidate shows, made ready for its template. All sizes are bounded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...textbook.graph_drawing import graph_svg
from .difference import difference
from .rich_text import rich
from .ruler import ruler

if TYPE_CHECKING:
    from markupsafe import Markup

    from benchfill.items import Item

    from ..view import CaseView, RevisionView

Against = Literal["parent", "previous"]
LONGEST_QUESTION = 12_000
_LONGEST_ANSWER = 2_000
_LONG_QUESTION = 1_500
_LONG_CHOICE = 300
_ALL_CHOICES = 24_000  # characters of all choices together
_MOST_CHOICES = 200


@dataclass(frozen=True)
class Passage:
    """A text with its differences marked, and how much of it was left out."""

    marked: Markup
    long: bool
    """Whether it gets a box of its own to scroll in."""
    left_out: int = 0


@dataclass(frozen=True)
class Choice:
    """An option, with its differences marked."""

    marked: Markup
    long: bool
    right: bool


@dataclass(frozen=True)
class Rendered:
    """An item as Markdown."""

    html: Markup
    open: bool
    """Whether it is unreadable without: it has code or a table in it."""


@dataclass(frozen=True)
class Side:
    """An item as it stands beside another one."""

    question: Passage
    choices: list[Choice]
    answer: Passage
    rendered: Rendered


@dataclass(frozen=True)
class Sides:
    """A candidate and what it came from."""

    old: Side | None
    new: Side
    compared: bool


@dataclass(frozen=True)
class Other:
    """What a candidate is compared with."""

    item: Item
    title: str
    note: str
    link: str


def revision_of(view: CaseView, number: int | None) -> RevisionView | None:
    """Return a revision, the latest for None; None when there is none of the number."""
    if number is None:
        return view.latest
    return next((one for one in view.revisions if one.number == number), None)


def other_of(view: CaseView, revision: RevisionView, against: Against) -> Other | None:
    """Return what a revision is compared with: its parent, or the wording before it."""
    if against == "previous" and revision.number > 1:
        before = view.revisions[revision.number - 2]
        link = f"/review/c/{view.id}/r/{before.number}.txt"
        return Other(before.item, f"Revision {before.number}", "", link)
    if view.parent is None:
        return None
    note = "" if view.parent_z is None else f"z = {view.parent_z:.3f}"
    return Other(view.parent, "Its parent", note, f"/review/c/{view.id}/parent.txt")


async def case_context(view: CaseView, revision: RevisionView, against: Against) -> dict[str, Any]:
    """Return what the template needs of a case, but for its transcript."""
    other = other_of(view, revision, against)
    # hostile texts may take long, and others wait
    shown = await asyncio.to_thread(sides, other.item if other else None, revision.item)
    calibration = revision.calibration
    counts = [] if calibration is None else list(calibration.counts)
    counts.sort(key=lambda one: (-(one.correct / one.n) if one.n else 1, one.model))
    return {
        "view": view,
        "revision": revision,
        "against": against,
        "other": other,
        "shown": shown,
        "calibration": calibration,
        "counts": counts,
        "graph": graph_svg(view.textbook.graph) if view.textbook else None,
        "ruler": ruler(view.target, calibration, view.parent_z),
    }


def sides(old: Item | None, new: Item) -> Sides:
    """Compare two items part by part."""
    before = old.question[:LONGEST_QUESTION] if old else new.question[:LONGEST_QUESTION]
    question = difference(before, new.question[:LONGEST_QUESTION])
    former = old or new
    answer = difference(former.answer[:_LONGEST_ANSWER], new.answer[:_LONGEST_ANSWER])
    limit = max(120, _ALL_CHOICES // max(1, len(new.choices), len(former.choices)))
    pairs = [
        difference(_at(former.choices, k)[:limit], _at(new.choices, k)[:limit])
        for k in range(min(_MOST_CHOICES, max(len(former.choices), len(new.choices))))
    ]
    fresh = Side(
        _question(question.new, new),
        [
            Choice(one.new, len(new.choices[k]) > _LONG_CHOICE, _right(new, k))
            for k, one in enumerate(pairs[: len(new.choices)])
        ],
        Passage(answer.new, len(new.answer) > _LONG_CHOICE),
        _rendered(new),
    )
    if old is None:
        return Sides(None, fresh, compared=True)
    former_side = Side(
        _question(question.old, old),
        [
            Choice(one.old, len(old.choices[k]) > _LONG_CHOICE, _right(old, k))
            for k, one in enumerate(pairs[: len(old.choices)])
        ],
        Passage(answer.old, len(old.answer) > _LONG_CHOICE),
        _rendered(old),
    )
    return Sides(former_side, fresh, question.compared)


def _question(marked: Markup, item: Item) -> Passage:
    length = len(item.question)
    long = length > _LONG_QUESTION or item.question.count("\n") > 40
    return Passage(marked, long, max(0, length - LONGEST_QUESTION))


def _at(choices: tuple[str, ...], k: int) -> str:
    return choices[k] if k < len(choices) else ""


def _right(item: Item, k: int) -> bool:
    answer = item.answer.strip()
    letter = chr(ord("A") + k) if k < 26 else ""
    return answer in {item.choices[k].strip(), letter, f"({letter})"}


def _rendered(item: Item) -> Rendered:
    text = item.question[:LONGEST_QUESTION]
    return Rendered(rich(text), open="```" in text or "\n|" in text)


def item_text(item: Item, *more: tuple[str, str]) -> str:
    """Return all of an item as plain text."""
    parts = [
        item.question,
        *(f"({chr(65 + k) if k < 26 else k + 1}) {one}" for k, one in enumerate(item.choices)),
        f"Reference answer: {item.answer}",
        *(f"{title}: {text}" for title, text in more if text),
    ]
    return "\n\n".join(parts) + "\n"
