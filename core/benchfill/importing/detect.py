"""Which format a file is of, and by what that was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .interface import Recognised, ResultFormat
from .registry import all_formats, format_named
from .tabular import open_tabular

if TYPE_CHECKING:
    from .source import InputFile

_STRANGE = {
    "empty": "is empty",
    "binary": "is a binary file of no known kind",
    "zip": "is a ZIP file within a ZIP file",
}
_TABLES = {".csv", ".tsv"}


def recognise(file: InputFile, wanted: str | None) -> tuple[ResultFormat, Recognised] | None:
    """Return the format of a file and the reason; None if it is of none.

    Raises
    ------
    InputError
        The file cannot be read, or two formats of the same standing recognise it, or it is of
        another format than the one that is wanted.
    """
    if wanted is not None:
        one = format_named(wanted)
        found = one.recognise(file)
        if found is None and not one.generic:
            _refuse_other_format(file, one)
        return (one, found or Recognised(f"--format {wanted} was given"))
    hits = [(one, why) for one in all_formats().values() if (why := one.recognise(file))]
    if not hits:
        return None
    best = [hit for hit in hits if hit[0].generic == hits[0][0].generic]
    if len(best) > 1:
        raise file.error(
            f"could be of {' or '.join(one.name for one, _ in best)}; say which by --format."
        )
    return best[0]


def _refuse_other_format(file: InputFile, wanted: ResultFormat) -> None:
    """Refuse a file that is plainly of another format than the user says."""
    for one in all_formats().values():
        found = None if one.generic else one.recognise(file)
        if found is not None:
            raise file.error(
                f"is not of the format {wanted.name} but {one.name} ({found.reason}); leave out "
                "--format, or name that one."
            )


def unknown(file: InputFile) -> str:
    """Say why a file is of no format, so that the user can see what was looked at."""
    if file.kind in _STRANGE:
        return f"{_STRANGE[file.kind]}."
    first = file.shape[0] if isinstance(file.shape, list) and file.shape else file.shape
    if isinstance(first, dict):
        keys = ", ".join(repr(key[:30]) for key in list(first)[:6]) or "none"
        return f"is JSON of no known format (its keys: {keys})."
    if file.kind == "json":
        return "is JSON of no known format (a list without objects)."
    if file.path.suffix in {".json", ".jsonl", ".jsonlines", ".ndjson"}:
        return "is no JSON."
    table = open_tabular(file) if file.kind != "text" or file.path.suffix in _TABLES else None
    if table is not None and len(table.columns) > 2:
        names = ", ".join(repr(name[:30]) for name in table.columns[:6])
        return (
            f"is of no known format (its columns: {names}); if these hold model, item and score, "
            "say which: --format rows --columns model=...,item=...,correct=..."
        )
    return "is of no known format."
