"""The work of `benchfill diff`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.errors import InputError

from ..report.diff_page import diff_methods, diff_page
from ..report.result import print_result, write_result
from .version_sides import VersionPaths, compared, note_inputs

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.onepl import Engine

    from .output import CommandOutput


@dataclass(frozen=True)
class DiffOptions:
    """What the user asked for: two folders, or two pairs of files."""

    folders: tuple[Path | None, Path | None]
    pairs: tuple[tuple[Path, Path] | None, tuple[Path, Path] | None]
    engine: Engine
    seed: int
    out: Path | None


def run_diff(options: DiffOptions, output: CommandOutput) -> None:
    """Read, fit, compare, and write the report if a folder is given."""
    before, after = _versions(options)
    note_inputs(output, before, after)
    shown = compared(
        (before.read(), after.read()),
        (before.name, after.name),
        engine=options.engine,
        seed=options.seed,
    )
    output.result = shown.diff.model_dump(mode="json")
    page = diff_page(shown)
    if options.out is not None:
        envelope = output.envelope()
        write_result(options.out, envelope, output.document(), page, diff_methods(envelope, shown))
    output.summary = lambda console: print_result(console, page, options.out)


def _versions(options: DiffOptions) -> tuple[VersionPaths, VersionPaths]:
    (before, after), (items, responses) = options.folders, options.pairs
    if before is not None and after is not None and items is None and responses is None:
        return VersionPaths.of_folder(before), VersionPaths.of_folder(after)
    if before is None and items is not None and responses is not None:
        pairs = zip(items, responses, strict=True)
        first, second = (VersionPaths(one.stem, one, other) for one, other in pairs)
        return first, second
    raise InputError(
        "name two folders, A and B, or both --items A B and --responses A B.", field="diff"
    )
