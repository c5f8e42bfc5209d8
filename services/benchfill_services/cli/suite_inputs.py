"""Names and files that `benchfill suite` is given."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from benchfill.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDINGS = (".csv", ".tsv")
OPTION = "--responses"


def responses_by_name(given: Sequence[str]) -> dict[str, Path]:
    """Return a response file for each benchmark that is named, by NAME=FILE or by its file's name.

    Raises
    ------
        InputError: a folder without such files, or a benchmark with two.
    """
    found: dict[str, Path] = {}
    for one in given:
        name, named, rest = one.partition("=")
        if Path(one).is_dir():
            files = sorted(path for path in Path(one).iterdir() if path.suffix in ENDINGS)
            if not files:
                raise InputError("holds no CSV or TSV file.", source=one, field=OPTION)
            pairs = [(path.stem, path) for path in files]
        elif named and not Path(one).exists():
            pairs = [(name, Path(rest))]
        else:
            pairs = [(Path(one).stem, Path(one))]
        for benchmark, path in pairs:
            if benchmark in found:
                raise InputError(
                    f"benchmark {benchmark!r} has two files, {found[benchmark]} and {path}; give "
                    "it one.",
                    field=OPTION,
                )
            found[benchmark] = path
    return found


def named_columns(given: Sequence[str]) -> list[str]:
    """Split lists of columns at their commas; a name with a comma in it stands in quotes."""
    return [
        name.strip()
        for line in given
        for name in next(csv.reader([line], skipinitialspace=True), [])
        if name.strip()
    ]
