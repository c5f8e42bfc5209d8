"""The work of `benchfill import`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from benchfill.errors import InputError, InterruptedRunError
from benchfill.formats.delimited import responses_csv
from benchfill.importing import Imported, ImportOptions, import_results
from benchfill.importing.matching import read_aliases

from ..report.folder import json_bytes, jsonl_bytes, merged, write_folder
from ..report.result import ResultPage, Section, Table, print_result
from ..report.words import count_of
from .progress import working

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from rich.console import Console

    from benchfill.importing.report import ChoiceMade, FileReport, ImportReport

    from .output import CommandOutput

RESPONSES, ITEMS, REPORT = "responses.csv", "items.jsonl", "import.json"


@dataclass(frozen=True)
class ImportRequest:
    """What the user asked for."""

    paths: tuple[str, ...]
    out: Path
    alias: Path | None
    settings: Mapping[str, Any]


def chosen(named: Mapping[str, str | None], pairs: Iterable[str]) -> dict[str, str]:
    """Return the options that were given, those of --set too.

    Raises
    ------
        InputError: a pair is not NAME=VALUE.
    """
    given = {name: str(value) for name, value in named.items() if value is not None}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError(f"{pair!r} is not NAME=VALUE.", field="--set")
        given[name] = value
    return given


def run_import(request: ImportRequest, output: CommandOutput) -> None:
    """Read, match, and write the folder; what is there already is not touched."""
    _refuse_overwriting(request.out)
    aliases = {} if request.alias is None else read_aliases(request.alias)
    options = ImportOptions(**request.settings, aliases=aliases)
    try:
        with working("reading results"):
            found = import_results(request.paths, options)
    except KeyboardInterrupt:
        raise InterruptedRunError(
            "interrupted; nothing was written, and the same command begins anew."
        ) from None
    output.inputs |= {one.file: one.sha256 for one in found.report.files}
    output.result = found.report.model_dump(mode="json")
    write_folder(request.out, _files(found, output))
    output.summary = lambda console: _print(console, found.report, request.out)


def _refuse_overwriting(out: Path) -> None:
    for name in (RESPONSES, ITEMS, REPORT):
        if (out / name).exists():
            raise InputError(
                "is there already; name another folder with --out.", source=str(out / name)
            )


def _files(found: Imported, output: CommandOutput) -> dict[str, bytes]:
    files = {RESPONSES: responses_csv(found.responses).encode()}
    if found.items:
        rows = (item.model_dump(mode="json", exclude_defaults=True) for item in found.items)
        files[ITEMS] = jsonl_bytes(row | {"answer": row.get("answer", "")} for row in rows)
    files[REPORT] = json_bytes(merged(output.envelope(), output.document()), indent=2)
    return files


def _print(console: Console, report: ImportReport, out: Path) -> None:
    print_result(console, _page(report), None)
    console.print()
    # on one line however long it is, so that it can be clicked and copied
    console.print(Text(f"next    benchfill diagnose {out / RESPONSES}"), soft_wrap=True)
    console.print(Text(f"report  {out / REPORT}"), soft_wrap=True)


def _page(report: ImportReport) -> ResultPage:
    lead = (
        f"{count_of(report.models, 'model')}, {count_of(report.items, 'item')}, "
        f"{count_of(report.rollouts, 'rollout')}, {report.accuracy:.1%} of them right; "
        f"{count_of(report.missing_cells, 'cell')} without a response.",
        f"Of {count_of(report.rows_read, 'row')} in {count_of(len(report.files), 'file')}, "
        f"{report.rows_used:,} count; {report.items_with_question:,} of the items have a question.",
    )
    tables = (
        Table("Files", ("file", "format", "recognised by", "rows", "used", "score"), _rows(report)),
        Table("Left out", ("file", "why", "rows"), _left_out(report)),
        Table("Choices", ("option", "value", "why"), _choices(report)),
    )
    return ResultPage("Import", lead, (Section("Files", tables=tables),), tuple(report.warnings))


def _short(file: str) -> str:
    """Return a file's name and its folder's; the whole path stands in import.json."""
    return "/".join(file.replace("\\", "/").split("/")[-2:])


def _rows(report: ImportReport) -> tuple[tuple[str | int | float | None, ...], ...]:
    return tuple(
        (_short(one.file), one.format, one.reason, one.rows_read, one.rows_used, one.mean_score)
        for one in report.files
    )


def _left_out(report: ImportReport) -> tuple[tuple[str | int | None, ...], ...]:
    rows = [
        (_short(one.file), why, count)
        for one in report.files
        for why, count in (*one.dropped.items(), *one.missing.items(), *_repeated(one))
    ]
    return (*rows, *((_short(one.file), one.why, None) for one in report.skipped))


def _repeated(file: FileReport) -> Iterable[tuple[str, int]]:
    if file.duplicates:
        yield "named a second time (--duplicates)", file.duplicates
    if file.superseded:
        yield "judged twice, the later one counts", file.superseded


def _choices(report: ImportReport) -> tuple[tuple[str, ...], ...]:
    made = [*report.choices, *(one for file in report.files for one in file.choices)]
    # the model is another one in nearly every file, and stands in the report
    rows = [_choice(one) for one in made if one.option != "--model"]
    return tuple(dict.fromkeys(rows))


def _choice(made: ChoiceMade) -> tuple[str, str, str]:
    return made.option, made.value, made.because if made.by_default else "as you asked"
