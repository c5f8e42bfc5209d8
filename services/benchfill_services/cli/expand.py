"""`benchfill expand`: make a benchmark larger where it has holes."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .fill import CalibrationKind, RewriterKind
from .options import Json, Seed


def expand(
    responses: Annotated[Path, typer.Argument(help="Responses of the pool's models to the items.")],
    *,
    items: Annotated[Path, typer.Option(help="Items, one JSON object a line.")],
    pool: Annotated[Path, typer.Option(help="The pool file (YAML).")],
    to: Annotated[int, typer.Option(min=2, help="Items that the benchmark shall have.")],
    out: Annotated[Path, typer.Option(help="Folder of the expansion; it goes on there.")],
    max_gap: Annotated[
        float,
        typer.Option(min=0, max=1, help="Stop when no empty gap is wider than this; 0: when none."),
    ] = 0.0,
    auto_accept: Annotated[
        bool,
        typer.Option(
            "--auto-accept", help="Take items that nobody reviewed: for studies, not to publish."
        ),
    ] = False,
    gaps_per_round: Annotated[
        int, typer.Option(min=1, max=20, help="Gaps to fill before the next fit.")
    ] = 3,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of the search for a gap at most.")] = 8,
    rewriter: Annotated[
        RewriterKind, typer.Option(help="Who writes the children.")
    ] = RewriterKind.LLM,
    writer: Annotated[
        str | None,
        typer.Option(help="Pool model that the llm rewriter asks; default: the ablest by the fit."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="Pool model that judges children, as in `benchfill fill`; or `none`."),
    ] = None,
    calibration: Annotated[
        CalibrationKind, typer.Option(help="sequential spends where it tells most.")
    ] = CalibrationKind.SEQUENTIAL,
    min_p_in_gap: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Accept a child from this probability on.")
    ] = 0.9,
    budget_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Rollouts that all rounds together may use.")
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(min=0, help="Tokens after which no further batch begins.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(min=0, help="US dollars after which no further batch begins.")
    ] = None,
    no_anchors: Annotated[
        bool, typer.Option("--no-anchors", help="Trust the fitted abilities unchecked.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fill gap after gap until the benchmark has N items or no wide gap is left. Resumable."""
    from .output import command_output

    inputs = [items, responses, pool]
    with command_output("expand", json=json, seed=seed, inputs=inputs) as output:
        from ..expand.planning import Wanted
        from .expand_run import ExpandRequest, run_expand
        from .fill_run import FillRequest

        fill = FillRequest(
            items=items,
            responses=responses,
            pool=pool,
            out=out,
            max_gaps=gaps_per_round,
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
        )
        run_expand(ExpandRequest(fill, Wanted(to, max_gap, gaps_per_round), auto_accept), output)
