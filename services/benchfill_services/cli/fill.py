"""`benchfill fill`: find the widest empty gaps and fill them with measured items."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer


class RewriterKind(StrEnum):
    """Who writes the children."""

    LLM = "llm"
    TEMPLATE = "template"


class CalibrationKind(StrEnum):
    """How children are measured."""

    SEQUENTIAL = "sequential"
    FIXED = "fixed"


def fill(
    *,
    items: Annotated[Path, typer.Option(help="Items, one JSON object a line.")],
    responses: Annotated[Path, typer.Option(help="Responses of the pool's models to the items.")],
    pool: Annotated[Path, typer.Option(help="The pool file (YAML).")],
    out: Annotated[Path, typer.Option(help="Folder for the report.")],
    max_gaps: Annotated[int, typer.Option(min=1, help="How many gaps to fill at most.")] = 3,
    include_unresolved: Annotated[
        bool, typer.Option("--include-unresolved", help="Also gaps that may hold items.")
    ] = False,
    at: Annotated[
        list[float] | None,
        typer.Option(help="Aim at this z instead (again for more); may lie outside 0..1."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds a gap at most.")] = 8,
    rewriter: Annotated[
        RewriterKind, typer.Option(help="Who writes the children.")
    ] = RewriterKind.LLM,
    writer: Annotated[
        str | None,
        typer.Option(help="Pool model that the llm rewriter asks; default: the ablest by the fit."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Pool model, or one of the pool's `judges`, that solves children blind and then "
            "judges them; `none`: nobody. Default: BENCHFILL_JUDGE, if the pool has it."
        ),
    ] = None,
    calibration: Annotated[
        CalibrationKind, typer.Option(help="sequential spends where it tells most.")
    ] = CalibrationKind.SEQUENTIAL,
    min_p_in_gap: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Accept a child from this probability on.")
    ] = 0.9,
    budget_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Rollouts that the fill may use.")
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(min=0, help="Tokens, of all models, after which no further batch begins."),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(min=0, help="US dollars after which no further batch begins."),
    ] = None,
    no_anchors: Annotated[
        bool, typer.Option("--no-anchors", help="Trust the fitted abilities unchecked.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it may cost and who sees what; ask nobody."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fill the widest empty gaps of a benchmark with new, measured items. Resumable."""
    from .output import command_output

    with command_output("fill", json=json, seed=seed, inputs=[items, responses, pool]) as output:
        from .fill_run import FillRequest, dry_run_fill, run_fill

        run = dry_run_fill if dry_run else run_fill
        run(
            FillRequest(
                items=items,
                responses=responses,
                pool=pool,
                out=out,
                max_gaps=max_gaps,
                include_unresolved=include_unresolved,
                at=tuple(at or ()),
                rounds=rounds,
                rewriter=rewriter.value,
                writer=writer,
                judge=judge,
                calibration=calibration.value,
                min_p_in_gap=min_p_in_gap,
                budget_rollouts=budget_rollouts,
                budget_tokens=budget_tokens,
                budget_usd=budget_usd,
                anchors=not no_anchors,
                seed=seed,
            ),
            output,
        )
