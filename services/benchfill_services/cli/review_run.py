"""The work of `benchfill review`: everything goes through the desk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from benchfill.errors import InputError

from ..report.folder import write_folder
from ..report.result import print_result
from ..review.agreement import review_agreement
from ..review.case import GAP
from ..review.rules import NewVerdict, ReviewRefusedError
from ..review.transcript import as_jsonl, as_markdown, transcript_of
from .review_desk import at_desk, short_ids
from .review_show import agreement_page, print_case, print_list, told

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from ..review.case import Reason
    from ..review.desk import Shelf
    from ..review.transcript import TranscriptEntry
    from ..review.view import CaseView
    from .output import CommandOutput
    from .review import Decision
    from .review_desk import Session

TAIL = 12  # entries of the transcript that `show` shows
NO_AGENT = (
    "No agent is asked from the command line: your request stands as a verdict. Where a service "
    "runs, the page and REST have it rewritten."
)
_GAP = re.compile(rf"([0-9a-f]{{32}})\.({GAP})")


@dataclass(frozen=True)
class ListOptions:
    """Which candidates are listed."""

    shelf: Shelf
    benchmark: str | None
    gap: str | None
    limit: int
    cursor: int | None


def run_list(options: ListOptions, name: str | None, output: CommandOutput) -> None:
    """List a shelf."""
    gap = None
    if options.gap is not None:
        matched = _GAP.fullmatch(options.gap)
        if matched is None:
            raise InputError(
                "give a fill and its gap as in a candidate's id, such as 0123...cdef.gap-1.",
                field="--gap",
            )
        gap = (matched[1], matched[2])

    async def work(session: Session) -> None:
        views, following = await session.desk.shelf(
            session.person,
            options.shelf,
            limit=options.limit,
            before=options.cursor,
            benchmark=options.benchmark,
            gap=gap,
        )
        sizes = await session.desk.sizes(session.person)
        names = short_ids(await session.desk.reviews.ids())
        output.result = {
            "shelf": options.shelf,
            "sizes": sizes,
            "entries": [one.model_dump(mode="json") for one in views],
            "next_cursor": following,
        }
        output.summary = lambda console: print_list(
            console, options.shelf, sizes, [(names[one.id], one) for one in views], following
        )

    at_desk(name, work)


def run_show(candidate: str, name: str | None, output: CommandOutput) -> None:
    """Show a candidate; it starts the clock of this person's work on it."""

    async def work(session: Session) -> None:
        found = await session.candidate(candidate)
        view = await session.desk.look(found, session.person, begin=True)
        _, entries = await transcript_of(session.redis, session.desk, found, session.person)
        tail = entries[-TAIL:]
        output.result = view.model_dump(mode="json") | {
            "transcript": [one.model_dump(mode="json") for one in tail],
            "transcript_left_out": len(entries) - len(tail),
        }
        output.summary = lambda console: print_case(console, view, tail, len(entries) - len(tail))

    at_desk(name, work)


def run_decide(decision: Decision, output: CommandOutput) -> None:
    """Give a verdict, or decide where reviewers disagree."""
    reasons = cast("tuple[Reason, ...]", decision.reasons)
    said = NewVerdict(decision.kind, reasons, decision.text)

    async def work(session: Session) -> None:
        found = await session.candidate(decision.candidate)
        do = session.desk.adjudicate if decision.adjudicating else session.desk.decide
        _tell(output, await do(found, session.person, said, seen=decision.seen))
        if decision.kind == "request_change":
            output.result["note"] = NO_AGENT

    at_desk(decision.name, work)


def run_undo(candidate: str, seen: str | None, name: str | None, output: CommandOutput) -> None:
    """Take a verdict back."""

    async def work(session: Session) -> None:
        found = await session.candidate(candidate)
        _tell(output, await session.desk.undo(found, session.person, seen=seen))

    at_desk(name, work)


def _tell(output: CommandOutput, view: CaseView) -> None:
    output.result = view.model_dump(mode="json")

    def summary(console: Console) -> None:
        note = output.result.get("note")
        for sentence in (told(view), *([note] if note else [])):
            console.print(sentence, markup=False, highlight=False)

    output.summary = summary


def run_ask(candidate: str, text: str, name: str | None, output: CommandOutput) -> None:
    """Ask the Validator."""

    async def work(session: Session) -> None:
        found = await session.candidate(candidate)
        output.result = {"message": await session.desk.question(found, session.person, text)}

    at_desk(name, work)


def run_agreement(benchmark: str | None, name: str | None, output: CommandOutput) -> None:
    """Say how far reviewers agree."""

    async def work(session: Session) -> None:
        if not session.person.may_adjudicate:
            raise ReviewRefusedError("agreement is for the role operator or higher.")
        found = await review_agreement(session.desk, benchmark=benchmark)
        output.result = found.model_dump(mode="json")
        output.summary = lambda console: print_result(console, agreement_page(found), None)

    at_desk(name, work)


def run_export(
    candidate: str, form: str, out: Path | None, name: str | None, output: CommandOutput
) -> None:
    """Write or print a transcript."""

    async def work(session: Session) -> tuple[CaseView, list[TranscriptEntry]]:
        found = await session.candidate(candidate)
        return await transcript_of(session.redis, session.desk, found, session.person)

    view, entries = at_desk(name, work)
    text = as_markdown(view, entries) if form == "markdown" else as_jsonl(entries)
    output.result = {
        "candidate": view.id,
        "entries": [one.model_dump(mode="json") for one in entries],
        "out": None if out is None else str(out),
    }
    if out is None:
        output.summary = lambda console: print(text, end="", file=console.file)
        return
    if out.is_dir():
        raise InputError("is a folder; name a file.", source=str(out))
    write_folder(out.parent, {out.name: text.encode()})
    output.summary = lambda console: console.print(
        f"{len(entries)} entries are in {out}.", markup=False, highlight=False, soft_wrap=True
    )
