"""How candidates look in a terminal. Nothing untrusted gets there raw, and none of it is markup."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from ..report.result import ResultPage, Section
from ..report.result import Table as Rows
from ..report.text import cut, one_line
from ..review.page.invisible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from benchfill.agreement import Kappa
    from benchfill.items import Item

    from ..review.agreement import ReviewAgreement
    from ..review.desk import Shelf
    from ..review.transcript import TranscriptEntry
    from ..review.view import CaseView, VerdictView

NAME, LINE = 24, 60
LONGEST = 4_000  # characters of one text
LONGEST_SAID = 600
_MOST_TOKENS = 2_000
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_STATUS = {
    "pending": "your verdict is missing",
    "waiting": "nothing is left for you to do; verdicts of others are missing",
    "revising": "a change is being written",
    "disagreement": "reviewers disagree; an adjudicator decides",
    "approved": "approved",
    "rejected": "rejected",
    "superseded": "replaced by another wording",
}


def told(view: CaseView) -> str:
    """Say where a candidate stands after what was just done."""
    undo = "; `benchfill review undo` takes yours back" if view.may_undo else ""
    return f"Candidate {view.id}: {_STATUS[view.status]}{undo}."


def print_list(
    console: Console,
    shelf: Shelf,
    sizes: Mapping[Shelf, int],
    views: Sequence[tuple[str, CaseView]],
    following: int | None,
) -> None:
    """Print the sizes of all shelves, and a line a candidate."""
    console.print(Text(", ".join(f"{one} {size:,}" for one, size in sizes.items()), style="dim"))
    if not views:
        console.print(Text(f"no candidate is on the shelf {shelf} under these filters."))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in ("candidate", "benchmark", "gap"):
        table.add_column(heading, overflow="fold")
    for heading in ("z", "P(in gap)"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("question", overflow="fold")
    for short, view in views:
        measured = view.latest.calibration
        table.add_row(
            Text(short),
            Text(one_line(visible(view.benchmark), NAME)),
            Text(view.gap),
            f"{measured.z:.3f}" if measured else "–",
            f"{measured.p_in_gap:.3f}" if measured else "–",
            Text(one_line(visible(view.latest.item.question[:LONGEST]), LINE)),
        )
    console.print(table)
    if following is not None:
        console.print(Text(f"more with --cursor {following}", style="dim"))


def print_case(
    console: Console, view: CaseView, tail: Sequence[TranscriptEntry], left_out: int
) -> None:
    """Print all that one person may see of a candidate."""
    console.print(Text(f"Candidate {view.id}", style="bold"), soft_wrap=True)
    console.print(_facts(view))
    console.print()
    console.print(_side_by_side(view))
    measured = view.latest.calibration
    if measured is not None:
        console.print()
        console.print(_success(view))
    for revision in view.revisions:
        for verdict in revision.verdicts:
            console.print()
            console.print(_verdict(verdict, revision.number))
    console.print()
    title = "Transcript" + (f", the last {len(tail)} entries" if left_out else "")
    console.print(Text(title, style="bold"))
    for entry in tail:
        about = f", revision {entry.revision}" if entry.revision else ""
        head = f"{_line(entry.author)} · {_line(entry.kind)}{about} · {_line(entry.at)}"
        console.print(Text(head, style="cyan"))
        if entry.text:
            console.print(Text(_shown(entry.text, LONGEST_SAID)))


def _facts(view: CaseView) -> Table:
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    version = f", version {view.version}" if view.version is not None else ""
    facts.add_row("benchmark", Text(f"{_line(view.benchmark)}{version}"))
    target, latest = view.target, view.latest
    facts.add_row(
        view.gap,
        f"z {target.z_left:.3f} to {target.z_right:.3f}, aimed at {target.z:.3f}",
    )
    facts.add_row("status", _STATUS[view.status])
    facts.add_row("revision", f"{latest.number}" + (" (you asked for it)" if latest.mine else ""))
    measured = latest.calibration
    if measured is None:
        facts.add_row("z", "not measured")
    else:
        facts.add_row(
            "z", f"{measured.z:.3f}, 90% interval {measured.q05:.3f} to {measured.q95:.3f}"
        )
        facts.add_row("P(in gap)", f"{measured.p_in_gap:.3f}, {measured.rollouts:,} rollouts")
    for finding in latest.findings:
        facts.add_row("finding", Text(_shown(finding, LONGEST_SAID), style="yellow"))
    if latest.what_changed:
        facts.add_row("changed", Text(_shown(latest.what_changed, LONGEST_SAID)))
    if latest.rationale:
        facts.add_row("why", Text(_shown(latest.rationale, LONGEST_SAID)))
    facts.add_row("seen", view.seen)
    return facts


def _side_by_side(view: CaseView) -> Table:
    table = Table(padding=(0, 1), expand=True)
    known = f", z {view.parent_z:.3f}" if view.parent_z is not None else ""
    parent, item = view.parent, view.latest.item
    table.add_column("", no_wrap=True)
    if parent is not None:
        table.add_column(Text(f"parent {_line(parent.id)}{known}"), ratio=1, overflow="fold")
    table.add_column(Text(f"candidate {_line(item.id)}"), ratio=1, overflow="fold")
    old = _parts(parent) if parent is not None else {}
    for name, text in _parts(item).items():
        if parent is None:
            table.add_row(name, Text(_shown(text, LONGEST)))
        elif text or old[name]:
            table.add_row(name, *difference(old[name], text))
    return table


def _parts(item: Item) -> dict[str, str]:
    choices = "\n".join(f"{k}. {choice}" for k, choice in enumerate(item.choices, start=1))
    return {"question": item.question, "choices": choices, "answer": item.answer}


def difference(old: str, new: str) -> tuple[Text, Text]:
    """Return two texts with what differs marked, by colour and by `[-gone-]` and `{+new+}`."""
    before, after = (_TOKEN.findall(_shown(one, LONGEST)) for one in (old, new))
    left, right = Text(), Text()
    if max(len(before), len(after)) > _MOST_TOKENS:
        left.append("".join(before))
        right.append("".join(after))
        return left, right
    matcher = SequenceMatcher(str.isspace, before, after, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        gone, new_words = "".join(before[i1:i2]), "".join(after[j1:j2])
        if kind == "equal":
            left.append(gone)
            right.append(new_words)
            continue
        if gone:
            left.append(f"[-{gone}-]", style="red")
        if new_words:
            right.append(f"{{+{new_words}+}}", style="green")
    return left, right


def _success(view: CaseView) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("model", overflow="fold")
    table.add_column("right", justify="right")
    table.add_column("share", justify="right")
    measured = view.latest.calibration
    for one in measured.counts if measured else ():
        share = f"{one.correct / one.n:.2f}" if one.n else "–"
        table.add_row(Text(_line(one.model)), f"{one.correct} of {one.n}", share)
    return table


def _verdict(verdict: VerdictView, revision: int) -> Text:
    reasons = f" ({', '.join(verdict.reasons)})" if verdict.reasons else ""
    decided = "adjudication: " if verdict.adjudication else ""
    said = Text(f"{_line(verdict.reviewer)} on revision {revision}: ", style="bold")
    colour = {"approve": "green", "reject": "red"}.get(verdict.verdict, "yellow")
    said.append(f"{decided}{verdict.verdict.replace('_', ' ')}{reasons}", style=colour)
    if verdict.text:
        said.append(f"\n{_shown(verdict.text, LONGEST)}", style="default")
    return said


def _shown(text: str, limit: int) -> str:
    return visible(cut(text, limit)).expandtabs(4)


def _line(text: str) -> str:
    return one_line(visible(text[:LONGEST]), LINE)


def agreement_page(found: ReviewAgreement) -> ResultPage:
    """Return what is said of agreement, as tables."""
    everything = [one.agreement for one in found.benchmarks]
    everything += [one.agreement for one in found.reviewers]
    why = sorted({one.why for one in everything if one.why})
    heads = ("n", "raw", "kappa", "low", "high", "median s")
    return ResultPage(
        title="Agreement of reviewers",
        lead=()
        if found.benchmarks
        else ("There is no candidate yet on which all verdicts are in.",),
        caveats=tuple(f"Where a figure is missing: {one}" for one in why),
        sections=(
            Section(
                "Agreement",
                tables=(
                    Rows(
                        "By benchmark, all pairs of reviewers; kappa with its 95% interval",
                        ("benchmark", *heads),
                        tuple(
                            (one.benchmark, *_figures(one.agreement), one.median_seconds)
                            for one in found.benchmarks
                        ),
                    ),
                    Rows(
                        "By reviewer, against all partners",
                        ("reviewer", *heads),
                        tuple(
                            (one.reviewer, *_figures(one.agreement), one.median_seconds)
                            for one in found.reviewers
                        ),
                    ),
                ),
            ),
        ),
    )


def _figures(one: Kappa) -> tuple[int | float | None, ...]:
    return one.n, one.raw, one.kappa, one.low, one.high
