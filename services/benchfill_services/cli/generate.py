"""`benchfill generate`: new items from chapters of a textbook, solution graph first."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer


class PdfReader(StrEnum):
    """The library that reads PDF files."""

    PYPDF = "pypdf"
    DOCLING = "docling"


def generate(
    *,
    source: Annotated[
        list[Path],
        typer.Option(help="Chapter: Markdown, text, HTML or PDF (again for more)."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for items and report.")],
    taxonomy: Annotated[
        Path | None, typer.Option(help="Areas and competencies (YAML or JSON).")
    ] = None,
    propose_taxonomy: Annotated[
        Path | None,
        typer.Option(help="Write a taxonomy there for you to edit, and stop."),
    ] = None,
    blueprint: Annotated[
        Path | None, typer.Option(help="How many items of which kind (YAML or JSON).")
    ] = None,
    per_competency: Annotated[
        int | None,
        typer.Option(min=1, help="Instead: items of each competency, spread over Bloom's levels."),
    ] = None,
    pool: Annotated[Path | None, typer.Option(help="The pool file (YAML).")] = None,
    designer: Annotated[
        str | None, typer.Option(help="Writes and repairs: pool model or litellm id.")
    ] = None,
    verifier: Annotated[
        str | None, typer.Option(help="Judges; of another family than the designer.")
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="Solves without the key; default: a third of the pool.")
    ] = None,
    tries: Annotated[
        int, typer.Option(min=1, help="Candidates that a wanted item may take at most.")
    ] = 4,
    aim_gap: Annotated[
        Path | None,
        typer.Option(help="Responses: measure items on the pool, go on until their gaps are full."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            help="Items of --aim-gap's benchmark; then what is accepted is put up for review."
        ),
    ] = None,
    max_gaps: Annotated[int, typer.Option(min=1, help="How many gaps to fill at most.")] = 3,
    min_p_in_gap: Annotated[
        float,
        typer.Option(min=0.5, max=0.999, help="An item fills a gap from this probability on."),
    ] = 0.9,
    budget_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Rollouts that measuring may use.")
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(min=0, help="Tokens, of all models, after which no further call begins."),
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(min=0, help="US dollars after which no further call begins.")
    ] = None,
    attribution: Annotated[
        str | None, typer.Option(help="Whom the source's licence wants named; goes into each item.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="Licence of the source, as CC BY 4.0; goes into each item.")
    ] = None,
    pdf: Annotated[
        PdfReader, typer.Option(help="Reads PDF: pypdf is light, docling finds more.")
    ] = PdfReader.PYPDF,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write new items from chapters of a textbook, checked and solved blind. Resumable."""
    from .output import command_output

    single = (taxonomy, blueprint, pool, aim_gap, items)
    files = [*source, *(one for one in single if one is not None)]
    with command_output("generate", json=json, seed=seed, inputs=files) as output:
        from .generate_run import GenerateRequest, run_generate

        run_generate(
            GenerateRequest(
                sources=tuple(source),
                out=out,
                taxonomy=taxonomy,
                blueprint=blueprint,
                propose_taxonomy=propose_taxonomy,
                pool=pool,
                designer=designer,
                verifier=verifier,
                solver=solver,
                per_competency=per_competency,
                tries=tries,
                aim_gap=aim_gap,
                items=items,
                max_gaps=max_gaps,
                min_p_in_gap=min_p_in_gap,
                budget_rollouts=budget_rollouts,
                budget_tokens=budget_tokens,
                budget_usd=budget_usd,
                attribution=attribution,
                licence=licence,
                pdf=pdf.value,
                seed=seed,
            ),
            output,
        )
