"""The work of `benchfill suite`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import benchfill as bf

from ..report.result import print_result, write_result
from ..report.suite_page import suite_methods, suite_page
from .progress import working
from .suite_inputs import named_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .output import CommandOutput


@dataclass(frozen=True)
class SuiteFiles:
    """What the user gave, and where the report goes."""

    scores: Path
    later: Path | None
    responses: dict[str, Path]
    out: Path | None


def run_suite(
    files: SuiteFiles,
    columns: tuple[Sequence[str] | None, Sequence[str]],
    asked: Mapping[str, Any],
    output: CommandOutput,
) -> None:
    """Read, analyse, and write the report if a folder is given.

    `columns` are those that are benchmarks, if the user named them, and those outside the suite.
    """
    outside = tuple(named_columns(columns[1]))
    inside = None if columns[0] is None else named_columns(columns[0])
    wanted = None if inside is None else [*inside, *(o for o in outside if o not in inside)]
    table = bf.read_score_table(files.scores, columns=wanted)
    later = None if files.later is None else bf.read_score_table(files.later)
    responses = {name: bf.read_responses(path) for name, path in files.responses.items()}
    request = bf.SuiteRequest(outside=outside, **asked)
    what = f"{len(table.models):,} models x {len(table.benchmarks)} benchmarks"
    with working(f"looking at {what}"):
        analysis = bf.analyse_suite(table, request, later=later, responses=responses)
    output.result = analysis.model_dump(mode="json")
    page = suite_page(analysis)
    if files.out is not None:
        envelope = output.envelope()
        methods = suite_methods(envelope, analysis)
        write_result(files.out, envelope, output.document(), page, methods)
    output.summary = lambda console: print_result(console, page, files.out)
