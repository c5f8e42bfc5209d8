"""`benchfill import`: result files of other harnesses, as a response matrix and its items."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from .options import Json


class RepeatChoice(StrEnum):
    """What repeated answers of a model to an item are."""

    ROLLOUTS = "rollouts"
    SUBJECTS = "subjects"


class MatchingChoice(StrEnum):
    """When two items are one."""

    ID = "id"
    CONTENT = "content"


class DuplicatesChoice(StrEnum):
    """Which answer counts where one run names model and item twice."""

    REFUSE = "refuse"
    FIRST = "first"
    LAST = "last"
    ROLLOUTS = "rollouts"


class PrefixChoice(StrEnum):
    """Whether the task stands before an item's id."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class VerdictChoice(StrEnum):
    """What something without a verdict is."""

    WRONG = "wrong"
    MISSING = "missing"


class SideChoice(StrEnum):
    """What the rows of a wide table are."""

    MODELS = "models"
    ITEMS = "items"


def import_results(
    paths: Annotated[
        list[str], typer.Argument(help="Result files, folders, ZIP files or patterns.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="Folder for responses.csv, items.jsonl, import.json.")],
    format_name: Annotated[
        str | None, typer.Option("--format", help="The files' format; detected without it.")
    ] = None,
    filter_name: Annotated[
        str | None, typer.Option("--filter", help="lm-eval: the filter whose rows count.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="The metric that is the score.")] = None,
    scorer: Annotated[
        str | None, typer.Option(help="Inspect: the scorer whose values count.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="HELM: the split whose instances count, or all.")
    ] = None,
    null: Annotated[
        VerdictChoice | None, typer.Option(help="What no answer or verdict is.")
    ] = None,
    incomplete: Annotated[
        VerdictChoice | None, typer.Option(help="What something not run or broken off is.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Partial scores are right from this one on.")
    ] = 1.0,
    max_score: Annotated[float, typer.Option(help="The score of a right answer.")] = 1.0,
    model: Annotated[
        str | None, typer.Option(help="The model, where a file is of one model only.")
    ] = None,
    rows: Annotated[
        SideChoice | None, typer.Option(help="What the rows of a wide table are.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns of a long table: model=...,item=...,correct=...")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE: an option of another package's format."),
    ] = None,
    repeat: Annotated[
        RepeatChoice, typer.Option(help="Repeated answers: rollouts, or each run a subject.")
    ] = RepeatChoice.ROLLOUTS,
    duplicates: Annotated[
        DuplicatesChoice, typer.Option(help="One run names model and item twice: which counts.")
    ] = DuplicatesChoice.REFUSE,
    match_items: Annotated[
        MatchingChoice, typer.Option(help="Items are one by their ids, or by their texts too.")
    ] = MatchingChoice.ID,
    prefix: Annotated[
        PrefixChoice, typer.Option(help="Put the task before an item's id.")
    ] = PrefixChoice.AUTO,
    alias: Annotated[
        Path | None, typer.Option(help="CSV with name,alias: other names of models.")
    ] = None,
    json: Json = False,
) -> None:
    """Turn result files of other harnesses into a response matrix and its items."""
    from .output import command_output

    inputs = [] if alias is None else [alias]
    with command_output("import", json=json, seed=None, inputs=inputs) as output:
        from .import_run import ImportRequest, chosen, run_import

        named = {
            "filter": filter_name,
            "metric": metric,
            "scorer": scorer,
            "split": split,
            "null": null,
            "incomplete": incomplete,
            "model": model,
            "rows": rows,
            "columns": columns,
        }
        request = ImportRequest(
            tuple(paths),
            out,
            alias,
            {
                "format": format_name,
                "repeat": repeat.value,
                "match_items": match_items.value,
                "duplicates": duplicates.value,
                "threshold": threshold,
                "max_score": max_score,
                "prefix": prefix.value,
                "chosen": chosen(named, settings or []),
            },
        )
        run_import(request, output)
