"""`benchfill review`: judge candidates in the terminal, by the same rules as on the page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import Json

Verdict = Literal["approve", "reject", "request_change"]
review = typer.Typer(
    name="review",
    help="Judge candidates in the terminal, blind to the others until all verdicts are in. "
    "BENCHFILL_API_KEY says who you are; in a store without API keys, --as does.",
    no_args_is_help=True,
)


class ShelfChoice(StrEnum):
    """Which candidates are listed."""

    PENDING = "pending"
    WAITING = "waiting"
    DISAGREEMENTS = "disagreements"
    DECIDED = "decided"


class ReasonChoice(StrEnum):
    """What is wrong with a candidate."""

    WRONG_ANSWER = "wrong_answer"
    AMBIGUOUS = "ambiguous"
    NOT_SELF_CONTAINED = "not_self_contained"
    TRIVIAL_REWRITE = "trivial_rewrite"
    OFF_TOPIC = "off_topic"
    FORMATTING = "formatting"
    OTHER = "other"


class DecisionChoice(StrEnum):
    """What an adjudicator may decide."""

    APPROVE = "approve"
    REJECT = "reject"


class FormatChoice(StrEnum):
    """How a transcript is written."""

    MARKDOWN = "markdown"
    JSONL = "jsonl"


@dataclass(frozen=True)
class Decision:
    """What a person says of a candidate."""

    candidate: str
    kind: Verdict
    reasons: tuple[str, ...]
    text: str
    seen: str | None
    name: str | None
    adjudicating: bool = False


Candidate = Annotated[
    str,
    typer.Argument(
        metavar="CANDIDATE",
        help="Its id as `list` shows it, or 4 or more characters that no other begins with.",
    ),
]
As = Annotated[str | None, typer.Option("--as", help="Who you are, in a store without API keys.")]
Text = Annotated[str, typer.Option(help="What else there is to say.")]
NeededText = Annotated[str, typer.Option(help="What shall change, or what you ask.")]
Reasons = Annotated[
    list[ReasonChoice] | None, typer.Option("--reason", help="What is wrong; again for more.")
]
Seen = Annotated[
    str | None,
    typer.Option(help="`seen` of the view you judge (show --json); refused if it has changed."),
]
Benchmark = Annotated[str | None, typer.Option(help="Of this benchmark only.")]


@review.command(name="list")
def list_cases(
    *,
    shelf: Annotated[ShelfChoice, typer.Option(help="Which candidates.")] = ShelfChoice.PENDING,
    benchmark: Benchmark = None,
    gap: Annotated[
        str | None, typer.Option(metavar="FILL.GAP", help="Of this gap of a fill only.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many at most.")] = 20,
    cursor: Annotated[
        int | None, typer.Option(min=0, help="Go on where an earlier list ended.")
    ] = None,
    name: As = None,
    json: Json = False,
) -> None:
    """List candidates: those that wait for you, for others, for an adjudicator, or decided."""
    from .output import command_output

    with command_output("review list", json=json, seed=None, inputs=[]) as output:
        from .review_run import ListOptions, run_list

        run_list(ListOptions(shelf.value, benchmark, gap, limit, cursor), name, output)


@review.command()
def show(candidate: Candidate, *, name: As = None, json: Json = False) -> None:
    """Show a candidate beside its parent, how it measured, and what was said of it."""
    from .output import command_output

    with command_output("review show", json=json, seed=None, inputs=[]) as output:
        from .review_run import run_show

        run_show(candidate, name, output)


@review.command()
def approve(
    candidate: Candidate, *, text: Text = "", seen: Seen = None, name: As = None, json: Json = False
) -> None:
    """Approve a candidate."""
    _decide(Decision(candidate, "approve", (), text, seen, name), json)


@review.command()
def reject(
    candidate: Candidate,
    *,
    reason: Reasons = None,
    text: Text = "",
    seen: Seen = None,
    name: As = None,
    json: Json = False,
) -> None:
    """Reject a candidate, and say why."""
    _decide(Decision(candidate, "reject", _values(reason), text, seen, name), json)


@review.command()
def request_change(
    candidate: Candidate,
    *,
    text: NeededText,
    seen: Seen = None,
    name: As = None,
    json: Json = False,
) -> None:
    """Ask for a change of a candidate; on the command line it stands as your verdict."""
    _decide(Decision(candidate, "request_change", (), text, seen, name), json)


@review.command()
def undo(candidate: Candidate, *, seen: Seen = None, name: As = None, json: Json = False) -> None:
    """Take your verdict back while another one is missing."""
    from .output import command_output

    with command_output("review undo", json=json, seed=None, inputs=[]) as output:
        from .review_run import run_undo

        run_undo(candidate, seen, name, output)


@review.command()
def adjudicate(
    candidate: Candidate,
    decision: Annotated[DecisionChoice, typer.Argument(help="What you decide.")],
    *,
    reason: Reasons = None,
    text: Text = "",
    seen: Seen = None,
    name: As = None,
    json: Json = False,
) -> None:
    """Decide where reviewers disagree; not by one of them."""
    said = Decision(candidate, decision.value, _values(reason), text, seen, name, adjudicating=True)
    _decide(said, json)


@review.command()
def ask(candidate: Candidate, *, text: NeededText, name: As = None, json: Json = False) -> None:
    """Ask the Validator about a candidate, where an agent can be asked."""
    from .output import command_output

    with command_output("review ask", json=json, seed=None, inputs=[]) as output:
        from .review_run import run_ask

        run_ask(candidate, text, name, output)


@review.command()
def agreement(*, benchmark: Benchmark = None, name: As = None, json: Json = False) -> None:
    """Say how far reviewers agree, where all verdicts are in. For operators."""
    from .output import command_output

    with command_output("review agreement", json=json, seed=None, inputs=[]) as output:
        from .review_run import run_agreement

        run_agreement(benchmark, name, output)


@review.command()
def export(
    candidate: Candidate,
    *,
    format: Annotated[  # noqa: A002 - the name of the option
        FormatChoice, typer.Option(help="markdown to read, jsonl to work with.")
    ] = FormatChoice.MARKDOWN,
    out: Annotated[Path | None, typer.Option(help="File to write; else it is printed.")] = None,
    name: As = None,
    json: Json = False,
) -> None:
    """Write the transcript of a candidate, as far as you may see it."""
    from .output import command_output

    with command_output("review export", json=json, seed=None, inputs=[]) as output:
        from .review_run import run_export

        run_export(candidate, format.value, out, name, output)


def _values(reasons: list[ReasonChoice] | None) -> tuple[str, ...]:
    return tuple(one.value for one in reasons or ())


def _decide(decision: Decision, json: bool) -> None:
    from .output import command_output

    said = "adjudicate" if decision.adjudicating else decision.kind.replace("_", "-")
    with command_output(f"review {said}", json=json, seed=None, inputs=[]) as output:
        from .review_run import run_decide

        run_decide(decision, output)
